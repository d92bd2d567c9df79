"""Verdicts: the one place where a result is built, and compared with the expectation.

A judge calls ``proved``, ``holds``, ``refuted`` or ``inconclusive``; nothing else builds a
``Verdict`` (a lint test looks for it). A verdict over nothing (no states, no obligations, no executions)
cannot be built, and a bounded verdict cannot be built without saying its bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import TypedDict, Unpack

from pydantic import Field, model_validator

from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.counterexample import Counterexample, Frozen
from tidemark.checks.verdicts.exit_codes import ExitCode

WORK = ("distinct", "obligations", "executions", "examples", "events", "queries", "edges", "pins", "parts")
"""Counts that measure work done. A decided verdict has at least one of them, and none of them is zero."""

RUN_STEPS = "counterexample_steps"
"""A count of a refuted verdict of an exhaustive search: the steps of a shortest run. A lasso has none: it
need not be a shortest one.
"""

SECOND_OPINION = "second-opinion"
"""Claim id of a proof's comparison of two solvers: how often they agree is a count of the entry."""

UNPINNED = "unpinned"
"""A count of a refuted pin: nothing was compared, because nothing is pinned."""

NOT_GREEN = "the baseline is not green"
"""How the reason of a mutant begins that was not judged, because the protocol itself is not as claimed."""

COVERAGE = "coverage"
"""Property id of the vacuity verdict of a search: every action fired, every guard conjunct true once, ..."""


class Outcome(StrEnum):
    """What a judge can say."""

    PROVED = "proved"
    HOLDS = "holds"
    REFUTED = "refuted"
    INCONCLUSIVE = "inconclusive"


class Aspect(StrEnum):
    """What kind of question was answered; decides the exit code of an unexpected answer."""

    PROPERTY = "property"
    VACUITY = "vacuity"
    """Does the check look at anything? (coverage, witnesses, constant variables)"""
    PIN = "pin"
    """Is what was run the thing that the manifest pins? (ids, counts)"""
    MUTANT = "mutant"
    """Does the named property kill this mutant?"""
    SLIP = "slip"
    """Would the gate be red with this mutant of the implementation? The reason says which entry would be."""
    MEANING = "meaning"
    """Does a claim or a step say what is pinned?"""
    OBLIGATION = "obligation"
    """Does this one obligation of a proof fail, as it must? Says nothing about reachable states."""


class Subject(Frozen):
    """What was judged, by whom, and in which manifest entry."""

    protocol: str = Field(min_length=1)
    """Name of the protocol in the manifest, for example ``flush``."""
    property_id: str = Field(min_length=1)
    judge: str = Field(min_length=1)
    instance: str = Field(min_length=1)
    """Name of the manifest entry (instance, proof, program, mutant)."""
    aspect: Aspect = Aspect.PROPERTY

    @property
    def of_mutant(self) -> bool:
        """It says what became of a mutant."""
        return self.aspect in (Aspect.MUTANT, Aspect.SLIP)

    def text(self) -> str:
        """A short name which is unique within a run."""
        return f"{self.judge} {self.instance} {self.property_id}"


class Verdict(Frozen):
    """A judge's answer with its evidence. Use the four constructors of this module to build one.

    ``counts`` are exact and comparable (no times in them); ``rates`` hold what differs from run to run
    (states per second, bytes). ``bounds`` says in words over what a bounded verdict speaks.
    """

    subject: Subject
    outcome: Outcome
    counts: dict[str, int] = Field(default_factory=dict)
    bounds: str = ""
    reason: str = ""
    counterexample: Counterexample | None = None
    replay: str = ""
    """The command that reproduces this verdict."""
    notes: tuple[str, ...] = ()
    seconds: float = Field(default=0.0, ge=0.0)
    rates: dict[str, float] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _never_over_nothing(self) -> Verdict:
        negative = sorted(name for name, count in self.counts.items() if count < 0)
        if negative:
            raise ValueError(f"{self.subject.text()}: negative counts {negative}")
        if self.outcome is Outcome.INCONCLUSIVE:
            if not self.reason.strip():
                raise ValueError(f"{self.subject.text()}: an inconclusive verdict needs a reason")
            return self
        self._check_work()
        if self.outcome is Outcome.HOLDS and not self.bounds.strip():
            raise ValueError(f"{self.subject.text()}: 'holds' is bounded; say the bounds, or use proved()")
        if self.outcome is Outcome.REFUTED:
            self._check_refutation()
        return self

    def _check_work(self) -> None:
        work = {name: self.counts[name] for name in WORK if name in self.counts}
        empty = sorted(name for name, count in work.items() if count == 0)
        if not work or empty:
            what = f"{', '.join(empty)} = 0" if empty else f"none of {', '.join(WORK)} is given"
            raise ValueError(
                f"{self.subject.text()}: a verdict over nothing ({what}); return inconclusive(...) instead"
            )

    def _check_refutation(self) -> None:
        shown = self.counterexample is not None
        if self.subject.aspect in (Aspect.PROPERTY, Aspect.MUTANT, Aspect.OBLIGATION) and not shown:
            raise ValueError(f"{self.subject.text()}: a refuted property needs a counterexample")
        if not shown and not self.reason.strip():
            raise ValueError(f"{self.subject.text()}: a refutation without a counterexample needs a reason")
        if not self.replay.strip():
            raise ValueError(f"{self.subject.text()}: a refutation needs the command that replays it")


