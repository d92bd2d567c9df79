"""The counts of a manifest: judged anew, and written where every verdict of the entry is the expected one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidemark.checks.gate.pins import COUNTS, OF_TWO_SOLVERS, is_counted, seen_counts
from tidemark.checks.gate.plan import Task, judges_of
from tidemark.checks.report.forms.bundle import headline
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import RUN_STEPS, Judgement, Outcome
from tidemark.models.manifest import (
    InstanceEntry,
    InterleaveEntry,
    ManifestError,
    ProofEntry,
)
from tidemark.models.manifest.edit import has_entry, with_counts

Counted = InstanceEntry | ProofEntry | InterleaveEntry
"""Entries whose counts are pinned by hand or by ``tidemark pin``."""

USUAL = {
    "instance": ("distinct", "generated", "depth", RUN_STEPS),
    "proof": ("obligations", "implied", *OF_TWO_SOLVERS),
    "interleave": ("executions", "blocked", "merged", "steps", "final_states", "final_states_crc32"),
}
"""The counts that are written for an entry without any, by its section."""


@dataclass(frozen=True)
class Pinned:
    """What became of the counts of one entry: the lines that say so, and the counts to write, if any."""

    lines: tuple[str, ...]
    counts: dict[str, int] | None = None
    refused: bool = False
    """The entry is not as expected, so that none of its counts is written."""


def counted(tasks: Sequence[Task], *, change: bool) -> list[Task]:
    """The tasks whose entries have no counts; with ``change`` those that have some too."""
    return [task for task in tasks if isinstance(task.entry, Counted) and (change or not task.entry.counts)]


def pinned(entry: Counted, result: RunResult) -> Pinned:
    """What the verdicts of a run say about the counts of an entry.

    Nothing is pinned if a verdict is not the expected one, is inconclusive, or is missing.
    """
    where = f"{entry.section} {entry.name}"
    own = [one for one in result.judgements if one.verdict.subject.instance == entry.name]
    own = [one for one in own if one.verdict.subject.property_id != COUNTS]
    wrong = [*_lost(entry, result), *(headline(one.verdict) for one in own if not _sound(one))]
    if wrong or not own:
        why = wrong[0] if wrong else "it was not judged"
        return Pinned((f"{where}: not pinned: {why}",), refused=True)
    seen, differing = _of_all_judges(own)
    if entry.counts:
        return _compared(where, entry.counts, seen, differing)
    names = [name for name in USUAL[entry.section] if name in seen] or list(seen)
    if not names:
        return Pinned((f"{where}: not pinned: no count is the same for all its verdicts",), refused=True)
    new = {name: seen[name] for name in names}
    return Pinned((f"{where}: pinned {', '.join(f'{name} = {n:,}' for name, n in new.items())}",), new)


def write_counts(manifest: Path, entry: Counted, counts: dict[str, int]) -> Path:
    """Write the counts into the file that has the entry; its path. Raises ManifestError, OSError."""
    for path in (manifest, *sorted(manifest.with_suffix("").glob("*.toml"))):
        text = path.read_text(encoding="utf-8")
        if has_entry(text, section=entry.section, name=entry.name):
            new = with_counts(text, section=entry.section, name=entry.name, counts=counts, file=path.name)
            path.write_text(new, encoding="utf-8")
            return path
    raise ManifestError(
        f"no file has the entry {entry.name!r}", file=manifest.name, remedy="write its counts by hand"
    )


def _compared(where: str, old: dict[str, int], seen: dict[str, int], differing: Sequence[str]) -> Pinned:
    lost = [name for name in old if name not in seen]
    added = [name for name in ("implied", RUN_STEPS, *OF_TWO_SOLVERS) if name in seen and name not in old]
    if lost:
        why = "differs between its engines" if lost[0] in differing else "is not reported"
        return Pinned((f"{where}: not pinned: {lost[0]} {why}",), refused=True)
    changed = [*(name for name in old if old[name] != seen[name]), *added]
    if not changed:
        return Pinned((f"{where}: counts as before",))
    lines = tuple(f"{where}: {name}: {_number(old.get(name))} -> {seen[name]:,}" for name in changed)
    return Pinned(lines, {name: seen[name] for name in (*old, *added)})


def _number(count: int | None) -> str:
    return "none" if count is None else f"{count:,}"


def _sound(one: Judgement) -> bool:
    return one.ok and one.verdict.outcome is not Outcome.INCONCLUSIVE


def _lost(entry: Counted, result: RunResult) -> Iterator[str]:
    for one in result.unjudged:
        if one.task.partition("/")[2] == entry.name:
            yield f"{one.task} was not judged: {one.message}"
    done = {
        one.verdict.subject.judge for one in result.judgements if one.verdict.subject.instance == entry.name
    }
    yield from (f"{judge}/{entry.name} was not judged" for judge in judges_of(entry) if judge not in done)


def _of_all_judges(own: Sequence[Judgement]) -> tuple[dict[str, int], list[str]]:
    """The counts on which all judges that report them agree, and the names of the others."""
    verdicts = [one.verdict for one in own if is_counted(one.verdict)]
    by_judge = [
        seen_counts([one for one in verdicts if one.subject.judge == judge])
        for judge in dict.fromkeys(one.subject.judge for one in verdicts)
    ]
    common = [name for name in by_judge[0] if all(name in counts for counts in by_judge)]
    same = {name: by_judge[0][name] for name in common if len({counts[name] for counts in by_judge}) == 1}
    return same, [name for name in common if name not in same]
