"""Lemmas that a proof does not need."""

from __future__ import annotations

import pytest

from tidemark.checks.prove.minimise import minimise
from tidemark.models.symbolic.subject import ProofSubject

pytestmark = pytest.mark.proof

LOCKS = "tests.protocols_proof.locks"
ODD = "tests.protocols_proof.odd"


def test_every_lemma_is_needed():
    found = minimise(ProofSubject(f"{LOCKS}:TicketLock"))
    assert found is not None
    assert found.redundant == ()
    assert len(found.needed) == 3


def test_a_lemma_too_many():
    found = minimise(ProofSubject(f"{LOCKS}:Talkative"))
    assert found is not None
    assert set(found.redundant) == {"ticketlock.some_number", "ticketlock.numbers_were_drawn_again"}
    assert not found.proof.open()
    assert not {outcome.obligation.claim for outcome in found.proof.outcomes} & set(found.redundant)


def test_an_incomplete_proof_has_no_answer():
    assert minimise(ProofSubject(f"{LOCKS}:WithoutLemma")) is None


def test_what_the_small_instance_does_not_need_is_put_back(monkeypatch):
    monkeypatch.setattr("tidemark.checks.prove.minimise.Needed.lemmas", lambda _self: ())
    found = minimise(ProofSubject(f"{LOCKS}:TicketLock"))
    assert found is not None
    assert set(found.restored) >= {"ticketlock.numbers_differ", "ticketlock.inside_is_called"}
    assert not found.proof.open()
