"""Both encodings mean what the interpreter means, on generated expressions and actions."""

from dataclasses import replace
from random import Random

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from tests.models.drawn.text import any_state, drawn
from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Transition
from tidemark.models.symbolic import bits
from tidemark.models.symbolic.enumerate import Enumerator
from tidemark.models.symbolic.finite import Frame, SymbolicInstance
from tidemark.models.symbolic.hints import is_true, new_solver
from tidemark.spec.language.expr import Expr, free_locals, walk
from tidemark.spec.language.render import render
from tidemark.spec.language.types import MapType

pytestmark = pytest.mark.proof

SEEDS = st.integers(0, 1 << 32)


def lab(seed: int) -> tuple[Instance, State]:
    """A drawn instance, and one of its states."""
    instance = drawn(seed)
    instance = replace(instance, bounds={**instance.bounds, "Level": (-1, 1)})
    return instance, any_state(instance, Random(seed))


def values(instance: Instance) -> list[Expr]:
    """Some scalar expressions of the steps and the claims whose value depends on one state alone."""
    spec = instance.spec
    whole = [part.expr for action in spec.actions for part in action.guards]
    whole += [expr for action in spec.actions for _, expr in action.updates]
    whole += [prop.expr for prop in spec.properties]
    parts = (part for expr in whole for part in walk(expr) if not isinstance(part.type, MapType))
    found = [
        part
        for part in parts
        if not free_locals(part) and not any(getattr(one, "primed", False) for one in walk(part))
    ]
    return sorted(found, key=lambda part: -len(list(walk(part))))[:6]


def known_state(space: SymbolicInstance, state: tuple) -> dict:  # type: ignore[type-arg]
    """A state without anything symbolic in it."""
    return {
        variable.name: {
            cell: bits.known(item)
            for cell, item in zip(
                space.cells(variable.type), value if isinstance(value, tuple) else (value,), strict=True
            )
        }
        for variable, value in zip(space.spec.variables, state, strict=True)
    }


def transitions(interpreter: Interpreter, state: State) -> list[Transition]:
    """The enabled steps of a drawn state, which need not be reachable."""
    return [t for step in interpreter.steps if (t := interpreter.transition(state, step))]


@given(seed=SEEDS)
def test_first_order_values(seed):
    instance, state = lab(seed)
    interpreter, z3_reading = Interpreter(instance), Enumerator(instance)
    for expr in values(instance):
        assert z3_reading.evaluate(expr, state) == interpreter.evaluate(expr, state), render(expr)


@given(seed=SEEDS)
def test_first_order_steps(seed):
    instance, state = lab(seed)
    interpreter, z3_reading = Interpreter(instance), Enumerator(instance)
    expected = {t.step: t.state for t in transitions(interpreter, state) if t.in_bounds}
    assert z3_reading.successors(state) == expected


@given(seed=SEEDS)
def test_propositional_values_of_a_known_state(seed):
    instance, state = lab(seed)
    interpreter, space = Interpreter(instance), SymbolicInstance(instance)
    here = known_state(space, state)
    frame = Frame(here, here, {})
    for expr in values(instance):
        assert space.finite.cases(expr, frame) == {interpreter.evaluate(expr, state): True}, render(expr)


@given(seed=SEEDS)
def test_propositional_steps_of_an_arbitrary_state(seed):
    instance, state = lab(seed)
    interpreter, space = Interpreter(instance), SymbolicInstance(instance)
    symbols = space.state()
    solver = new_solver(space.conditions)
    solver.add(_pinned(space, symbols, state))
    assert solver.check() == z3.sat
    model = solver.model()
    assert space.decode(model, symbols) == state
    found = {
        move.step: space.decode(model, move.after(symbols))
        for move in space.moves(symbols)
        if is_true(model, bits.both(move.enabled, move.in_bounds))
    }
    said = transitions(interpreter, state)
    assert found == {t.step: t.state for t in said if t.in_bounds}
    below = {
        move.step
        for move in space.moves(symbols)
        if is_true(model, bits.both(move.enabled, bits.some(move.below.values())))
    }
    assert below == {t.step for t in said if t.below}


def _pinned(space, symbols, state):
    known = known_state(space, state)
    same = [
        bits.same(cases, known[name][cell])
        for name, cells in symbols.items()
        for cell, cases in cells.items()
    ]
    return z3.And([bit for bit in same if bit is not True])


def test_generated_steps_are_no_empty_comparison():
    """Some of the generated steps are enabled, some leave the bounds."""
    in_bounds = out_of_bounds = below = 0
    for seed in range(100):
        instance, state = lab(seed)
        for transition in transitions(Interpreter(instance), state):
            in_bounds += transition.in_bounds
            out_of_bounds += not transition.in_bounds
            below += transition.below is not None
    assert in_bounds > 20
    assert out_of_bounds > 5
    assert below > 2
