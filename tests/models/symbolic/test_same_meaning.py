"""Both encodings mean what the interpreter means, on generated expressions and actions."""

import random
from dataclasses import replace

import pytest
import z3
from hypothesis import given
from hypothesis import strategies as st

from tests.models.native.expression_trees import Generator
from tidemark.models.instance import Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Transition
from tidemark.models.symbolic import bits
from tidemark.models.symbolic.enumerate import Enumerator
from tidemark.models.symbolic.finite import SymbolicInstance
from tidemark.models.symbolic.hints import is_true, new_solver
from tidemark.spec.language.render import render
from tidemark.spec.language.types import BOOL

pytestmark = pytest.mark.proof

BOUNDS = {"Node": 2, "Place": 2, "Level": (-2, 2), "Wide": (-3, 3)}
CONSTANTS = {"owner": [0, 1, 1], "weight": [[1, -2], [0, 2], [2, -1]]}
SEEDS = st.integers(0, 1 << 32)


def lab(seed: int, *, actions: int = 0) -> tuple[Instance, Generator]:
    """An instance of the bench whose actions are generated."""
    instance = Instance("tests.protocols.lab:Lab", BOUNDS, CONSTANTS, f"lab-{seed}")  # type: ignore[arg-type]
    draw = Generator(instance, random.Random(seed))
    made = tuple(draw.action(f"action_{i}", depth=3) for i in range(actions))
    instance.__dict__["spec"] = replace(instance.spec, actions=made or instance.spec.actions, properties=())
    return instance, draw


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
    instance, draw = lab(seed)
    interpreter, z3_reading = Interpreter(instance), Enumerator(instance)
    for kind in (BOOL, *(k for k in instance.spec.types if k.name != "Wide")):
        expr, state = draw.scalar(kind, 4, ()), draw.state()
        assert z3_reading.evaluate(expr, state) == interpreter.evaluate(expr, state), render(expr)


@given(seed=SEEDS)
def test_first_order_steps(seed):
    instance, draw = lab(seed, actions=2)
    interpreter, z3_reading = Interpreter(instance), Enumerator(instance)
    state = draw.state()
    expected = {t.step: t.state for t in transitions(interpreter, state) if t.in_bounds}
    assert z3_reading.successors(state) == expected


@given(seed=SEEDS)
def test_propositional_values_of_a_known_state(seed):
    instance, draw = lab(seed)
    interpreter, space = Interpreter(instance), SymbolicInstance(instance)
    for kind in (BOOL, *(k for k in instance.spec.types if k.name != "Wide")):
        expr, state = draw.scalar(kind, 4, ()), draw.state()
        here = known_state(space, state)
        frame = replace(_frame(), before=here, after=here)
        assert space.finite.cases(expr, frame) == {interpreter.evaluate(expr, state): True}, render(expr)


@given(seed=SEEDS)
def test_propositional_steps_of_an_arbitrary_state(seed):
    instance, draw = lab(seed, actions=2)
    interpreter, space = Interpreter(instance), SymbolicInstance(instance)
    state = draw.state()
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


def _frame():
    from tidemark.models.symbolic.finite import Frame

    return Frame({}, {}, {})


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
        instance, draw = lab(seed, actions=2)
        for transition in transitions(Interpreter(instance), draw.state()):
            in_bounds += transition.in_bounds
            out_of_bounds += not transition.in_bounds
            below += transition.below is not None
    assert in_bounds > 20
    assert out_of_bounds > 5
    assert below > 2
