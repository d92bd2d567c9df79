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


def test_read_outside_gives_the_initial_value(corners, start):
    found = after(corners, start, "read_beyond")
    assert found.in_bounds
    assert corners.decode(found.state)["seen"] == "on"


def test_read_outside_of_an_open_map_gives_the_first_value(corners, start):
    assert corners.decode(after(corners, start, "read_beyond_open").state)["seen"] == "off"


def test_a_new_value_outside_leaves_the_instance(corners, start):
    assert not after(corners, start, "write_beyond").in_bounds


def test_the_old_value_outside_does_not(corners, start):
    found = after(corners, start, "write_the_same_beyond")
    assert found.in_bounds
    assert corners.decode(found.state)["row"] == {0: "on", 1: "on"}


def test_a_later_read_sees_an_earlier_write_outside(corners, start):
    found = after(corners, start, "write_and_read")
    assert not found.in_bounds
    assert corners.decode(found.state)["seen"] == "lost"


def test_numbers_beyond_the_bounds_leave_the_instance(corners, start):
    once = after(corners, start, "climb")
    assert once.in_bounds
    assert not after(corners, once.state, "climb").in_bounds
    down = after(corners, start, "fall")
    assert down.in_bounds
    assert not after(corners, down.state, "fall").in_bounds


def test_a_constant_beyond_the_bounds_may_be_read(corners, start):
    up = after(corners, start, "climb").state
    assert corners.decode(after(corners, up, "weigh", 0).state)["deep"] == -1
    assert not after(corners, up, "weigh", 1).in_bounds


def test_entries_are_assigned_in_sequence(corners, start):
    found = corners.decode(after(corners, start, "swap").state)["row"]
    assert found == {0: "on", 1: "lost"}


def test_a_step_that_is_not_enabled(corners, start):
    assert after(corners, start, "clear") is None
    assert corners.failing_guard(start, Step("clear")) == 'require(s.seen == "on")'
    ready = after(corners, start, "read_beyond").state
    assert corners.failing_guard(ready, Step("clear")) is None
    assert corners.decode(after(corners, ready, "clear").state)["row"] == {0: "off", 1: "off"}


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
    first = next(iter(interpreter.initial()))
    taken = interpreter.apply(first, Step("take", (0, 2)))
    assert taken is not None
    assert interpreter.decode(taken.state)["head"] == 2
    assert interpreter.holds(interpreter.spec.property("head_is_late"), taken.state)
    busy = interpreter.spec.property("few_busy")
    assert interpreter.evaluate(busy.expr, taken.state) is True
    back = interpreter.apply(taken.state, Step("reset"))
    assert back is not None
    assert interpreter.decode(back.state)["taken"] == {0: False, 1: False, 2: False}


def test_two_initial_states_of_stations():
    small = Instance(Stations.reference(), {"Station": 1, "Place": 2, "Balance": (-1, 0)},
                     {"route": [0, 0, 0], "capacity": 1}, "stations")  # fmt: skip
    interpreter = Interpreter(small)
    starts = [interpreter.decode(state)["start"] for state in interpreter.initial()]
    assert starts == [0, 1]


def test_simultaneous_and_sequential_assignment():
    interpreter = Interpreter(Instance(Flags.reference()))
    (first,) = interpreter.initial()
    assert after(interpreter, first, "swap").state == (False, True)
    assert after(interpreter, first, "copy").state == (False, False)
