"""Candidates for lemmas on a small instance: what is found, and what is dropped."""

import numpy as np
import pytest

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.lemmas.closure import Closure
from tidemark.models.lemmas.cubes import Family
from tidemark.models.lemmas.features import groups
from tidemark.models.lemmas.samples import batch, sample
from tidemark.models.lemmas.text import lemmas
from tidemark.models.symbolic.subject import ProofSubject

pytestmark = pytest.mark.proof

LOCK = "tests.protocols_proof.locks:TicketLock"
BOUNDS = {"Process": 2, "Ticket": 3}


def test_walks_meet_reachable_states_only():
    instance = Instance(LOCK, BOUNDS)
    interpreter = Interpreter(instance)
    known = set(interpreter.initial())
    while True:
        more = {t.state for state in known for t in interpreter.successors(state) if t.in_bounds} - known
        if not more:
            break
        known |= more
    met = sample(instance, states=1_000, seconds=20.0, seed=3).states
    assert {state for _, state in met} <= known
    assert len(met) > len(known) / 2


def test_literals_mean_what_the_interpreter_says():
    instance = Instance(LOCK, BOUNDS)
    interpreter = Interpreter(instance)
    met = sample(instance, states=30, seconds=20.0, seed=3).states
    states = batch(instance, met)
    checked = 0
    for group in groups(instance.spec):
        family = Family(group, states)
        truth = family.truth(states)
        for place, literal in enumerate(family.literals):
            for row, (_, state) in enumerate(met):
                somewhere = family.group == () and interpreter.evaluate(literal.expr, state)
                if family.group == ():
                    assert truth[row, 0, place] == somewhere
                    checked += 1
                elif not truth[row, :, place].any():
                    assert interpreter.evaluate(family.expr((place,)), state)
                    checked += 1
    assert checked > 500


def test_candidates_are_true_in_every_sample():
    instance = Instance(LOCK, BOUNDS)
    met = sample(instance, states=1_000, seconds=20.0, seed=3).states
    interpreter = Interpreter(instance)
    family = Family(groups(instance.spec)[-1], batch(instance, met))
    impossible = (("inside", "inside"), (0, 0), 1, 0)
    bad = batch(instance, [({}, impossible)])
    found = {cube for literals in (1, 2, 3) for cube in family.excluding(bad, literals=literals)}
    assert found
    for cube in found:
        claim = family.expr(cube)
        assert not interpreter.evaluate(claim, impossible)
        assert all(interpreter.evaluate(claim, state) for _, state in met)


def test_no_candidate_contains_a_smaller_one():
    instance = Instance(LOCK, BOUNDS)
    met = sample(instance, states=1_000, seconds=20.0, seed=3).states
    family = Family(groups(instance.spec)[-1], batch(instance, met))
    bad = batch(instance, [({}, (("inside", "inside"), (0, 0), 1, 0))])
    small = family.excluding(bad, literals=2)
    large = family.excluding(bad, literals=3)
    assert small
    assert not any(set(one) < set(other) for one in small for other in large)


def test_joined_lemmas_say_the_same_as_their_cubes():
    subject = ProofSubject(LOCK, without=frozenset({"ticketlock.numbers_differ"}))
    instance = subject.instance(BOUNDS)
    met = sample(instance, states=1_000, seconds=20.0, seed=3).states
    closure = Closure(instance, batch(instance, met))
    kept = closure.run(seconds=30.0).kept
    found = lemmas(closure.families, [(item.family, item.cube) for item in kept])
    assert 0 < len(found) <= len(kept)
    interpreter = Interpreter(instance)
    draw = np.random.default_rng(4)
    places = ("away", "waiting", "inside")
    differ = 0
    for _ in range(300):
        place = tuple(places[i] for i in draw.integers(3, size=2))
        numbers = tuple(int(i) for i in draw.integers(4, size=4))
        state = (place, numbers[:2], *numbers[2:])
        by_cubes = all(interpreter.evaluate(closure.expr(item), state) for item in kept)
        by_lemmas = all(interpreter.holds(item.claim("ticketlock"), state) for item in found)
        assert by_cubes == by_lemmas
        differ += by_cubes
    assert 0 < differ < 300


def test_a_lemma_of_the_flush_protocol_is_found_again():
    lost = "flush.recorded_rows_lie_below_the_position"
    subject = ProofSubject("tidemark.spec.flush:Flush", without=frozenset({lost}))
    instance = subject.instance({"Segment": 2, "Position": 2, "Copies": 2, "Faults": 1})
    larger = subject.instance({"Segment": 2, "Position": 3, "Copies": 2, "Faults": 3})
    met = sample(larger, states=1_500, seconds=120.0, seed=0).states
    closure = Closure(instance, batch(larger, met))
    result = closure.run(seconds=120.0)
    assert not result.open
    found = lemmas(closure.families, [(item.family, item.cube) for item in result.kept])
    assert [lemma.words() for lemma in found] == ["(s.copies[p] > 0) => p <= s.dml[s.segment_of[p]]"]
