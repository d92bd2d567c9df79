"""The meaning: domains, reads and writes outside, overflow, initial states, witnesses, encoding."""

from typing import Any

import pytest

from tests.protocols.corners import Corners, Flags
from tests.protocols.stations import Stations
from tidemark.models.instance import Bound, Instance
from tidemark.models.interpreted.evaluate import State
from tidemark.models.interpreted.interpreter import Interpreter, Step

BOUNDS: dict[str, Bound] = {"Node": 2, "Place": 1, "Depth": (-1, 2)}
WEIGHTS = [[0, -1], [2, 3]]


@pytest.fixture(scope="module")
def corners() -> Interpreter:
    return Interpreter(Instance(Corners.reference(), BOUNDS, {"weights": WEIGHTS}, "corners"))


@pytest.fixture
def start(corners):
    return corners.encode(
        {
            "at": 0,
            "deep": 0,
            "row": {0: "on", 1: "on"},
            "free": {0: False, 1: False},
            "maybe": {0: "off", 1: "off"},
            "seen": "off",
        }
    )


def after(interpreter: Interpreter, state: State, name: str, *args: Any) -> Any:
    return interpreter.apply(state, Step(name, args))


STEPS: dict[str, tuple[str, bool, dict[str, Any]]] = {
    "a read outside gives the initial value": ("read_beyond", True, {"seen": "on"}),
    "of an open map the first value": ("read_beyond_open", True, {"seen": "off"}),
    "a new value outside leaves the instance": ("write_beyond", False, {}),
    "the old value outside does not": ("write_the_same_beyond", True, {"row": {0: "on", 1: "on"}}),
    "a later read sees an earlier write outside": ("write_and_read", False, {"seen": "lost"}),
    "the greatest number": ("climb", True, {}),
    "a greater one": ("climb, climb", False, {}),
    "the least number": ("fall", True, {}),
    "one below": ("fall, fall", False, {}),
    "a constant beyond the bounds may be read": ("climb, weigh 0", True, {"deep": -1}),
    "and not be assigned": ("climb, weigh 1", False, {}),
    "entries are assigned in sequence": ("swap", True, {"row": {0: "on", 1: "lost"}}),
    "a step that an earlier one enables": ("read_beyond, clear", True, {"row": {0: "off", 1: "off"}}),
}
"""Steps from the start; whether the last one stays within the bounds, and what it leaves."""


@pytest.mark.parametrize("what", STEPS)
def test_what_a_step_does(corners, start, what):
    steps, in_bounds, left = STEPS[what]
    for name, *args in map(str.split, steps.split(", ")):
        found = after(corners, start, name, *map(int, args))
        start = found.state
    assert found.in_bounds == in_bounds
    assert corners.decode(start).items() >= left.items()


def test_a_step_that_is_not_enabled(corners, start):
    assert after(corners, start, "clear") is None
    assert corners.failing_guard(start, Step("clear")) == 'require(s.seen == "on")'
    ready = after(corners, start, "read_beyond").state
    assert corners.failing_guard(ready, Step("clear")) is None


def test_initial_states_range_over_anything_that_is_allowed(corners):
    found = [corners.decode(state) for state in corners.initial()]
    assert len(found) == 4 * 2
    assert {(s["free"][0], s["free"][1]) for s in found} == {(a, b) for a in (0, 1) for b in (0, 1)}
    assert {(s["maybe"][0], s["maybe"][1]) for s in found} == {("off", "off"), ("off", "on")}


def test_successors_come_in_declared_order(corners, start):
    names = [str(t.step) for t in corners.successors(start)]
    assert names[:3] == ["read_beyond()", "read_beyond_open()", "write_beyond()"]
    assert names[7:9] == ["weigh(0)", "weigh(1)"]
    assert "clear()" not in names
    assert [str(step) for step in corners.steps].count("weigh(1)") == 1


def test_witness_speaks_about_its_own_action_only(corners, start):
    prop = corners.spec.property("weighs_negative")
    up = after(corners, start, "climb").state
    low = after(corners, up, "weigh", 0).state
    assert corners.holds(prop, up, low, Step("weigh", (0,)))
    assert not corners.holds(prop, up, low, Step("fall"))
    assert not corners.holds(prop, start, start, Step("weigh", (0,)))


def test_invariant_and_liveness(corners, start):
    prop = corners.spec.property("not_lost")
    assert corners.holds(prop, start)
    assert not corners.holds(prop, after(corners, start, "write_and_read").state)
    with pytest.raises(ValueError, match="speaks about runs"):
        corners.holds(corners.spec.property("ends"), start)


def test_encode_is_the_inverse_of_decode(corners, start):
    assert corners.encode(corners.decode(start)) == start
    with pytest.raises(KeyError):
        corners.encode({"at": 0})


def test_evaluate_takes_parameters_by_name(corners, start):
    weigh = corners.spec.action("weigh")
    deep = next(v for v in corners.spec.variables if v.name == "deep")
    assert corners.evaluate(weigh.update_of(deep), start, node=1) == 2


def test_quantifiers_range_over_the_instance():
    small = Instance(Stations.reference(), {"Station": 1, "Place": 2, "Balance": (-1, 0)},
                     {"route": [0, 0, 0], "capacity": 1}, "stations")  # fmt: skip
    interpreter = Interpreter(small)
    first, second = interpreter.initial()
    assert [interpreter.decode(state)["start"] for state in (first, second)] == [0, 1]
    taken = interpreter.apply(first, Step("take", (0, 2)))
    assert taken is not None
    assert interpreter.decode(taken.state)["head"] == 2
    assert interpreter.holds(interpreter.spec.property("head_is_late"), taken.state)
    busy = interpreter.spec.property("few_busy")
    assert interpreter.evaluate(busy.expr, taken.state) is True
    back = interpreter.apply(taken.state, Step("reset"))
    assert back is not None
    assert interpreter.decode(back.state)["taken"] == {0: False, 1: False, 2: False}


def test_simultaneous_and_sequential_assignment():
    interpreter = Interpreter(Instance(Flags.reference()))
    (first,) = interpreter.initial()
    assert after(interpreter, first, "swap").state == (False, True)
    assert after(interpreter, first, "copy").state == (False, False)
