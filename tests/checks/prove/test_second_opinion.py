"""Another solver answers the same queries: agreement is counted, a contradiction is a failure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tidemark.checks.prove import second_opinion as module
from tidemark.checks.prove.second_opinion import compared, second_opinion
from tidemark.checks.verdicts.errors import MissingToolError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.manifest import Expectation, Expected, Manifest, ProofEntry
from tidemark.models.symbolic.second import Opinion, compare, standard
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec.language.protocol import resolve

pytestmark = pytest.mark.proof

LOCKS = "tests.protocols_proof.locks"
ODD = "tests.protocols_proof.odd"


def judged(protocol: str):
    properties: dict[Any, Any] = {}
    for prop in resolve(protocol).trace().properties:
        properties.setdefault(prop.kind, []).append(prop.id)
    expect = Expectation(every=Expected.PROVED)
    entry = ProofEntry(name="proof", protocol=protocol, expect=expect, second_opinion=True)
    manifest = Manifest(name="test", protocol=protocol, properties=properties, proof=(entry,))
    return second_opinion(entry, Context(manifest=manifest), judge="prove")


@pytest.mark.parametrize("name", [f"{LOCKS}:TicketLock", f"{ODD}:Flush", f"{ODD}:Signs"])
def test_both_solvers_agree(name):
    found = compared(ProofSubject(name))
    assert {item.query.result for item in found} == {"unsat"}
    agreed = [item for item in found if item.opinion is Opinion.AGREES]
    assert len(agreed) >= 0.8 * len(found) > 3
    assert all(item.opinion is not Opinion.CONTRADICTS for item in found)


def test_agreement_is_counted():
    verdict = judged(f"{LOCKS}:TicketLock")
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.counts["queries"] == verdict.counts["agreed"] + verdict.counts["unanswered"]


def test_a_planted_contradiction_is_a_failure(monkeypatch):
    """The first solver is made to say sat where the other one says unsat."""

    def planted(queries):
        return [replace(query, result="sat") for query in queries if query.result == "unsat"]

    monkeypatch.setattr(module, "decisive", planted)
    verdict = judged(f"{LOCKS}:TicketLock")
    assert verdict.outcome is Outcome.REFUTED
    assert "is sat for Z3 and unsat for cvc5" in verdict.reason


def test_no_answer_at_all_is_no_agreement(monkeypatch):
    monkeypatch.setattr(module, "compare", lambda query: replace(compare(query), other="unknown"))
    verdict = judged(f"{LOCKS}:TicketLock")
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "answers none of" in verdict.reason


def test_a_missing_solver_is_a_missing_tool(monkeypatch):
    def missing(_query):
        raise ModuleNotFoundError("no cvc5", name="cvc5")

    monkeypatch.setattr(module, "compare", missing)
    with pytest.raises(MissingToolError, match="cvc5"):
        compared(ProofSubject(f"{LOCKS}:TicketLock"))


def test_what_z3_writes_in_words_of_its_own():
    assert standard("(=> and (= x (_ Row.a Row.a)))") == "(=> true (= x Row.a))"
    assert standard("(and (_ is Row.a) or)") == "(and (_ is Row.a) false)"
