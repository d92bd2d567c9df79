"""The entries that try mutants of the implementation, and what one of them says without a counterexample
being made short: that is for the reader of one verdict, and costs more than all the rest here.
"""

import traceback
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from pathlib import Path

from tidemark.checks.conform.judge import CLAIM, Drive
from tidemark.checks.conform.walks import Walks
from tidemark.checks.gate.pins import judgements
from tidemark.checks.gate.registry import registry
from tidemark.checks.interleave.judge import REFINEMENT, interleave, options_of, verdicts_of
from tidemark.checks.interleave.limits import ExecutionLimits
from tidemark.checks.mutation.implementation.unit_tests import UnitTests
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import BadInputError, CheckError, known_names
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.plan import Task, judges_of
from tidemark.checks.verdicts.progress import silent
from tidemark.checks.verdicts.verdict import Verdict
from tidemark.models.manifest import ConformEntry, InterleaveEntry, Manifest, load, manifest_files
from tidemark.models.rooms import ROOT
from tidemark.spec.language.errors import SpecError

CLOSED_WORLD = "closed-world"
"""Kind of violation that says that the program cannot be explored, which is no refutation."""
_TIMES = 3
"""How many times the pinned number of executions a mutant may take before its count counts as changed."""
FEW = 8
"""Examples of a driver: the examples that refute are mostly among the first, and all of them take long."""
_OF_THE_IMPLEMENTATION = (str(ROOT / "impl"), str(ROOT / "models" / "protocols"))
"""Where an error is raised by the implementation, or by what reads its state."""


class Kind(StrEnum):
    """What a host can say."""

    SAME = "same"
    """All verdicts and counts are those that the manifest pins."""
    CLAIM = "claim"
    COUNT = "count"
    ERROR = "error"


@dataclass(frozen=True)
class Answer:
    """What one host says. ``claim`` is refuted; ``words`` say what was seen."""

    kind: Kind
    claim: str = ""
    words: str = ""


@dataclass(frozen=True)
class Host:
    """An entry that runs the implementation, and the manifest that it belongs to."""

    manifest: Manifest
    entry: InterleaveEntry | ConformEntry

    @property
    def name(self) -> str:
        """The name of the entry."""
        return self.entry.name

    @property
    def task(self) -> Task:
        """The same as a task of the gate."""
        return Task(self.manifest, self.entry, self.judge)

    @property
    def judge(self) -> str:
        """The judge of the entry."""
        (judge,) = judges_of(self.entry)
        return judge

    @property
    def replay(self) -> str:
        """The command that runs it with the code as it is written."""
        return check_command(self.judge, self.name)


AnyHost = Host | UnitTests


@cache
def _repository() -> Mapping[Path, Manifest]:
    return {path: load(path) for path in manifest_files()}


def hosts_of(names: Sequence[str], own: Manifest) -> list[Host]:
    """The entries of these names, in order: of the manifest itself, else of the repository's others.

    Raises BadInputError for a name that no program and no driver has.
    """
    known = {host.name: host for host in _hosts([*_repository().values(), own])}
    wrong = [name for name in names if name not in known]
    if wrong:
        raise BadInputError(
            f"{wrong[0]!r} is no entry that runs the implementation", remedy=known_names(wrong[0], known)
        )
    return [known[name] for name in names]


def _hosts(manifests: Iterable[Manifest]) -> Iterable[Host]:
    for manifest in manifests:
        entries: tuple[InterleaveEntry | ConformEntry, ...] = (*manifest.interleave, *manifest.conform)
        for entry in entries:
            yield Host(manifest, entry)


def ask(host: AnyHost, *, seed: int = 0) -> Answer:
    """Run the host with the code that is loaded now.

    Of a driver the first examples are run, which can refute and say nothing else.

    Raises whatever is neither the implementation's nor a judge's: a fault of the suite.
    """
    if isinstance(host, UnitTests):
        failed = host.failed()
        return Answer(Kind.CLAIM, failed, "the test fails") if failed else Answer(Kind.SAME)
    context = Context(manifest=host.manifest, progress=silent, seed=seed, workers=1)
    try:
        if isinstance(host.entry, InterleaveEntry):
            return _interleaved(host, host.entry, context)
        few = host.entry.model_copy(update={"examples": min(host.entry.examples, FEW)})
        if few.program is not None:
            walks = Walks(few, context.seed)
            walks.run()
            violation = walks.violation()
            if violation is None:
                return Answer(Kind.SAME)
            if violation.kind == CLOSED_WORLD:
                return Answer(Kind.COUNT, words=f"inconclusive: {violation.message}")
            return Answer(Kind.CLAIM, CLAIM, violation.message)
        failing = Drive.of(few, context).failing()
        return Answer(Kind.SAME) if failing is None else Answer(Kind.CLAIM, CLAIM, str(failing.mismatch))
    except (CheckError, SpecError) as error:
        return Answer(Kind.ERROR, words=f"{type(error).__name__}: {error}")
    except Exception as error:
        if not _is_of_the_implementation(error):
            raise
        return Answer(Kind.ERROR, words=f"{type(error).__name__}: {error}")


def _is_of_the_implementation(error: Exception) -> bool:
    """Some line of the implementation, or of its adapters, was running."""
    frames = traceback.extract_tb(error.__traceback__)
    return any(frame.filename.startswith(_OF_THE_IMPLEMENTATION) for frame in frames)


def _interleaved(host: Host, entry: InterleaveEntry, context: Context) -> Answer:
    pinned = sum(entry.counts.get(name, 0) for name in ("executions", "blocked", "merged"))
    limit = min(entry.limit, _TIMES * pinned + 100)
    options = replace(
        options_of(entry),
        limits=ExecutionLimits(executions=limit),
        stop_at_violation=True,
        audit=0,
        check_every=0,
    )
    result = interleave(entry.model_copy(update={"distributed": False}), progress=silent, options=options)
    if result.violations:
        violation = result.first().violation
        claims = (violation.claim, REFINEMENT)
        named = violation.kind != CLOSED_WORLD
        claim = next((one for one in claims if named and one in entry.claims), None)
        if claim is None:
            return Answer(Kind.COUNT, words=f"inconclusive: {violation.message}")
        return Answer(Kind.CLAIM, claim, violation.message)
    if result.reason:
        return Answer(Kind.COUNT, words=f"inconclusive: {result.reason}")
    return _compared(host, verdicts_of(entry, context, result))


def _compared(host: Host, verdicts: Sequence[Verdict]) -> Answer:
    """No claim is refuted: is everything as it is pinned?"""
    task = host.task
    found = judgements(task, registry()[task.judge], verdicts)
    odd = [one.verdict for one in found if not one.ok]
    if not odd:
        return Answer(Kind.SAME)
    words = "; ".join(f"{one.subject.property_id}: {one.reason or one.outcome.value}" for one in odd)
    return Answer(Kind.COUNT, words=words)
