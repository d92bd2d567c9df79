"""Lemmas that were taken away are found again, in other words perhaps, and the proof goes through again."""

from __future__ import annotations

import sys
import types

import pytest

from tidemark.checks.prove.proof import prove
from tidemark.checks.prove.suggest import suggest
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec import language
from tidemark.spec.language.protocol import resolve

pytestmark = pytest.mark.proof

LOCKS = "tests.protocols_proof.locks"
ODD = "tests.protocols_proof.odd"


def pasted(protocol: str, without: tuple[str, ...], methods: list[str]) -> str:
    """A reference to the protocol without some lemmas and with the methods pasted in."""
    base = resolve(protocol)
    body = "".join(f"\n{line}" for method in methods for line in ("", *method.splitlines()))
    text = f"class Pasted(Base):\n    'As before.'\n{'; '.join(f'    {n} = None' for n in without)}"
    text += body.replace("\n", "\n    ")
    module = types.ModuleType("pasted_lemmas")
    vars(module).update({name: getattr(language, name) for name in language.__all__}, Base=base)
    sys.modules["pasted_lemmas"] = module
    exec(text, vars(module))
    vars(module)["Pasted"].__module__ = "pasted_lemmas"
    return "pasted_lemmas:Pasted"


@pytest.mark.parametrize(
    ("protocol", "prefix", "without"),
    [
        (f"{LOCKS}:TicketLock", "ticketlock", ("numbers_differ",)),
        (f"{LOCKS}:TicketLock", "ticketlock", ("inside_is_called", "numbers_differ", "numbers_were_drawn")),
        (f"{ODD}:Flush", "flush", ("rows_are_consumed", "checkpoint_is_consumed")),
    ],
)
def test_removed_lemmas_are_found_again(protocol, prefix, without):
    subject = ProofSubject(protocol, without=frozenset(f"{prefix}.{name}" for name in without))
    found = suggest(subject, seconds=60.0)
    assert found.before.open()
    assert found.lemmas
    assert found.complete
    assert not found.open
    again = prove(pasted(protocol, without, [lemma.method() for lemma in found.lemmas]))
    assert not again.open()
    claims = {outcome.obligation.claim for outcome in again.outcomes}
    assert {f"{prefix}.{lemma.name}" for lemma in found.lemmas} <= claims
    assert not {f"{prefix}.{name}" for name in without} & claims


def test_nothing_is_offered_where_nothing_is_missing():
    found = suggest(ProofSubject(f"{LOCKS}:TicketLock"))
    assert found.lemmas == ()
    assert found.complete


def test_no_lemma_saves_a_false_claim():
    found = suggest(ProofSubject(f"{LOCKS}:SameNumber"), seconds=30.0)
    assert not found.complete
    assert found.open == ("ticketlock.numbers_were_drawn",)
    proved = {o.obligation.claim for o in found.after.outcomes} - {
        o.obligation.claim for o in found.after.open()
    }
    assert "ticketlock.one_inside" not in proved


def test_what_no_template_says_is_not_offered():
    found = suggest(ProofSubject(f"{ODD}:Even"), seconds=30.0)
    assert not found.complete
    assert found.lemmas == ()
    assert found.open == ("cycle.never_five",)


def test_a_bound_on_a_number():
    found = suggest(ProofSubject(f"{ODD}:Cycle"), seconds=30.0)
    assert found.complete
    assert [lemma.words() for lemma in found.lemmas] == ["s.shown <= 2"]


def test_the_same_suggestions_every_time():
    subject = ProofSubject(f"{LOCKS}:WithoutLemma")
    one, two = (suggest(subject, seconds=60.0) for _ in range(2))
    assert [lemma.method() for lemma in one.lemmas] == [lemma.method() for lemma in two.lemmas]
