"""Lemmas that were taken away are found again; those of textbook protocols are; needless ones are named."""

import sys
import types
from dataclasses import replace
from functools import cache

import pytest

from tidemark.checks.cli.app import run
from tidemark.checks.prove.minimise import minimise
from tidemark.checks.prove.proof import prove
from tidemark.checks.prove.suggest import suggest
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.search import Search
from tidemark.models.lemmas.samples import sample
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec import language
from tidemark.spec.language.protocol import resolve

LOCKS = "tests.protocols_proof.locks"
ODD = "tests.protocols_proof.traps"


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


@pytest.mark.proof
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


@pytest.mark.proof
def test_nothing_is_offered_where_nothing_is_missing():
    found = suggest(ProofSubject(f"{LOCKS}:TicketLock"))
    assert found.lemmas == ()
    assert found.complete


@pytest.mark.proof
def test_no_lemma_saves_a_false_claim():
    found = suggest(ProofSubject(f"{LOCKS}:SameNumber"), seconds=30.0)
    assert not found.complete
    assert found.open == ("ticketlock.numbers_were_drawn",)
    proved = {o.obligation.claim for o in found.after.outcomes} - {
        o.obligation.claim for o in found.after.open()
    }
    assert "ticketlock.one_inside" not in proved


@pytest.mark.proof
def test_a_bound_on_a_number():
    found = suggest(ProofSubject(f"{ODD}:Cycle"), seconds=30.0)
    assert found.complete
    assert [lemma.words() for lemma in found.lemmas] == ["s.shown <= 2"]


@pytest.mark.proof
def test_the_same_suggestions_every_time():
    subject = ProofSubject(f"{LOCKS}:WithoutLemma")
    one, two = (suggest(subject, seconds=60.0) for _ in range(2))
    assert [lemma.method() for lemma in one.lemmas] == [lemma.method() for lemma in two.lemmas]


@pytest.mark.proof
def test_every_lemma_is_needed():
    found = minimise(ProofSubject(f"{LOCKS}:TicketLock"))
    assert found is not None
    assert found.redundant == ()
    assert len(found.needed) == 3


@pytest.mark.proof
def test_a_lemma_too_many():
    found = minimise(ProofSubject(f"{LOCKS}:Talkative"))
    assert found is not None
    assert set(found.redundant) == {"ticketlock.some_number", "ticketlock.numbers_were_drawn_again"}
    assert not found.proof.open()
    assert not {outcome.obligation.claim for outcome in found.proof.outcomes} & set(found.redundant)


@pytest.mark.proof
def test_what_the_small_instance_does_not_need_is_put_back(monkeypatch):
    monkeypatch.setattr("tidemark.checks.prove.minimise.Needed.lemmas", lambda _self: ())
    found = minimise(ProofSubject(f"{LOCKS}:TicketLock"))
    assert found is not None
    assert set(found.restored) >= {"ticketlock.numbers_differ", "ticketlock.inside_is_called"}
    assert not found.proof.open()


TEXTBOOK = "tests.protocols_proof.textbook:"
TWO_PHASE = "tests.protocols.small:TwoPhase"
COMMIT = Instance(TWO_PHASE, {"Manager": 3})
suggested = cache(lambda name: suggest(ProofSubject(name)))


@pytest.mark.proof
@pytest.mark.parametrize(
    "name", [TWO_PHASE, *(TEXTBOOK + name for name in ("Holders", "Promises", "Coherence"))]
)
def test_the_lemmas_are_found_from_the_claims_alone(name):
    found = suggested(name)
    assert found.before.open(), "there was nothing to find"
    assert found.complete
    assert found.lemmas
    assert found.never == ()


@pytest.mark.proof
def test_nothing_is_missing_from_what_is_offered_for_two_phase_commit():
    """The number of lemmas depends on the text. This one has 288 states for three managers, as published; no
    lemma that is left out is implied by the others.
    """
    found = suggested(TWO_PHASE)
    assert found.states == 288
    claims = {lemma.name: lemma.claim("twophase") for lemma in found.lemmas}
    assert len(claims) == 11
    for name in list(claims)[::2]:
        others = tuple(claim for each, claim in claims.items() if each != name)
        assert prove(replace(ProofSubject(TWO_PHASE), added=others)).open(), name


def test_the_sample_has_what_many_have_to_agree_on():
    """Random runs of two-phase commit never met a commit; a search level by level meets all states."""
    everything = Search(Interpreter(COMMIT), limit=5_000).run(lambda *_: None)
    found = sample(COMMIT, states=5_000, seconds=60.0, seed=0)
    assert found.complete
    assert {state for _, state in found.states} == set(everything.parents)
    assert any("committed" in state[0] for _, state in found.states)


def test_a_sample_of_a_large_instance_has_shallow_and_deep_states():
    found = sample(COMMIT, states=100, seconds=60.0, seed=0)
    assert not found.complete
    assert len(found.states) >= 100
    assert len({state for _, state in found.states}) == len(found.states)
    reachable = set(Search(Interpreter(COMMIT), limit=5_000).run(lambda *_: None).parents)
    assert {state for _, state in found.states} <= reachable
    first = [state for _, state in sample(COMMIT, states=5_000, seconds=60.0, seed=0).states[:50]]
    assert [state for _, state in found.states[:50]] == first
    again = sample(COMMIT, states=100, seconds=60.0, seed=0)
    assert again.states == found.states


@pytest.mark.proof
def test_an_action_that_the_sample_never_took_is_named(capsys):
    assert run(["suggest", f"{TEXTBOOK}Unlikely"]) == ExitCode.AS_EXPECTED
    said = capsys.readouterr().out
    assert "warning: no sampled state comes from the action never" in said
    assert "decide_commit: lemmas" not in said
