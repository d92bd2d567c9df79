"""The judge ``conform``: it finds planted bugs, shortens what it finds, and says what it has not tried."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from tests.checks.gate.toy import REFERENCE, data
from tidemark.checks.conform.judge import JUDGE, Drive
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import COVERAGE, Outcome, Verdict
from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.manifest import Manifest, parse
from tidemark.models.refinement.step import StepChecker

_PROPERTY = "conformance"


class Lamps:
    """Lamps with a switch each. By chance one flickers, which changes nothing."""

    ignored: ClassVar[tuple[str, ...]] = ()
    never_offered: ClassVar[dict[str, str]] = {}

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        del instance
        self._checker = checker
        self.lit = [False, False]
        self.turns = self.flickers = 0

    def state(self) -> State:
        lit = dict(enumerate(self.lit))
        return self._checker.encode({"lit": lit, "any_lit": any(self.lit), "turns": self.turns})

    def offers(self, step: Step) -> bool:
        del step
        return True

    def perform(self, step: Step, chance: int) -> None:
        self.lit[int(step.args[0])] = step.action == "switch_on"
        self.turns += step.action == "switch_on"
        self.flickers += chance > 8

    def faults(self) -> dict[str, int]:
        return {"flickers": self.flickers}

    def close(self) -> None:
        """Nothing is open."""


class CountsEachSwitch(Lamps):
    """A lamp that is put out counts as a turn."""

    def perform(self, step: Step, chance: int) -> None:
        super().perform(step, chance)
        self.turns += step.action == "switch_off"


class NeverOff(Lamps):
    """Cannot be made to put a lamp out, and does not say so."""

    def offers(self, step: Step) -> bool:
        return step.action != "switch_off"


class SaysWhy(NeverOff):
    """The same, with a reason; and an excuse that is not needed."""

    never_offered: ClassVar[dict[str, str]] = {"switch_off": "nobody asks", "switch_on": "no lamp"}


class FailsToSwitch(Lamps):
    """Its implementation raises where the specification switches off."""

    def perform(self, step: Step, chance: int) -> None:
        if step.action == "switch_off":
            raise BrokenRunError("it raised")
        super().perform(step, chance)


class BeginsElsewhere(Lamps):
    """Its first state is none that the specification begins with."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        super().__init__(instance, checker)
        self.turns = 1


def _manifest(adapter: type[Lamps], **changes: Any) -> Manifest:
    entry = {
        "name": "driven",
        "instance": "two-lamps",
        "adapter": f"{__name__}:{adapter.__name__}",
        "claims": [_PROPERTY],
        "examples": 25,
        "steps": 40,
        "expect": {"every": "holds"},
    }
    known = data()
    return parse(
        {
            "name": "lights",
            "protocol": REFERENCE,
            "properties": known["properties"],
            "instance": known["instance"][:1],
            "conform": [entry | changes],
        },
        file="lights.toml",
    )


def _judge(adapter: type[Lamps], **changes: Any) -> dict[str, Verdict]:
    manifest = _manifest(adapter, **changes)
    verdicts = JUDGE.run(manifest.conform[0], Context(manifest=manifest))
    return {verdict.subject.property_id: verdict for verdict in verdicts}


@pytest.mark.parametrize(
    ("adapter", "steps", "seen"),
    [
        (CountsEachSwitch, 2, "turns: 1 -> 2"),
        (FailsToSwitch, 2, "it raised"),
        (BeginsElsewhere, 0, "the first state is not initial"),
    ],
)
def test_what_is_wrong_is_found_and_shortened(adapter: type[Lamps], steps: int, seen: str) -> None:
    verdict = _judge(adapter)[_PROPERTY]

    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    assert len(verdict.counterexample.steps) <= steps
    assert seen in verdict.counterexample.failing
    assert verdict.replay == "tidemark verify --tier full --only conform/driven"


def test_the_same_seed_gives_the_same_examples() -> None:
    one, two = (_judge(Lamps, examples=5) for _ in range(2))

    assert one[_PROPERTY].outcome is Outcome.HOLDS
    assert one[_PROPERTY].counts == two[_PROPERTY].counts
    assert one[_PROPERTY].counts["performed"] > 5


def test_an_action_that_is_never_performed_fails_the_coverage() -> None:
    verdict = _judge(NeverOff)[COVERAGE]

    assert verdict.outcome is Outcome.REFUTED
    assert "the action switch_off was never performed" in verdict.reason


def test_an_excuse_must_be_true() -> None:
    verdict = _judge(SaysWhy)[COVERAGE]

    assert verdict.outcome is Outcome.REFUTED
    assert "the action switch_off was never performed" not in verdict.reason
    assert "the adapter excuses 'switch_on', which was performed or does not exist" in verdict.reason


def test_a_fault_that_never_happens_is_named() -> None:
    """One step is too little for a fault."""
    coverage = _judge(Lamps, examples=1, steps=1)[COVERAGE]

    assert coverage.outcome is Outcome.REFUTED
    assert "the fault flickers never happened" in coverage.reason


def test_examples_that_were_not_run_are_missed() -> None:
    manifest = _manifest(Lamps)
    drive = Drive.of(manifest.conform[0], Context(manifest=manifest))
    drive.journal.examples = 24
    verdicts = JUDGE.verdicts(drive, None, 0.0)
    (coverage,) = [one for one in verdicts if one.subject.property_id == COVERAGE]
    assert coverage.outcome is Outcome.REFUTED
    assert "only 24 of 25 examples were run" in coverage.reason
