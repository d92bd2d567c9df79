"""The result of a run: judgements, tasks that could not be judged, and the exit code of it all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import cached_property

from pydantic import Field

from tidemark.checks.verdicts.counterexample import Frozen
from tidemark.checks.verdicts.exit_codes import ExitCode, most_severe
from tidemark.checks.verdicts.verdict import Aspect, Judgement, Outcome, Subject, amended
from tidemark.models.sources import entries_of


class Unjudged(Frozen):
    """A task that ended without verdicts: a missing tool, bad input found late, an internal error."""

    task: str
    exit_code: ExitCode
    message: str
    remedy: str
    replay: str


class TaskResult(Frozen):
    """All that one task gave: judgements, or why there are none."""

    task: str
    """``judge/entry``."""
    judgements: tuple[Judgement, ...] = ()
    unjudged: Unjudged | None = None
    seconds: float = 0.0
    """Wall time."""
    processor_seconds: float = 0.0
    """Processor time of the process that judged it and of all that it started."""
    unpinned: str = ""
    """What would be pinned of its entry, which a new manifest has; see ``checks.gate.pins``."""


class SourceNote(Frozen):
    """Where a property or a mutant comes from, as its author says, and where that can be looked up."""

    text: str = Field(min_length=1)
    links: tuple[str, ...] = ()
    """``docs/sources.md#hazard-22``; empty for a protocol from outside the repository."""

    def line(self, name: str) -> str:
        """The source of the property or mutant ``name`` in a line of text, with the links in parentheses."""
        return f"source of {name}: {self.text}" + (f" ({', '.join(self.links)})" if self.links else "")


def source_note(text: str, *, protocol: str) -> SourceNote:
    """The note of a ``source`` text of ``protocol`` (``module:Class``)."""
    return SourceNote(text=text, links=tuple(entry.link for entry in entries_of(text, protocol=protocol)))


