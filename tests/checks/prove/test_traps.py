"""What a careless prover would prove, and is false."""

from __future__ import annotations

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool

import pytest

from tidemark.checks.prove.proof import prove
from tidemark.checks.prove.prover import Prover, Reply, Workers
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.models.symbolic.unroll import k_inductive

pytestmark = pytest.mark.proof

TRAPS = "tests.protocols_proof.traps"


@pytest.mark.parametrize(
    ("protocol", "fails"),
    [
        ("SecondPart", ["consecution:spoil:known_and_sound"]),
        ("AnyBeginning", ["initiation:dark"]),
        ("Copies", ["consecution:copy:one_is_not_set", "consecution:set:two_is_not_set"]),
        (
            "EmptyShelves",
            ["type:sell:stock", "consecution:sell:sold_means_less", "initiation:sold_means_less"],
        ),
        (
            "BelowZero",
            [
                "type:drop:spare",
                "initiation:in_order",
                "consecution:drop:in_order",
                "consecution:copy:in_order",
            ],
        ),
        ("ThirdState", ["consecution:arrive:never_arrives"]),
    ],
)
def test_what_is_false_is_not_proved(protocol: str, fails: list[str]) -> None:
    proof = prove(f"{TRAPS}:{protocol}")
    assert {outcome.obligation.name for outcome in proof.open()} == set(fails)


def test_the_first_of_a_queue_exists_and_no_more_is_proved() -> None:
    """A number that exists has a least one: what a proof may use of queues."""
    proof = prove("tests.protocols_proof.desks:Desks", timeout_s=5)
    assert all(one.proved for one in proof.of("desks.a_desk_has_a_first"))
    assert not all(one.proved for one in proof.of("desks.nobody_is_the_first"))


def test_induction_over_three_steps_begins_with_three_states() -> None:
    spec = ProofSubject(f"{TRAPS}:ThirdState").spec
    (claim,) = spec.of_kind("invariant")
    assert k_inductive(spec, claim, k=3, known=(), seconds=20.0) == "no"


def test_what_a_lost_process_had_to_prove_is_not_proved() -> None:
    prover = Prover(ProofSubject(f"{TRAPS}:ThirdState"))
    lost: Future[list[Reply]] = Future()
    lost.set_exception(BrokenProcessPool("killed"))
    with Workers(prover, jobs=1, progress=lambda *_: None) as workers:
        replies = workers._replies(lost, [0, 1])
    assert [answer.status for answer, _ in replies] == ["unknown", "unknown"]
