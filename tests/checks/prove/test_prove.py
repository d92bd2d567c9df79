"""The proof for any size: what is proved, what is not, why, and what a careless prover would prove."""

from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from tidemark.checks.prove.judge import JUDGE, describe, show
from tidemark.checks.prove.proof import prove
from tidemark.checks.prove.prover import Prover, Reply, Workers
from tidemark.checks.verdicts.counterexample import Shape
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import COVERAGE, Outcome
from tidemark.models.interpreted.interpreter import BelowZeroError
from tidemark.models.manifest import Expectation, Expected, Manifest, ProofEntry
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.models.symbolic.unroll import consistent, k_inductive
from tidemark.spec.language.protocol import resolve

pytestmark = pytest.mark.proof

LOCKS = "tests.protocols_proof.locks"
ODD = "tests.protocols_proof.traps"


def judged(protocol: str, **options):
    properties: dict[Any, Any] = {}
    for prop in resolve(protocol).trace().properties:
        properties.setdefault(prop.kind, []).append(prop.id)
    entry = ProofEntry(name="proof", protocol=protocol, expect=Expectation(every=Expected.PROVED), **options)
    manifest = Manifest(name="test", protocol=protocol, properties=properties, proof=(entry,))
    return {v.subject.property_id: v for v in JUDGE.run(entry, Context(manifest=manifest))}


def outcomes(verdicts):
    return {name: verdict.outcome for name, verdict in verdicts.items()}


def test_a_lock_for_any_number_of_processes():
    verdicts = judged(f"{LOCKS}:TicketLock")
    assert set(verdicts) == {
        "ticketlock.one_inside",
        "ticketlock.inside_is_called",
        "ticketlock.numbers_differ",
        "ticketlock.numbers_were_drawn",
        "ticketlock.called_in_order",
        COVERAGE,
    }
    coverage = verdicts.pop(COVERAGE)
    assert coverage.outcome is Outcome.HOLDS
    assert coverage.notes[0].startswith("19 obligations, ")
    assert ", 0 without an answer; slowest: " in coverage.notes[0]
    assert any("satisfiable together, for any size" in note for note in coverage.notes)
    assert coverage.rates["workers"] == 1
    assert set(outcomes(verdicts).values()) == {Outcome.PROVED}
    assert sum(verdict.counts["obligations"] for verdict in verdicts.values()) == 4 * 4 + 3
    assert "for any number of Process and unbounded Ticket" in verdicts["ticketlock.one_inside"].notes


def test_obligations_have_names():
    proof = prove(f"{LOCKS}:TicketLock")
    names = [outcome.obligation.name for outcome in proof.outcomes]
    assert len(names) == len(set(names)) == 19
    assert "initiation:one_inside" in names
    assert "consecution:leave:numbers_differ" in names
    assert "step:draw:called_in_order" in names
    assert not proof.open()
    assert proof.slowest().answer.seconds >= 0


def test_a_missing_lemma_is_inconclusive_and_shown():
    verdicts = judged(f"{LOCKS}:WithoutLemma")
    verdict = verdicts["ticketlock.one_inside"]
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "consecution:enter:one_inside: not inductive under enter(" in verdict.reason
    shown = verdict.counterexample
    assert shown is not None
    assert shown.shape is Shape.INDUCTION
    assert [step.action for step in shown.steps] == ["enter"]
    assert "p == q" in shown.failing or "p_0 == q_1" in shown.failing
    assert any("not reachable within" in note for note in verdict.notes)
    assert verdicts["ticketlock.numbers_were_drawn"].outcome is Outcome.PROVED


def test_a_counterexample_to_induction_is_small():
    proof = prove(f"{LOCKS}:WithoutLemma")
    found = next(o for o in proof.open() if o.obligation.claim == "ticketlock.inside_is_called" or o.model)
    assert found.model is not None
    assert found.model.instance.bounds["Process"] == 2
    shown = show(found.model, proof.spec.property(found.obligation.claim))
    assert len(shown.changes(1)) <= 2


