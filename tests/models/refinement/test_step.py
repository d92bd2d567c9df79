"""The step checker tells stutters, steps and everything else apart, and says how near a wrong step came."""

import pytest

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.models.refinement.step import MappingError, Matched, Refuted, StepChecker, Stutter

INSTANCE = Instance(
    "tidemark.spec.flush:Flush",
    {"Segment": 1, "Position": 2, "Copies": 2, "Faults": 1},
    {"carries": [False, True, True], "segment_of": [0, 0, 0], "ask_up_to": 1},
)


@pytest.fixture(name="checker")
def _checker() -> StepChecker:
    return StepChecker(INSTANCE, ignored=("faults",))


def _start() -> tuple[object, ...]:
    return next(iter(Interpreter(INSTANCE).initial()))


def _after(*steps: Step) -> tuple[object, ...]:
    interpreter, state = Interpreter(INSTANCE), _start()
    for step in steps:
        found = interpreter.apply(state, step)
        assert found is not None, step
        state = found.state
    return state


CONSUME = Step("consume")
SYNC = Step("sync_full", (0,))


def test_no_change_is_a_stutter(checker: StepChecker) -> None:
    assert checker.check(_start(), _start()) == Stutter()


def test_a_step_of_the_specification_is_named(checker: StepChecker) -> None:
    assert checker.check(_start(), _after(CONSUME)) == Matched(CONSUME)
    assert checker.matched == {"consume": 1}


def test_two_steps_at_once_are_refused_with_the_nearest_one(checker: StepChecker) -> None:
    answer = checker.check(_start(), _after(CONSUME, SYNC))
    assert isinstance(answer, Refuted)
    assert answer.claim == "refinement"
    assert "held[1]: none -> syncing" in answer.text
    assert "nearest is consume()" in answer.text


def test_a_step_that_breaks_an_invariant_names_it(checker: StepChecker) -> None:
    before = _after(CONSUME)
    values = checker.interpreter.decode(before)
    values["stored"] = 1
    answer = checker.check(before, checker.encode(values))
    assert isinstance(answer, Refuted)
    assert answer.claim == "flush.checkpoint_before_earliest_unsynced"
    assert "stored: 0 -> 1" in answer.text


def test_a_step_whose_guard_fails_names_the_conjunct(checker: StepChecker) -> None:
    before = _after(CONSUME, SYNC)
    values = checker.interpreter.decode(before)
    values["task"][0, 1] = "sending"
    answer = checker.check(before, checker.encode(values))
    assert isinstance(answer, Refuted)
    assert "send_save(0, 1) would, but is not enabled" in answer.text
    assert "uploaded" in answer.text


def test_ignored_variables_do_not_count(checker: StepChecker) -> None:
    before = _after(CONSUME)
    crashed = checker.normal(_after(CONSUME, Step("crash")))
    assert checker.check(checker.normal(before), crashed) == Matched(Step("crash"))


def test_the_first_state_must_be_initial(checker: StepChecker) -> None:
    assert checker.start(checker.normal(_start())) is None
    answer = checker.start(checker.normal(_after(CONSUME)))
    assert answer is not None
    assert "consumed: 0 -> 1" in answer.text


def test_an_unknown_variable_to_ignore_is_an_error() -> None:
    with pytest.raises(ValueError, match="no variable 'fault'"):
        StepChecker(INSTANCE, ignored=("fault",))


def test_a_wait_for_any_value_is_a_wait() -> None:
    """Whoever waits may be the second one."""
    checker = StepChecker(Instance("tests.protocols.small:Lock", {"Process": 2}))
    start = next(iter(checker.interpreter.initial()))
    waits = checker.interpreter.apply(start, Step("ask", (1,)))
    assert waits is not None
    assert checker.unmet("lock.served", start) is None
    assert checker.unmet("lock.served", waits.state) == "p=1"
    assert checker.unmet("lock.asked", waits.state) == "p=0"


def test_a_key_that_a_map_of_two_sorts_lacks_is_named_with_all_that_it_has() -> None:
    checker = StepChecker(
        Instance("tests.protocols.corners:Given", {"Node": 2, "Place": 2}, {"home": [0, 1]})
    )
    values = checker.interpreter.decode(next(iter(checker.interpreter.initial())))
    with pytest.raises(MappingError, match=r"`seen` lacks the key \(0, 1\): give all of 0\.\.1 x 0\.\.2"):
        checker.encode(values | {"seen": {(0, 0): False}})
