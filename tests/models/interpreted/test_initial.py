"""Initial states are found without trying everything, and they are those that trying everything gives."""

import itertools
from typing import Any

import pytest

from tests.protocols.corners import Corners, Impossible, Openings
from tests.protocols.known.processes import CoffeeCan, DiningPhilosophers, SpanningTree
from tests.protocols.known.queues import InnerFifo
from tests.protocols.small import Lock
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.spec.language.types import MapType

PAIR = [[False, True], [True, False]]
INSTANCES = [
    Instance(Openings.reference(), {"Place": 2, "Node": 2}, {"home": 1}, "openings"),
    Instance(Impossible.reference(), {"Place": 2, "Node": 2}, {"home": 1}, "impossible"),
    Instance(Corners.reference(), {"Node": 2, "Place": 1, "Depth": (-1, 2)}, {"weights": [[0, -1], [2, 3]]}),
    Instance(InnerFifo.reference(), {"Slot": 1, "Value": 2}),
    Instance(DiningPhilosophers.reference(), {"Seat": 2}, {"last": 2}),
    Instance(CoffeeCan.reference(), {"Bean": 9}, {"most": 8}),
    Instance(SpanningTree.reference(), {"Node": 2, "Distance": 6}, {"root": 0, "edge": PAIR}),
]


def by_trying_everything(interpreter: Interpreter) -> list[Any]:
    """All values of all open variables, filtered."""
    choices: list[list[Any]] = []
    for variable in interpreter.spec.variables:
        kind, value = variable.type, interpreter.spec.initial[variable.name]
        scalar = kind.value if isinstance(kind, MapType) else kind
        values = interpreter.instance.domain(scalar).values if value is None else (value,)
        if isinstance(kind, MapType):
            entries = len(list(interpreter.instance.entries(kind)))
            choices.append(list(itertools.product(values, repeat=entries)))
        else:
            choices.append(list(values))
    return [
        state
        for state in itertools.product(*choices)
        if all(interpreter.evaluate(condition, state) for condition in interpreter.spec.initially)
    ]


@pytest.mark.parametrize("instance", INSTANCES, ids=lambda instance: instance.protocol.partition(":")[2])
def test_initial_states_are_those_of_trying_everything(instance: Instance) -> None:
    interpreter = Interpreter(instance)
    assert list(interpreter.initial()) == by_trying_everything(interpreter)


def test_a_determined_map_is_not_tried_with_every_value() -> None:
    """Five nodes have 5**5 parents and 7**5 distances, of which one assignment is initial."""
    edges = [[a != b for b in range(5)] for a in range(5)]
    instance = Instance(SpanningTree.reference(), {"Node": 5, "Distance": 6}, {"root": 2, "edge": edges})
    assert list(Interpreter(instance).initial()) == [((0, 1, 2, 3, 4), (6, 6, 0, 6, 6))]


def test_openings_have_some_states_and_the_impossible_has_none() -> None:
    some, none = (len(list(Interpreter(instance).initial())) for instance in INSTANCES[:2])
    assert some == 4  # who of two is at home, and where the other one is
    assert none == 0


def test_a_state_of_many_entries_is_no_deep_recursion() -> None:
    lock = Instance(Lock.reference(), {"Process": 3_000})
    assert list(Interpreter(lock).initial()) == [(("resting",) * 3_000, False)]