def test_a_broken_lock_is_refuted_by_a_run():
    verdict = judged(f"{LOCKS}:SameNumber")["ticketlock.one_inside"]
    assert verdict.outcome is Outcome.REFUTED
    shown = verdict.counterexample
    assert shown is not None
    assert shown.shape is Shape.RUN
    assert sorted(step.action for step in shown.steps) == ["draw", "draw", "enter", "enter"]
    assert "larger instances too" in verdict.notes[0]
    assert verdict.bounds.startswith("a run of 4 steps within")


@pytest.mark.parametrize(
    ("protocol", "false", "true"),
    [
        (f"{LOCKS}:SkipsNumbers", "ticketlock.called_in_order", "ticketlock.numbers_differ"),
        (f"{ODD}:GreatestDurable", "flush.safe", "flush.rows_are_consumed"),
    ],
)
def test_what_is_broken_is_refuted_and_nothing_else_is(protocol, false, true):
    verdicts = judged(protocol)
    assert verdicts[false].outcome is Outcome.REFUTED
    assert verdicts[true].outcome is Outcome.PROVED


@pytest.mark.parametrize("name", ["Flush", "Signs"])
def test_extremes_updates_of_maps_signed_numbers_and_reads_out_of_range(name):
    assert set(outcomes(judged(f"{ODD}:{name}")).values()) == {Outcome.PROVED, Outcome.HOLDS}


def test_a_failing_claim_about_a_constant_without_a_value_is_shown():
    """The counterexample gives the constant a value; the claim of the proof has none."""
    verdicts = judged(f"{ODD}:Limited")
    for name in ("limited.within", "limited.up_to_the_limit"):
        assert verdicts[name].outcome is Outcome.REFUTED
        shown = verdicts[name].counterexample
        assert shown is not None
        assert shown.model is not None
        assert set(shown.model.constants) == {"limit"}
        assert str(shown.model.constants["limit"]) in shown.failing
    assert verdicts["limited.follows"].outcome is Outcome.PROVED


def test_a_number_that_may_become_negative_spoils_everything():
    proof = prove(f"{ODD}:Below")
    typing = next(o for o in proof.outcomes if o.obligation.name == "type:take:left")
    assert not typing.proved
    assert typing.model is not None
    assert "type:take:left: not inductive under take()" in describe(typing)
    with pytest.raises(BelowZeroError, match=r"3\. take\(\) makes left = -1"):
        judged(f"{ODD}:Below")


def test_a_guard_keeps_the_type():
    verdicts = judged(f"{ODD}:Guarded")
    assert verdicts["below.few"].outcome is Outcome.PROVED
    obligations = Prover(ProofSubject(f"{ODD}:Guarded")).obligations
    assert [o.name for o in obligations if o.kind == "type"] == ["type:take:left"]


def test_contradictory_assumptions_are_no_proof():
    verdicts = judged(f"{ODD}:Contradiction")
    assert verdicts[COVERAGE].outcome is Outcome.INCONCLUSIVE
    assert "initial state" in verdicts[COVERAGE].reason
    assert "values of any size" in verdicts[COVERAGE].reason


def test_hypotheses_are_satisfiable_in_the_encoding_of_the_proof():
    assert consistent(resolve(f"{LOCKS}:TicketLock").trace().with_options(), seconds=5.0) == "yes"
    assert consistent(resolve(f"{ODD}:Contradiction").trace().with_options(), seconds=5.0) == "no"


def test_an_action_that_no_invariant_allows():
    verdict = judged(f"{ODD}:DeadAction")[COVERAGE]
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "a step never from" in verdict.reason
    assert "take" not in verdict.reason


def test_small_counts_are_statements_about_distinct_elements():
    assert judged(f"{ODD}:Counting")["counting.at_most_two"].outcome is Outcome.PROVED


