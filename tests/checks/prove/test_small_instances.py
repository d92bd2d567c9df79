"""The bounded instance that picks lemmas: if its assumptions exclude all constants, it says nothing."""

import pytest

from tests.protocols_proof.odd import Crowded
from tidemark.checks.prove.prover import SIZE, Prover
from tidemark.models.symbolic.hints import Hints, small_bounds
from tidemark.models.symbolic.subject import ProofSubject

pytestmark = pytest.mark.proof

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
