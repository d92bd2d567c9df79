"""Which judge runs on which manifest entry: the tasks of a run, in order."""

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
    manifests: Sequence[Manifest], *, tier: Tier, only: Sequence[str] = (), judge: str | None = None
) -> list[Task]:
    """The tasks of a tier (``full`` contains ``fast``) which match.

    ``only``: names of tasks or entries, parts of names, or patterns with ``*``, of which one must match;
    ``judge`` restricts to one judge.
    Raises BadInputError if nothing is left, or nothing of one pattern: a run over nothing must not be green.
    """
    assert not isinstance(only, str)  # its letters would be patterns
    every = list(all_tasks(manifests))
    known = [task for task in every if judge is None or task.judge == judge]
    due = [task for task in known if tier is Tier.FULL or task.entry.tier is Tier.FAST]
    if only:
        chosen = set[str]().union(*(_named(pattern, known, due, every) for pattern in only))
        return [task for task in due if task.name in chosen]
    if not due:
        what = f"the judge {judge!r}" if judge else f"the tier {tier.value!r}"
        raise BadInputError(f"there is nothing to do for {what}", remedy="add an entry to the manifest")
    return due


def _named(pattern: str, known: Sequence[Task], due: Sequence[Task], every: Sequence[Task]) -> set[str]:
    """The names of the tasks that match and are ``due``. Raises BadInputError if there is none."""
    if not pattern.strip():
        raise BadInputError("--only is empty", remedy="name checks, or leave the option out")
    exact = any(pattern in (task.name, task.entry.name) for task in known)
    matching = {task.name for task in known if _matches(pattern, task.name, exact=exact)}
    chosen = matching & {task.name for task in due}
    if chosen:
        return chosen
    if matching:
        raise BadInputError(
            f"{pattern!r} matches only checks of the tier 'full'", remedy="add --tier full to run them"
        )
    others = [task.name for task in every if task.entry.name == pattern]
    if others:
        raise BadInputError(
            f"this judge has nothing to do with {pattern!r}",
            remedy=f"run  tidemark verify --only {others[0]}  over the same manifest, or name the judge in "
            "the entry's `engines`",
        )
    names = [task.name for task in known]
    raise BadInputError(
        f"no check matches {pattern!r}", remedy=known_names(pattern, names, lists="tidemark show")
    )


def _matches(pattern: str, name: str, *, exact: bool) -> bool:
    """A whole name does not match the longer names that it is a part of."""
    entry = name.partition("/")[2]
    if exact:
        return pattern in (name, entry)
    if "*" in pattern:
        return fnmatchcase(name, pattern) or fnmatchcase(entry, pattern)
    return pattern in name
