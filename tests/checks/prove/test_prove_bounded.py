"""Bounded model checking for any size, k-induction, and hints of small instances."""

import pytest

from tests.protocols_proof.traps import Crowded
from tidemark.checks.prove.bounded import bounded, by_k_induction
from tidemark.checks.prove.proof import prove
from tidemark.checks.prove.prover import SIZE, Prover
from tidemark.checks.verdicts.verdict import Outcome, Subject
from tidemark.models.symbolic.hints import Hints, small_bounds
from tidemark.models.symbolic.subject import ProofSubject

pytestmark = pytest.mark.proof

LOCKS = "tests.protocols_proof.locks"
ODD = "tests.protocols_proof.traps"


def about(prop):
    return Subject(protocol="test", property_id=prop.id, judge="prove", instance="runs")


def runs(protocol, claim, depth, seconds=20.0):
    subject = ProofSubject(protocol)
    prop = subject.spec.property(claim)
    (verdict,) = bounded(subject, [prop], about, depth=depth, seconds=seconds, replay="tidemark prove")
    return verdict


def test_no_short_run_breaks_the_claim():
    verdict = runs(f"{LOCKS}:SameNumber", "one_inside", 3)
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.bounds == "runs of at most 3 steps, any number of Process and unbounded Ticket"
    assert verdict.counts == {"queries": 4}


def test_the_shortest_run_breaks_it():
    verdict = runs(f"{LOCKS}:SameNumber", "one_inside", 5)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    assert len(verdict.counterexample.steps) == 4


def test_a_step_is_a_run_of_one():
    assert runs(f"{LOCKS}:SkipsNumbers", "called_in_order", 2).outcome is Outcome.HOLDS
    verdict = runs(f"{LOCKS}:SkipsNumbers", "called_in_order", 3)
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    assert [step.action for step in verdict.counterexample.steps] == ["draw", "enter", "leave"]


def test_no_steps_say_nothing_about_a_step():
    verdict = runs(f"{LOCKS}:SkipsNumbers", "called_in_order", 0)
    assert verdict.outcome is Outcome.INCONCLUSIVE


def test_no_time_is_no_answer():
    verdict = runs(f"{LOCKS}:TicketLock", "one_inside", 3, seconds=1e-6)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no answer" in verdict.reason


def test_induction_needs_the_types_and_a_claim_about_states():
    below = prove(f"{ODD}:Below")
    (verdict,) = by_k_induction(below, [below.spec.property("few")], about, k=2, seconds=20.0)
    assert "needs type:left" in verdict.reason
    lock = prove(f"{LOCKS}:SkipsNumbers")
    (verdict,) = by_k_induction(lock, [lock.spec.property("called_in_order")], about, k=2, seconds=20.0)
    assert "not for a transition_invariant" in verdict.reason


CROWDED = ProofSubject(f"{Crowded.__module__}:Crowded")


def test_an_instance_without_constants_is_not_possible():
    bounds = small_bounds(CROWDED.spec, elements=SIZE[0], greatest=SIZE[1])
    narrow = Hints(CROWDED.instance(bounds))
    assert not narrow.possible
    consecution = next(
        o for o in Prover(CROWDED).obligations if o.name == "consecution:serve:all_before_are_served"
    )
    assert narrow.of(consecution).core == frozenset()


def test_its_numbers_go_further_until_it_is_possible():
    prover = Prover(CROWDED)
    hints = prover.hints(SIZE)
    assert hints is not None
    assert hints.possible
    consecution = next(o for o in prover.obligations if o.name == "consecution:serve:all_before_are_served")
    assert prover.hint(consecution, SIZE).core == frozenset({"crowded.all_before_are_served"})


def test_no_hint_is_given_if_none_is_possible(monkeypatch):
    monkeypatch.setattr("tidemark.checks.prove.prover.FURTHER", 0)
    assert Prover(CROWDED).hints(SIZE) is None
