"""The judge ``conform``: it finds planted bugs, shortens what it finds, and says what it has not tried."""

from __future__ import annotations

from typing import Any, ClassVar

import pytest

from tidemark.checks.conform.judge import JUDGE, Drive
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import COVERAGE, Outcome, Verdict
from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.manifest import Expected, Manifest, load, manifest_files, parse
from tidemark.models.protocols.flush.driver import FlushAdapter

_PROPERTY = "conformance"


class NeverSeals(FlushAdapter):
    """Cannot be made to seal, and does not say so."""

    def offers(self, step: Step) -> bool:
        return step.action != "seal" and super().offers(step)


class SaysWhy(NeverSeals):
    """The same, with a reason; and an excuse that is not needed."""

    never_offered: ClassVar[dict[str, str]] = {"seal": "nobody asks", "consume": "no log"}


def _manifest(adapter: str, **changes: Any) -> Manifest:
    entry = {
        "name": "driven",
        "instance": "idle-tail",
        "adapter": adapter,
        "claims": [_PROPERTY],
        "examples": 25,
        "steps": 40,
        "expect": {"every": "holds"},
    }
    found = next(path for path in manifest_files() if path.parent.name == "flush")
    flush = load(found)
    small = next(item for item in flush.instance if item.name == "idle-tail")
    return parse(
        {
            "name": "flush",
            "protocol": flush.protocol,
            "properties": flush.properties,
            "instance": [
                small.model_dump(exclude={"skip", "vacuous"})
            ],  # in a file they are lists of ids by reason
            "conform": [entry | changes],
        },
        file="flush.toml",
    )


def _judge(adapter: str, **changes: Any) -> dict[str, Verdict]:
    manifest = _manifest(adapter, **changes)
    verdicts = JUDGE.run(manifest.conform[0], Context(manifest=manifest))
    return {verdict.subject.property_id: verdict for verdict in verdicts}


@pytest.mark.parametrize(
    ("adapter", "longest", "seen"),
    [
        ("checkpoint_ignores_in_flight", 4, "tick_position: 0 -> 1"),
        ("flush_ts_is_overwritten", 6, "flush_ts: 2 -> 1"),
        ("refusal_is_success", 6, "held[1]: syncing -> none"),
        ("upload_error_is_swallowed", 6, "task[0, 1]: queued -> uploaded"),
    ],
)
def test_a_planted_bug_is_found_and_shortened(adapter: str, longest: int, seen: str) -> None:
    asked = {"constants": {"ask_up_to": 2}, "examples": 100}

    verdict = _judge(f"tidemark.models.protocols.flush.mutants.driven:{adapter}", **asked)[_PROPERTY]

    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    assert len(verdict.counterexample.steps) <= longest
    assert seen in verdict.counterexample.failing
    assert verdict.replay == "tidemark verify --tier full --only conform/driven"


def test_the_same_seed_gives_the_same_examples() -> None:
    one, two = (_judge("tidemark.models.protocols.flush.driver:FlushAdapter", examples=5) for _ in range(2))

    assert one[_PROPERTY].outcome is Outcome.HOLDS
    assert one[_PROPERTY].counts == two[_PROPERTY].counts
    assert one[_PROPERTY].counts["performed"] > 25


def test_an_action_that_is_never_performed_fails_the_coverage() -> None:
    verdict = _judge("tests.checks.conform.test_conform:NeverSeals", examples=5)[COVERAGE]

    assert verdict.outcome is Outcome.REFUTED
    assert "the action seal was never performed" in verdict.reason


def test_an_excuse_must_be_true() -> None:
    verdict = _judge("tests.checks.conform.test_conform:SaysWhy", examples=5)[COVERAGE]

    assert verdict.outcome is Outcome.REFUTED
    assert "the action seal was never performed" not in verdict.reason
    assert "the adapter excuses 'consume', which was performed or does not exist" in verdict.reason


def test_the_entry_of_the_manifest_offers_every_action() -> None:
    assert FlushAdapter.never_offered == {}
    found = next(path for path in manifest_files() if path.parent.name == "flush")
    assert [entry.adapter for entry in load(found).conform if entry.expect.every is Expected.HOLDS] == [
        "tidemark.models.protocols.flush.driver:FlushAdapter"
    ]


def test_a_fault_that_never_happens_is_named() -> None:
    """Five steps are too few for each kind of fault."""
    coverage = _judge("tidemark.models.protocols.flush.driver:FlushAdapter", examples=3, steps=5)[COVERAGE]

    assert coverage.outcome is Outcome.REFUTED
    assert "the fault storage_lost_acks never happened" in coverage.reason


class FailsToSeal(FlushAdapter):
    """Its implementation raises where the specification seals."""

    def perform(self, step: Step, chance: int) -> None:
        if step.action == "seal":
            raise BrokenRunError("it raised")
        super().perform(step, chance)


class BeginsElsewhere(FlushAdapter):
    """Its first state is none that the specification begins with."""

    def state(self) -> State:
        first, *rest = super().state()
        return (not first if isinstance(first, bool) else _other(first), *rest)


def _other(value: Any) -> Any:
    if isinstance(value, tuple):
        return (_other(value[0]), *value[1:])
    return value + 1 if isinstance(value, int) else "durable"


@pytest.mark.parametrize("adapter", ["FailsToSeal", "BeginsElsewhere"])
def test_a_run_that_breaks_and_a_wrong_beginning_are_refutations(adapter: str) -> None:
    found = _judge(f"{__name__}:{adapter}")
    assert found[_PROPERTY].outcome is Outcome.REFUTED
    wanted = "it raised" if adapter == "FailsToSeal" else "the first state is not initial"
    shown = found[_PROPERTY].counterexample
    assert shown is not None
    assert wanted in shown.failing


def test_examples_that_were_not_run_are_missed() -> None:
    manifest = _manifest("tidemark.models.protocols.flush.driver:FlushAdapter")
    drive = Drive.of(manifest.conform[0], Context(manifest=manifest))
    drive.journal.examples = 24
    verdicts = JUDGE.verdicts(drive, None, 0.0)
    (coverage,) = [one for one in verdicts if one.subject.property_id == COVERAGE]
    assert coverage.outcome is Outcome.REFUTED
    assert "only 24 of 25 examples were run" in coverage.reason
