"""Lemmas for textbook protocols, from their claims alone; and the samples that make that possible."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from tidemark.checks.cli.app import run
from tidemark.checks.prove.proof import prove
from tidemark.checks.prove.suggest import suggest
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.search import Search
from tidemark.models.lemmas.samples import sample
from tidemark.models.symbolic.subject import ProofSubject

TEXTBOOK = "tests.protocols_proof.textbook:"
COMMIT = Instance(f"{TEXTBOOK}TwoPhaseCommit", {"Part": 3})


suggested = cache(lambda name: suggest(ProofSubject(TEXTBOOK + name)))


@pytest.mark.proof
@pytest.mark.parametrize(
    "name", ["TwoPhaseCommit", "Fence", "Holders", "Promises", "LockServer", "Shards", "Coherence"]
)
def test_the_lemmas_are_found_from_the_claims_alone(name):
    found = suggested(name)
    assert found.before.open(), "there was nothing to find"
    assert found.complete
    assert found.lemmas
    assert found.never == ()


@pytest.mark.proof
def test_nothing_is_missing_from_what_is_offered_for_two_phase_commit():
    """The number of lemmas depends on the text. Of this one (288 states for three participants, as published)
    seven are offered; five of them are enough for the claim at any size, and each of the five is needed.
    """
    found = suggested("TwoPhaseCommit")
    assert found.states == 288
    claims = {lemma.name: lemma.claim("twophasecommit") for lemma in found.lemmas}
    assert len(claims) == 7
    idle = {"suggested_mode_known_prepared", "suggested_mode"}
    few = {name: claim for name, claim in claims.items() if name not in idle}
    assert len(few) == 5
    subject = ProofSubject(TEXTBOOK + "TwoPhaseCommit")
    assert not prove(replace(subject, added=tuple(few.values()))).open()
    for name in few:
        others = tuple(claim for each, claim in few.items() if each != name)
        assert prove(replace(subject, added=others)).open(), name


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
