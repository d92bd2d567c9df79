"""Which judge runs on which manifest entry: the tasks of a run, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.models.manifest import (
    AnyEntry,
    ArgumentEntry,
    ConformEntry,
    FramesEntry,
    InstanceEntry,
    InterleaveEntry,
    Manifest,
    PinsEntry,
    ProofEntry,
    StrengthEntry,
    Tier,
)


@dataclass(frozen=True)
class Task:
    """One judge on one entry of one manifest."""

    manifest: Manifest
    entry: AnyEntry
    judge: str

    @property
    def name(self) -> str:
        """``judge/entry``, unique within a run; what ``--only`` is compared with."""
        return f"{self.judge}/{self.entry.name}"

    @property
    def command(self) -> str:
        """The command that runs this task alone."""
        return check_command(self.judge, self.entry.name)


def judges_of(entry: AnyEntry) -> tuple[str, ...]:
    """Names of the judges that an entry asks for."""
    if isinstance(entry, InstanceEntry):
        return tuple(engine.value for engine in entry.engines)
    if isinstance(entry, ProofEntry):
        return ("prove",)
    if isinstance(entry, InterleaveEntry):
        return ("interleave",)
    if isinstance(entry, ArgumentEntry):
        return ("argue",)
    if isinstance(entry, PinsEntry | FramesEntry | StrengthEntry):
        return (entry.section,)
    return ("conform",) if isinstance(entry, ConformEntry) else ("mutate",)


def all_tasks(manifests: Iterable[Manifest]) -> Iterator[Task]:
    """Every task of the manifests."""
    for manifest in manifests:
        for entry in manifest.entries():
            for judge in judges_of(entry):
                yield Task(manifest, entry, judge)


def plan(
    manifests: Sequence[Manifest], *, tier: Tier, only: str | None = None, judge: str | None = None
) -> list[Task]:
    """The tasks of a tier (``full`` contains ``fast``) which match.

    ``only`` is the name of a task or entry, a part of one, or a pattern with ``*``; ``judge`` restricts to
    one judge.
    Raises BadInputError if nothing is left: a run over nothing must not be green.
    """
    if only is not None and not only.strip():
        raise BadInputError("--only is empty", remedy="name checks, or leave the option out")
    known = [task for task in all_tasks(manifests) if judge is None or task.judge == judge]
    exact = only is not None and any(only in (task.name, task.entry.name) for task in known)
    chosen = [
        task
        for task in known
        if (tier is Tier.FULL or task.entry.tier is Tier.FAST)
        and (only is None or _matches(only, task.name, exact=exact))
    ]
    if chosen:
        return chosen
    names = [task.name for task in known]
    if only is not None and any(_matches(only, name, exact=exact) for name in names):
        raise BadInputError(
            f"{only!r} matches only checks of the tier 'full'", remedy="add --tier full to run them"
        )
    if only is None:
        what = f"the judge {judge!r}" if judge else f"the tier {tier.value!r}"
        raise BadInputError(f"there is nothing to do for {what}", remedy="add an entry to the manifest")
    listed = "" if len(names) < 20 else "; `tidemark show` lists all"
    raise BadInputError(f"no check matches {only!r}", remedy=known_names(only, names) + listed)


def _matches(pattern: str, name: str, *, exact: bool) -> bool:
    """A whole name does not match the longer names that it is a part of."""
    entry = name.partition("/")[2]
    if exact:
        return pattern in (name, entry)
    if "*" in pattern:
        return fnmatchcase(name, pattern) or fnmatchcase(entry, pattern)
    return pattern in name