def test_a_count_without_limit_is_refused_by_name():
    verdict = judged(f"{ODD}:CountingMany")["counting.at_most_two"]
    proof = prove(f"{ODD}:CountingMany")
    refused = [o for o in proof.open() if o.answer.status == "refused"]
    assert verdict.outcome is Outcome.PROVED or "counts over Member" in verdict.reason
    assert all("counts over Member" in o.answer.reason for o in refused)


def test_what_is_true_but_not_inductive_is_not_proved():
    verdict = judged(f"{ODD}:Cycle")["cycle.never_five"]
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert verdict.counts == {"obligations": 2, "by_form": 1, "discharged": 1}
    assert any("a stronger lemma is missing" in note for note in verdict.notes)
    assert verdict.counterexample is not None
    assert verdict.counterexample.shape is Shape.INDUCTION
    assert [str(change.before) for change in verdict.counterexample.changes(1)] == ["4"]


def test_no_time_is_no_proof():
    proof = prove(f"{LOCKS}:TicketLock", timeout_s=1e-9)
    assert proof.open()
    assert {outcome.answer.status for outcome in proof.open()} == {"unknown"}


def test_two_processes_come_to_the_same_answers(monkeypatch):
    monkeypatch.setattr("tidemark.checks.prove.prover.ENOUGH", 1)
    monkeypatch.setattr("tidemark.checks.prove.prover.PORTION", 4)
    proofs = [prove(f"{LOCKS}:WithoutLemma", jobs=jobs) for jobs in (1, 2)]
    assert [proof.workers for proof in proofs] == [1, 2]
    one, two = (
        [(o.obligation.name, o.answer.status, o.answer.used, o.model) for o in proof.outcomes]
        for proof in proofs
    )
    assert one == two
    assert 0 < len(proofs[0].open()) < len(one)


def test_hard_obligations_get_their_time_in_two_processes(monkeypatch):
    monkeypatch.setattr("tidemark.checks.prove.proof.FIRST_S", 1e-9)
    proof = prove(f"{LOCKS}:TicketLock", timeout_s=20.0, jobs=2)
    assert not proof.open()
    assert proof.workers == 2


def test_a_counterexample_to_induction_that_is_reachable_is_a_violation(monkeypatch):
    monkeypatch.setattr("tidemark.checks.prove.judge.find_runs", lambda _subject, _claims: {})
    verdicts = judged(f"{LOCKS}:SkipsNumbers")
    verdict = verdicts["ticketlock.called_in_order"]
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    assert verdict.counterexample.shape is Shape.RUN
    assert [step.action for step in verdict.counterexample.steps][-1] == "leave"
    assert "its state is reachable in" in verdict.notes[0]


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
    proof = prove(f"{ODD}:{protocol}")
    assert {outcome.obligation.name for outcome in proof.open()} == set(fails)


def test_the_first_of_a_queue_exists_and_no_more_is_proved() -> None:
    """A number that exists has a least one: what a proof may use of queues."""
    proof = prove("tests.protocols_proof.locks:Desks", timeout_s=5)
    assert all(one.proved for one in proof.of("desks.a_desk_has_a_first"))
    assert not all(one.proved for one in proof.of("desks.nobody_is_the_first"))


def test_induction_over_three_steps_begins_with_three_states() -> None:
    spec = ProofSubject(f"{ODD}:ThirdState").spec
    (claim,) = spec.of_kind("invariant")
    assert k_inductive(spec, claim, k=3, known=(), seconds=20.0) == "no"


def test_what_a_lost_process_had_to_prove_is_not_proved() -> None:
    prover = Prover(ProofSubject(f"{ODD}:ThirdState"))
    lost: Future[list[Reply]] = Future()
    lost.set_exception(BrokenProcessPool("killed"))
    with Workers(prover, jobs=1, progress=lambda *_: None) as workers:
        replies = workers._replies(lost, [0, 1])
    assert [answer.status for answer, _ in replies] == ["unknown", "unknown"]