class RunResult(Frozen):
    """All that a run found out."""

    tier: str
    seed: int
    judgements: tuple[Judgement, ...] = ()
    unjudged: tuple[Unjudged, ...] = ()
    planned: int = Field(ge=0)
    """Number of tasks that the run was to do."""
    done: int = Field(ge=0)
    stopped: bool = False
    descriptions: dict[str, str] = Field(default_factory=dict)
    """Property id -> what it says in words."""
    kinds: dict[str, str] = Field(default_factory=dict)
    """Property id -> kind of property (``invariant``, ``leads_to``, ...)."""
    frames: tuple[str, ...] = ()
    """The ids that are frame conditions: they are judged, and do not count as properties."""
    sources: dict[str, SourceNote] = Field(default_factory=dict)
    """Property id, or name of a mutant -> where it comes from. Those that do not say it are missing."""
    places: dict[str, str] = Field(default_factory=dict)
    """Property id -> ``path:line`` of the text that declares it."""
    remarks: tuple[str, ...] = ()
    """What the user has to know about the run beside the verdicts."""
    seconds: float = 0.0
    task_seconds: dict[str, float] = Field(default_factory=dict)
    """Wall time by task name (``judge/entry``)."""
    processor_seconds: float = 0.0
    """Processor time of the run, in all its processes."""

    @property
    def exit_code(self) -> ExitCode:
        """The most severe class of all parts; a run in which nothing was judged is never green."""
        codes = [judgement.exit_code for judgement in self.judgements]
        codes += [unjudged.exit_code for unjudged in self.unjudged]
        if self.stopped:
            codes.append(ExitCode.STOPPED)
        elif self.done < self.planned:
            codes.append(ExitCode.INTERNAL_ERROR)
        return most_severe(codes)

    def sources_of(self, subject: Subject) -> dict[str, SourceNote]:
        """Where the mutant that was judged comes from, and where the property, by their names."""
        names = (subject.instance, subject.property_id)
        return {name: self.sources[name] for name in names if name in self.sources}

    def source_lines(self, subject: Subject) -> list[str]:
        """The same in lines of text."""
        return [note.line(name) for name, note in self.sources_of(subject).items()]

    def with_commands(self, complete: Callable[[str], str]) -> RunResult:
        """The same result with each printed command passed through ``complete``."""
        judgements = tuple(_with_command(one, complete(one.replay)) for one in self.judgements)
        unjudged = tuple(one.model_copy(update={"replay": complete(one.replay)}) for one in self.unjudged)
        return self.model_copy(update={"judgements": judgements, "unjudged": unjudged})

    def slowest(self) -> list[tuple[str, float]]:
        """The five tasks that took longest, with their wall time in seconds."""
        return sorted(self.task_seconds.items(), key=lambda item: (-item[1], item[0]))[:5]

    @property
    def failures(self) -> list[Judgement]:
        """The judgements that are not as expected, the most telling first: runs that break claims about data,
        then frame conditions, then the rest, then pins.
        """
        return sorted((judgement for judgement in self.judgements if not judgement.ok), key=self._rank)

    def _rank(self, failure: Judgement) -> int:
        """How much a failure tells: a run of the implementation, one of the specification, ..., a count."""
        verdict = failure.verdict
        if verdict.subject.aspect is Aspect.PIN:
            return 8
        if failure.cascade:
            return 9
        if verdict.subject.property_id in self.frames:
            return 2
        if verdict.outcome is Outcome.INCONCLUSIVE:
            return 6 if verdict.counterexample is None else 5
        if failure.expected is Outcome.REFUTED:
            return 4  # a mutant survived
        if verdict.counterexample is None:
            return 3
        return 1 if verdict.counterexample.model is not None else 0

    @cached_property
    def taken_over(self) -> dict[str, str]:
        """The tasks (``judge/entry``) that were not judged again, each with the time when it was judged."""
        subjects = [(one.verdict.subject, one.taken_over) for one in self.judgements if one.taken_over]
        return {f"{subject.judge}/{subject.instance}": when for subject, when in subjects}

    def taken_over_line(self) -> str:
        """How many checks were not judged again; empty if all were."""
        number = len(self.taken_over)
        return f"{number} of {self.done} checks are taken over: nothing they depend on has changed" * bool(
            number
        )

    def mutants(self) -> tuple[int, int]:
        """Mutants that were noticed as they must be, and those that must be."""
        due = [j for j in self.judgements if j.verdict.subject.of_mutant and j.expected.value == "refuted"]
        return sum(j.ok for j in due), len(due)

    def _meanings(self) -> str:
        """How many claims, steps and variants are as their pins say; empty if none were compared."""
        compared = [
            j.verdict.counts["pins"]
            for j in self.judgements
            if j.verdict.subject.aspect is Aspect.MEANING and j.expected is Outcome.HOLDS
        ]
        return f", {sum(compared)} claims and steps read as they did when locked" * bool(compared)

    def summary(self) -> str:
        """The result in one sentence."""
        pins = (Aspect.PIN, Aspect.MEANING)
        every = [j for j in self.judgements if j.verdict.subject.aspect not in pins]
        claims = [j for j in every if j.verdict.subject.property_id not in self.frames]
        bad = len(self.failures) + len(self.unjudged)
        killed, due = self.mutants()
        dead = f", {killed} of {due} planted faults found" if due else ""
        if self.stopped:
            return f"Stopped after {self.done} of {self.planned} checks; nothing is said about the others."
        if self.exit_code is ExitCode.AS_EXPECTED:
            what = f"{len(claims)} verdicts of {self.done} checks" if claims else f"{self.done} checks"
            beside = len(every) - len(claims)
            frames = f", and so are {beside} that repeat a step's own rule" if beside else ""
            return f"All {what} are as expected{frames}{dead}{self._meanings()}."
        of = len(self.judgements) + len(self.unjudged)
        return f"NOT as expected: {bad} of {of} results{dead}.{self._which()}"

    def _which(self) -> str:
        """Which of the failures say something about data, and which do not."""
        kinds = Counter(self._kind(one) for one in self.failures)
        if not set(kinds) - {_DATA}:
            return ""
        judged = any(self._kind(one) == _DATA for one in self.judgements)
        safe = " All claims about data that were judged are as expected." * (judged and not kinds[_DATA])
        return f"{safe} Not so: {', '.join(f'{kind} {number}' for kind, number in kinds.items())}."

    def _kind(self, one: Judgement) -> str:
        """Whether it is about data; what it is else."""
        subject = one.verdict.subject
        if subject.property_id in self.frames:
            return "frame conditions (a step's own rule, restated)"
        if one.cascade:
            return "mutants not judged for that"
        if subject.aspect is Aspect.PROPERTY:
            return _DATA
        return "mutants" if subject.of_mutant else "coverage, counts and pins"


_DATA = "claims"


def _with_command(judgement: Judgement, command: str) -> Judgement:
    """The same with another printed command; nothing is checked again if it is the same."""
    if command == judgement.verdict.replay:
        return judgement
    return judgement.model_copy(update={"verdict": amended(judgement.verdict, replay=command)})
