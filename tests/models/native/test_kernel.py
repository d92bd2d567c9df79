"""The kernel: every feature of the language against the interpreter, its cache, its pickled form."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tidemark.models.instance import BadInstance, Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.native.errors import NativeError
from tidemark.models.native.kernel import Conditions, Kernel, compile_kernel
from tidemark.spec.language.expr import Apply, Const, Expr, Read
from tidemark.spec.language.types import BOOL

FEATURES = "tests.protocols.features:Features"
WEIGHT = [[1, -2], [0, 3], [5, -7]]


def features(nodes: int, places: int) -> Instance:
    return Instance(
        FEATURES,
        {"Node": nodes, "Place": places, "Level": (-2, 3)},
        {"owner": [i % nodes for i in range(places + 1)], "weight": WEIGHT},
    )


@pytest.mark.parametrize(
    ("nodes", "places", "limit", "leaves"), [(2, 3, 700, True), (3, 20, 150, False), (1, 1, 400, True)]
)
def test_every_feature_state_by_state(nodes: int, places: int, limit: int, *, leaves: bool) -> None:
    """``leaves``: do steps leave the bounds among the states that are looked at?"""
    kernel = compile_kernel(features(nodes, places))
    interpreter, codec = kernel.interpreter, kernel.codec
    todo = list(interpreter.initial())
    assert codec.unpack_all(kernel.initial_block()) == todo
    seen, checked, out_of_bounds = set(todo), 0, 0
    while todo and checked < limit:
        found, failing = kernel.expand(codec.pack_all(todo)), kernel.check(codec.pack_all(todo))
        native: list[set[Any]] = [set() for _ in todo]
        rows = zip(
            codec.unpack_all(found.successors), found.parent.tolist(), found.step.tolist(), strict=True
        )
        for state, row, step in rows:
            native[row].add((interpreter.steps[step], state))
        generated = dict.fromkeys((action.name for action in interpreter.spec.actions), 0)
        fresh = []
        for row, state in enumerate(todo):
            transitions = list(interpreter.successors(state))
            assert native[row] == {(t.step, t.state) for t in transitions if t.in_bounds}
            assert bool(found.enabled[row]) == bool(transitions)
            for transition in transitions:
                generated[transition.step.action] += 1
                if transition.in_bounds and transition.state not in seen:
                    seen.add(transition.state)
                    fresh.append(transition.state)
            for number, claim in enumerate(kernel.state_claims):
                assert bool(int(failing[row, 0]) >> number & 1) != interpreter.holds(claim, state)
        assert found.generated.tolist() == list(generated.values())
        checked, out_of_bounds = checked + len(todo), out_of_bounds + int(found.out_of_bounds.sum())
        todo = fresh
    assert (out_of_bounds > 0) == leaves
    assert checked >= min(limit, len(seen))


def test_step_claims_are_reported_with_their_successor() -> None:
    kernel = compile_kernel(features(2, 3))
    interpreter = kernel.interpreter
    block = kernel.initial_block()
    for _ in range(2):
        block = np.unique(np.concatenate([block, kernel.expand(block).successors]), axis=0)
    found = kernel.expand(block)
    states = kernel.codec.unpack_all(block)
    expected = set()
    for index, claim in enumerate(kernel.step_claims):
        wanted = claim.kind == "reachable"
        for state in states:
            for t in interpreter.successors(state):
                if t.in_bounds and interpreter.holds(claim, state, t.state, t.step) == wanted:
                    expected.add(index)
    assert set(found.events) == expected
    assert expected
    for index, row in found.events.items():
        before = states[found.parent[row]]
        after, step = kernel.codec.unpack(found.successors[row]), kernel.steps[found.step[row]]
        claim = kernel.step_claims[index]
        assert interpreter.holds(claim, before, after, step) == (claim.kind == "reachable")


def test_blocks_of_any_size_give_the_same() -> None:
    kernel = compile_kernel(features(2, 3))
    block = kernel.expand(kernel.initial_block()).successors
    whole = kernel.expand(block)
    parts = [kernel.expand(block[i : i + 1]) for i in range(len(block))]
    assert sum(len(part.successors) for part in parts) == len(whole.successors)
    assert sum(int(part.generated.sum()) for part in parts) == int(whole.generated.sum())
    assert sorted(map(tuple, whole.successors.tolist())) == sorted(
        tuple(row) for part in parts for row in part.successors.tolist()
    )
    nothing = kernel.expand(block[:0])
    assert len(nothing.successors) == len(nothing.enabled) == 0


def test_guard_flags_tell_which_conjuncts_held() -> None:
    kernel = compile_kernel(features(2, 3))
    interpreter = kernel.interpreter
    found = kernel.expand(kernel.initial_block())
    flags = iter(found.guards.tolist())
    for action in interpreter.spec.actions:
        fired = found.generated[[a.name for a in interpreter.spec.actions].index(action.name)] > 0
        own = [next(flags) for _ in action.guards]
        assert all(own) or not fired
    assert not all(found.guards.tolist())  # in the initial states `back` finds nothing painted


def test_a_kernel_travels_as_its_instance() -> None:
    kernel = compile_kernel(features(2, 3))
    again: Kernel = pickle.loads(pickle.dumps(kernel))
    block = kernel.initial_block()
    assert np.array_equal(kernel.expand(block).successors, again.expand(block).successors)
    assert again.warm


def test_compiled_code_is_found_again_and_checked(tmp_path: Path) -> None:
    instance = Instance("tests.protocols.small:Lock", {"Process": 2})
    assert not compile_kernel(instance, folder=tmp_path).warm
    assert compile_kernel(instance, folder=tmp_path).warm
    file = next(tmp_path.glob("*.o"))
    file.write_bytes(file.read_bytes()[:-10])
    kernel = compile_kernel(instance, folder=tmp_path)
    assert not kernel.warm
    assert len(kernel.expand(kernel.initial_block()).successors) == 2


def test_variants_share_the_functions_that_are_the_same(tmp_path: Path) -> None:
    """One action differs: it and the function that calls all actions are compiled, nothing else."""
    one, two = (
        Instance(f"tests.protocols_proof.locks:{name}", {"Process": 2, "Ticket": 3})
        for name in ("TicketLock", "RushedLock")
    )
    compile_kernel(one, folder=tmp_path)
    before = set(tmp_path.glob("*.o"))
    shared = compile_kernel(two, folder=tmp_path)
    assert len(set(tmp_path.glob("*.o")) - before) == 2
    block = shared.expand(shared.expand(shared.initial_block()).successors).successors
    here, alone = shared.expand(block), compile_kernel(two, folder=tmp_path / "alone").expand(block)
    assert np.array_equal(here.successors, alone.successors)
    assert np.array_equal(here.step, alone.step)
    assert here.generated.tolist() == alone.generated.tolist()


def test_a_folder_that_cannot_be_written_costs_only_speed(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    kernel = compile_kernel(Instance("tests.protocols.small:Lock", {"Process": 2}), folder=blocked)
    assert len(kernel.expand(kernel.initial_block()).successors) == 2


def test_broken_assumptions_and_wrong_blocks_are_errors() -> None:
    kernel = compile_kernel(Instance("tests.protocols.small:Lock", {"Process": 2}))
    with pytest.raises(ValueError, match="a block of 1 uint64 words"):
        kernel.expand(np.zeros((1, 2), dtype=np.uint64))
    with pytest.raises(BadInstance, match="first_position_is_empty"):
        compile_kernel(
            Instance(
                "tidemark.spec.flush:Flush",
                {"Segment": 1, "Position": 1, "Copies": 1, "Faults": 1},
                {"carries": [True, True], "segment_of": [0, 0], "ask_up_to": 1},
            )
        )


def test_more_conditions_than_a_word_has_bits() -> None:
    instance = features(2, 3)
    here = next(v for v in instance.spec.variables if v.name == "here")
    tests: list[Expr] = [
        Apply(BOOL, "le", (Read(here.type, here), Const(here.type, i - 40))) for i in range(100)
    ]
    block = compile_kernel(instance).initial_block()
    found = Conditions(instance, tests).evaluate(block)
    assert found.shape == (len(block), 2)
    bits = [int(found[0, i // 64]) >> (i % 64) & 1 for i in range(100)]
    state = next(Interpreter(instance).initial())
    assert bits == [int(Interpreter(instance).evaluate(test, state)) for test in tests]


def test_numbers_beyond_62_bits_are_refused() -> None:
    instance = features(2, 3)
    level = next(v for v in instance.spec.variables if v.name == "level")
    huge: Expr = Read(level.type, level)
    for _ in range(7):
        huge = Apply(level.type, "mul", (huge, Const(level.type, 1000)))
    with pytest.raises(NativeError, match="beyond 62 bits"):
        Conditions(instance, [Apply(BOOL, "lt", (huge, Read(level.type, level)))])
