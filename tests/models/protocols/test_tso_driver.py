"""Scripted runs of the driven oracle: each step must be offered and come out as specified."""

from __future__ import annotations

from typing import ClassVar

import pytest

from tidemark.models.conformance import ConformanceRun, Mismatch
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.mutation.patches import put_in
from tidemark.models.protocols.tso.driver import TsoAdapter
from tidemark.models.protocols.tso.driver_world import scenario_of
from tidemark.models.protocols.tso.mutants import implementation as tso_impl
from tidemark.models.protocols.tso.ports import SharedStore
from tidemark.models.protocols.tso.scenario import OracleScenario
from tidemark.models.refinement.step import StepChecker

_SIZE = OracleScenario(clocks=(((0,), (0,)),) * 2, calls=((0, 1),) * 2, millisecond=2, interval=4)
_INSTANCE = _SIZE.instance("tidemark.spec.tso:Tso", last=16)
_LEADS = "elect 0, load 0, start_decide 0 2, start_save 0, start_publish 0"
_EXTENDS = "read_clock 0 0 8, decide 0 0"


@pytest.fixture(scope="module")
def checker() -> StepChecker:
    return StepChecker(_INSTANCE)


def _perform(
    checker: StepChecker,
    text: str,
    *,
    adapter: type[TsoAdapter] = TsoAdapter,
    chances: dict[int, int] | None = None,
) -> dict[str, object]:
    """Run a script; returns the last abstract state by variable name."""
    run = ConformanceRun(checker, lambda: adapter(_INSTANCE, checker))
    try:
        run.begin()
        for place, line in enumerate(text.split(",")):
            name, *arguments = line.split()
            step = Step(name, tuple(map(int, arguments)))
            assert step in run.offered(name), f"{step} is not offered after {run.moves}"
            run.do(step, (chances or {}).get(place, 0))
        return checker.interpreter.decode(run.states[-1])
    finally:
        run.close()


def test_a_leader_hands_out_and_extends_its_window(checker: StepChecker) -> None:
    state = _perform(
        checker,
        f"{_LEADS}, begin 0 0 2, load_object 0, allocate 0, {_EXTENDS}, save 0 0, publish 0 0,"
        "begin 1 0 1, load_object 1, allocate 1",
    )
    assert (state["saved"], state["current"]) == (12, {0: 8, 1: 0})
    assert (state["last"], state["object"]) == ({0: 2, 1: 1}, {0: 2, 1: 8})
    assert state["precedes"] == {(0, 0): False, (0, 1): True, (1, 0): False, (1, 1): False}


@pytest.mark.parametrize("chance", [0, 1], ids=["it notices the end of its lease", "it is killed"])
def test_a_server_follows_another(checker: StepChecker, chance: int) -> None:
    state = _perform(
        checker,
        f"{_LEADS}, crash 0, expire, elect 1, load 1, start_decide 1 0, start_save 1, start_publish 1,"
        "begin 0 1 1, load_object 0, allocate 0",
        chances={5: chance},
    )
    assert (state["role"], state["current"]) == ({0: "stopped", 1: "serving"}, {0: 0, 1: 8})


def test_a_save_of_the_dead_arrives_late(checker: StepChecker) -> None:
    state = _perform(checker, f"{_LEADS}, {_EXTENDS}, crash 0, lose_save 0 0", chances={7: 1})
    assert (state["saved"], state["role"]) == (12, {0: "stopped", 1: "new"})


@pytest.mark.parametrize("lost", ["fail_start_save 0", "lose_start_save 0"])
def test_a_first_save_that_fails_ends_the_server(checker: StepChecker, lost: str) -> None:
    state = _perform(checker, f"elect 0, load 0, start_decide 0 2, {lost}, expire, elect 1")
    assert state["role"] == {0: "stopped", 1: "elected"}
    assert state["saved"] == (6 if lost.startswith("lose") else 0)


def test_a_full_counter_sends_the_call_back_and_moves_the_time(checker: StepChecker) -> None:
    state = _perform(
        checker,
        f"{_LEADS}, begin 0 0 3, load_object 0, allocate 0, begin 1 0 1, load_object 1, allocate 1,"
        "read_clock 0 0 0, decide 0 0, save 0 0, publish 0 0, load_object 1, allocate 1",
    )
    assert state["call"] == {0: "answered", 1: "answered"}
    assert (state["object"], state["last"]) == ({0: 2, 1: 4}, {0: 3, 1: 1})


def test_a_call_gives_up_after_its_tries(checker: StepChecker) -> None:
    again = "load_object 0, allocate 0"
    state = _perform(checker, f"{_LEADS}, begin 0 0 4, {again}, {again}, fail 0")
    assert state["call"] == {0: "failed", 1: "new"}


class PlainPut(TsoAdapter):
    store: ClassVar[type[SharedStore]] = tso_impl.PlainPut


@pytest.mark.parametrize(
    ("bug", "script", "seen"),
    [
        ("guard-zero", f"{_LEADS}, read_clock 0 0 3, decide 0 0", "stage"),
        ("overflow-is-not-checked", f"{_LEADS}, begin 0 0 4, load_object 0, allocate 0", "call"),
        ("load-error-is-fresh", "elect 0, fail_load 0", "role"),
        ("save-error-is-swallowed", f"{_LEADS}, {_EXTENDS}, fail_save 0 0", "stage"),
        ("the-dead-answer", f"{_LEADS}, begin 0 0 1, load_object 0, crash 0, fail 0", "call"),
        ("last-is-taken-for-the-first", f"{_LEADS}, begin 0 0 2, load_object 0, allocate 0", "last"),
    ],
)
def test_a_planted_bug_is_seen(checker: StepChecker, bug: str, script: str, seen: str) -> None:
    _perform(checker, script.rpartition(",")[0])
    put_in(next(patch for patch in tso_impl.MUTANTS if patch.name == bug))
    with pytest.raises(Mismatch, match=seen):
        _perform(checker, script)


def test_a_store_that_takes_a_smaller_end_is_seen(checker: StepChecker) -> None:
    script = f"{_LEADS}, read_clock 0 0 9, decide 0 0, lose_save 0 0, {_EXTENDS}, save 0 0"
    _perform(checker, script.rpartition(",")[0])
    with pytest.raises(Mismatch, match="saved: 13 -> 12"):
        _perform(checker, script, adapter=PlainPut)


def test_a_layout_of_timestamps_that_it_does_not_have_is_refused() -> None:
    stamp = list(range(17))
    other = Instance(_INSTANCE.protocol, _INSTANCE.bounds, {**_INSTANCE.constants, "stamp": stamp}, "other")
    with pytest.raises(ValueError, match="instance 'other': stamp is"):
        scenario_of(other)
