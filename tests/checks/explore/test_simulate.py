"""``tidemark simulate``: it refutes, it reaches, and it never says that something holds."""

from __future__ import annotations

import pytest

from tidemark.checks.cli.app import run
from tidemark.checks.crosscheck.peers import COUNTEREXAMPLES, PEERS
from tidemark.checks.explore.simulate import simulate
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.instance import Instance
from tidemark.models.native.simulate import Budget

SMALL = "tests.protocols.small:"


def test_invariants_that_hold_are_inconclusive() -> None:
    _, found = simulate(PEERS["tso-s"].instance, budget=Budget(visits=20_000))
    for verdict in found:
        witness = verdict.subject.aspect.value == "vacuity"
        assert verdict.outcome in (
            (Outcome.HOLDS, Outcome.INCONCLUSIVE) if witness else (Outcome.INCONCLUSIVE,)
        )
        if verdict.outcome is Outcome.INCONCLUSIVE:
            assert verdict.reason.startswith("sampled:")


@pytest.mark.parametrize("protocol", sorted(COUNTEREXAMPLES)[:3])
def test_a_refutation_has_a_counterexample_that_is_not_called_shortest(protocol: str) -> None:
    size, _ = COUNTEREXAMPLES[protocol]
    _, found = simulate(Instance(protocol, **size), budget=Budget(visits=300_000), seed=1)
    refutations = [verdict for verdict in found if verdict.outcome is Outcome.REFUTED]
    assert refutations
    for verdict in refutations:
        assert verdict.counterexample is not None
        assert "shorter" in verdict.notes[0]


def test_liveness_is_never_decided() -> None:
    _, found = simulate(Instance(SMALL + "Peterson", {"Process": 1}), budget=Budget(visits=5_000))
    live = [verdict for verdict in found if "liveness" in verdict.reason]
    assert live
    assert all(verdict.outcome is Outcome.INCONCLUSIVE for verdict in live)


def test_the_command_is_never_green(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "tiny", "--visits", "20000"]) == ExitCode.INCONCLUSIVE
    shown = capsys.readouterr().out
    assert "walks" in shown
    assert "taken" in shown
    assert run(["simulate", "no-such-instance"]) == ExitCode.BAD_INPUT
