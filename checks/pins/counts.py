"""What the lock of verdicts says of an entry: judged anew, and locked if every verdict is as expected."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from tidemark.checks.gate.pins import COUNTS, OF_TWO_SOLVERS, USUAL, is_counted, seen_counts
from tidemark.checks.report.forms.bundle import headline
from tidemark.checks.verdicts.plan import Task, judges_of
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import COVERAGE, RUN_STEPS, Aspect, Judgement, Outcome, Verdict
from tidemark.models.manifest import InstanceEntry, InterleaveEntry, Kind, Manifest, ProofEntry
from tidemark.models.manifest.reduction import Reduction
from tidemark.models.manifest.verdicts_lock import LOCKED, Locked
from tidemark.models.refinement.program import REFINEMENT

Counted = InstanceEntry | ProofEntry | InterleaveEntry
"""Entries whose counts are pinned by hand or by ``tidemark pin``."""

MERGED_ON_SPARK = ("declared_states", "final_states", "final_states_crc32")
"""Those that do not depend on how the tree is cut into tasks, where equal states are merged."""


@dataclass(frozen=True)
class Pinned:
    """What became of one entry: the lines that say so, and what to lock of it, if anything."""

    lines: tuple[str, ...]
    locked: Locked | None = None
    refused: bool = False
    """The entry is not as expected, so that nothing of it is locked."""


def counted(tasks: Sequence[Task], *, change: bool) -> list[Task]:
    """The tasks whose entries have no counts; with ``change`` the others too, as if they had none.

    Of instances and programs each witness is looked for.
    """
    return [
        replace(
            task, entry=_open(task.entry, witnesses(task.manifest)), manifest=task.manifest.to_be_pinned()
        )
        for task in tasks
        if isinstance(task.entry, Counted) and (change or not task.entry.counts)
    ]


def witnesses(manifest: Manifest) -> frozenset[str]:
    """The ids of the witnesses of a protocol."""
    return frozenset(manifest.properties.get(Kind.REACHABLE, ()))


def _open(entry: Counted, known: Collection[str]) -> Counted:
    """The entry without what its lock says, in which all witnesses are judged."""
    if isinstance(entry, InstanceEntry):
        skip = {claim: why for claim, why in entry.skip.items() if why != LOCKED}
        return entry.model_copy(update={"counts": {}, "vacuous": {}, "skip": skip})
    if isinstance(entry, InterleaveEntry):
        more = sorted(known) if REFINEMENT in entry.claims else ()
        claims = tuple(dict.fromkeys((*entry.claims, *more)))
        return entry.model_copy(update={"counts": {}, "vacuous": {}, "claims": claims})
    return entry


def pinned(entry: Counted, result: RunResult, *, before: Locked, known: Collection[str] = ()) -> Pinned:
    """What the verdicts of a run say about an entry. ``before``: what is locked of it; ``known``: witnesses.

    Nothing is locked if a verdict is not the expected one, is inconclusive, or is missing.
    """
    where = f"{entry.section} {entry.name}"
    own = [one for one in result.judgements if one.verdict.subject.instance == entry.name]
    own = [one for one in own if one.verdict.subject.property_id != COUNTS]
    vacuity = [one for one in own if _is_of_coverage(one.verdict)]
    own = [one for one in own if not _is_of_coverage(one.verdict)]
    seen_at = {one.verdict.subject.property_id: one.verdict.outcome for one in own}
    unreached = [
        claim
        for claim in known
        if seen_at.get(claim) is Outcome.REFUTED and claim not in entry.expect.refuted
    ]
    own = [one for one in own if one.verdict.subject.property_id not in unreached]
    bad = [one.verdict for one in own if not one.ok or one.verdict.outcome is Outcome.INCONCLUSIVE]
    wrong = [*_lost(entry, result), *map(headline, bad)]
    if wrong or not own:
        why = wrong[0] if wrong else "it was not judged"
        return Pinned((f"{where}: not pinned: {why}",), refused=True)
    seen, differing = _of_all_judges(own)
    stated = {name: count for name, count in entry.counts.items() if name not in before.counts}
    names = [*before.counts, *_added(before.counts, seen)] if before.counts else _usual(entry, seen)
    for name in (*stated, *names):
        why = "differs between its engines" if name in differing else "is not reported"
        if name not in seen:
            return Pinned((f"{where}: not pinned: {name} {why}",), refused=True)
        if stated.get(name, seen[name]) != seen[name]:
            why = f"{name} = {stated[name]:,} is stated in the manifest, and {seen[name]:,} was seen"
            return Pinned((f"{where}: not pinned: {why}",), refused=True)
    if not (names or stated):
        return Pinned((f"{where}: not pinned: no count is the same for all its verdicts",), refused=True)
    counts = {name: seen[name] for name in names if name not in stated}
    if isinstance(entry, InterleaveEntry):
        listed = [*(Counter(entry.claims) - Counter(before.reached))]  # by the manifest itself
        found = {claim for claim in known if seen_at.get(claim) is Outcome.HOLDS}
        reached = tuple(sorted(found.difference(listed)))
        now = Locked(counts, tuple(_idle(vacuity)), reached)
    else:
        now = Locked(counts, (*_idle(vacuity), *sorted(unreached)))
    return Pinned(tuple(_differences(where, before, now)), now)


def _is_of_coverage(verdict: Verdict) -> bool:
    """Is it about what is exercised? A witness is a claim."""
    subject = verdict.subject
    return subject.aspect is Aspect.VACUITY and subject.property_id.startswith((COVERAGE, "vacuity."))


def _usual(entry: Counted, seen: Mapping[str, int]) -> list[str]:
    """The counts that are locked of an entry of which none are."""
    usual = USUAL[entry.section]
    if isinstance(entry, InterleaveEntry) and entry.on_spark and entry.reduction is Reduction.STATES:
        usual = MERGED_ON_SPARK
    return [name for name in usual if name in seen] or list(seen)


def _added(old: Mapping[str, int], seen: Mapping[str, int]) -> list[str]:
    return [name for name in ("implied", RUN_STEPS, *OF_TWO_SOLVERS) if name in seen and name not in old]


def _idle(vacuity: Sequence[Judgement]) -> list[str]:
    refuted = (one.verdict for one in vacuity if one.verdict.outcome is Outcome.REFUTED)
    found = (verdict.subject.property_id for verdict in refuted)
    return list(dict.fromkeys(name for name in found if name != COVERAGE))


def _differences(where: str, before: Locked, now: Locked) -> Iterator[str]:
    """What changed, in words."""
    if not before.counts:
        yield f"{where}: pinned {', '.join(f'{name} = {n:,}' for name, n in now.counts.items())}"
    elif before == now:
        yield f"{where}: counts as before"
    else:
        for name, count in now.counts.items():
            if (old := before.counts.get(name)) != count:
                yield f"{where}: {name}: {'none' if old is None else f'{old:,}'} -> {count:,}"
    yield from (f"{where}: does not exercise {one}" for one in now.vacuous if one not in before.vacuous)
    yield from (f"{where}: exercises {one} now" for one in before.vacuous if one not in now.vacuous)
    yield from (f"{where}: reaches {one} now" for one in now.reached if one not in before.reached)
    yield from (f"{where}: does not reach {one}" for one in before.reached if one not in now.reached)


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