class Measured(TypedDict, total=False):
    """What each verdict may have."""

    seconds: float
    replay: str
    notes: tuple[str, ...]
    rates: dict[str, float]


class Searched(TypedDict):
    """What all verdicts on one search share."""

    counts: dict[str, int]
    bounds: str
    seconds: float
    replay: str


def proved(subject: Subject, *, counts: Mapping[str, int], **measured: Unpack[Measured]) -> Verdict:
    """True for every size. ``counts`` has the number of discharged obligations.

    Raises ValueError if nothing was discharged.
    """
    return Verdict(subject=subject, outcome=Outcome.PROVED, counts=dict(counts), **measured)


def holds(
    subject: Subject, *, counts: Mapping[str, int], bounds: str, **measured: Unpack[Measured]
) -> Verdict:
    """True within ``bounds``, which were searched completely (or sampled, which the bounds must then say).

    Raises ValueError if the bounds text or the work is empty.
    """
    return Verdict(subject=subject, outcome=Outcome.HOLDS, counts=dict(counts), bounds=bounds, **measured)


def refuted(
    subject: Subject,
    *,
    counts: Mapping[str, int],
    counterexample: Counterexample | None = None,
    reason: str = "",
    bounds: str = "",
    **measured: Unpack[Measured],
) -> Verdict:
    """False: the counterexample shows it. Vacuity, pins, meanings and slips may give a reason instead.

    Raises ValueError without a counterexample (or reason) or without a replay command.
    """
    return Verdict(
        subject=subject,
        outcome=Outcome.REFUTED,
        counts=dict(counts),
        bounds=bounds,
        reason=reason,
        counterexample=counterexample,
        **measured,
    )


def inconclusive(
    subject: Subject,
    *,
    reason: str,
    counts: Mapping[str, int] | None = None,
    bounds: str = "",
    counterexample: Counterexample | None = None,
    **measured: Unpack[Measured],
) -> Verdict:
    """No decision, for the stated reason: time-out, UNKNOWN, truncated search, failed worker, ..."""
    return Verdict(
        subject=subject,
        outcome=Outcome.INCONCLUSIVE,
        counts=dict(counts or {}),
        bounds=bounds,
        reason=reason,
        counterexample=counterexample,
        **measured,
    )


def amended(
    verdict: Verdict,
    *,
    subject: Subject | None = None,
    replay: str | None = None,
    seconds: float | None = None,
    bounds: str | None = None,
    counts: Mapping[str, int] | None = None,
    notes: tuple[str, ...] | None = None,
) -> Verdict:
    """The same outcome with some details filled in later, checked again like a new one."""
    changes = {
        "subject": subject,
        "replay": replay,
        "seconds": seconds,
        "bounds": bounds,
        "counts": counts,
        "notes": notes,
    }
    given = {name: value for name, value in changes.items() if value is not None}
    return Verdict.model_validate({**dict(verdict), **given})


class Judgement(Frozen):
    """A verdict beside the outcome that the manifest expects, compared exactly."""

    verdict: Verdict
    expected: Outcome
    taken_over: str = ""
    """When it was judged, if that was in an earlier run and nothing has changed since; ISO 8601, UTC."""

    @property
    def cascade(self) -> str:
        """The other failure that is the cause of this one; empty if it has none."""
        return self.verdict.reason if self.verdict.reason.startswith(NOT_GREEN) else ""

    @property
    def ok(self) -> bool:
        """True only if the outcome is exactly the expected one."""
        return self.verdict.outcome is self.expected and self.expected is not Outcome.INCONCLUSIVE

    @property
    def replay(self) -> str:
        """The command that reproduces it: the judge's own, or else the check run alone."""
        subject = self.verdict.subject
        return self.verdict.replay or check_command(subject.judge, subject.instance)

    @property
    def exit_code(self) -> ExitCode:
        """The class of this result alone."""
        outcome, aspect = self.verdict.outcome, self.verdict.subject.aspect
        if self.ok:
            return ExitCode.AS_EXPECTED
        if outcome is Outcome.INCONCLUSIVE:
            return ExitCode.INCONCLUSIVE
        if aspect in (Aspect.VACUITY, Aspect.PIN, Aspect.MEANING):
            return ExitCode.VACUOUS_OR_UNPINNED
        if outcome is Outcome.REFUTED:
            return ExitCode.UNEXPECTED_REFUTATION
        if self.expected is Outcome.REFUTED:
            return ExitCode.MISSING_REFUTATION
        # Both positive, of different strength: bounded where a proof is due, or a proof not asked for.
        return ExitCode.INCONCLUSIVE if outcome is Outcome.HOLDS else ExitCode.VACUOUS_OR_UNPINNED


def judge(verdict: Verdict, *, expected: Outcome) -> Judgement:
    """Set ``verdict`` beside what the manifest expects.

    Raises ValueError if ``expected`` is ``inconclusive``: not knowing is never what one wants.
    """
    if expected is Outcome.INCONCLUSIVE:
        raise ValueError(f"{verdict.subject.text()}: 'inconclusive' is not an expectation")
    return Judgement(verdict=verdict, expected=expected)
