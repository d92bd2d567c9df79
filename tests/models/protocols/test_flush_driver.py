"""Scripted runs of the driven flush implementation: each step must be offered and come out as specified."""

from __future__ import annotations

import pytest

from tidemark.models.conformance import ConformanceRun, Mismatch, again, shortest
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.mutation.patches import restore
from tidemark.models.protocols.flush.driver import FlushAdapter
from tidemark.models.protocols.flush.driver_world import scenario_of
from tidemark.models.protocols.flush.mutants import driven
from tidemark.models.refinement.step import StepChecker

_BOUNDS = {"Segment": 1, "Position": 2, "Copies": 2, "Faults": 1}
_INSTANCE = Instance(
    "tidemark.spec.flush:Flush",
    _BOUNDS,
    {"carries": [False, True, False], "segment_of": [0, 0, 0], "ask_up_to": 2},
    "idle-tail",
)


def _script(text: str) -> list[Step]:
    """Steps from words like ``upload 0 1``; ``due`` and ``early`` stand for the Boolean parameter."""
    words = {"due": True, "early": False}
    steps = []
    for line in text.split(","):
        name, *args = line.split()
        steps.append(Step(name, tuple(words[arg] if arg in words else int(arg) for arg in args)))
    return steps


_PLANTED = {patch.name: patch for patch in driven.MUTANTS}


def _as_written(checker: StepChecker) -> FlushAdapter:
    """The adapter of the implementation without what another one has planted."""
    restore()
    return FlushAdapter(_INSTANCE, checker)


@pytest.fixture(scope="module")
def checker() -> StepChecker:
    return StepChecker(_INSTANCE, ignored=FlushAdapter.ignored)


def _perform(checker: StepChecker, text: str, *, chances: dict[int, int] | None = None) -> dict[str, object]:
    """Run a script; returns the last abstract state by variable name."""
    run = ConformanceRun(checker, lambda: FlushAdapter(_INSTANCE, checker))
    try:
        run.begin()
        for place, step in enumerate(_script(text)):
            assert step in run.offered(step.action), f"{step} is not offered after {run.moves}"
            run.do(step, (chances or {}).get(place, 0))
        return checker.interpreter.decode(run.states[-1])
    finally:
        run.close()


_SYNC = "sync_full 0, upload 0 1, send_save 0 1"
_DONE = f"{_SYNC}, record 0 1, finish_sync 0 1"
_TICK = "read_checkpoint, submit_checkpoint"


def test_a_flush_runs_to_its_end(checker: StepChecker) -> None:
    state = _perform(
        checker,
        f"consume, {_SYNC}, record 0 1, finish_sync 0 1, {_TICK} due, ask_flush 1, deliver_flush 1,"
        f"consume, {_TICK} early, send_by_signal, store 2, confirm_flush 1, ack, read_flush_ts,"
        "clear_flush_ts, clean_up",
    )

    assert state["stored"] == 2
    assert state["flush_ts"] == 0
    assert state["request"] == {0: "none", 1: "confirmed", 2: "none"}


def test_a_sealed_segment_is_flushed(checker: StepChecker) -> None:
    state = _perform(
        checker,
        f"consume, {_SYNC}, record 0 1, finish_sync 0 1, seal 0, {_TICK} due, consume, sync_sealed 0,"
        "upload 0 2, send_save 0 2, record 0 2, finish_sync 0 2",
    )

    assert state["flushed"] == {0: True}
    assert state["phase"] == {0: "flushed"}


def test_a_late_save_does_the_work_of_its_repetition(checker: StepChecker) -> None:
    """The first save is delivered while the second one is under way."""
    state = _perform(
        checker, f"consume, {_SYNC}, lose_save 0 1, send_save 0 1, record 0 1, lose_save 0 1, send_save 0 1"
    )

    assert state["copies"] == {0: 0, 1: 1, 2: 0}
    assert state["task"][0, 1] == "sending"  # type: ignore[index]  # a map variable


def test_a_late_checkpoint_may_be_stored_between_question_and_start_of_recovery(checker: StepChecker) -> None:
    state = _perform(
        checker,
        f"consume, {_SYNC}, record 0 1, finish_sync 0 1, {_TICK} due, send_by_ticker, crash, store 1,"
        "recover 0",
        chances={9: 1},
    )

    assert state["stored"] == 1
    assert state["consumed"] == 0


def test_a_refused_save_is_lost_and_repeated(checker: StepChecker) -> None:
    """Chance lets the save arrive while the channel is taken away."""
    state = _perform(
        checker,
        f"consume, {_SYNC}, unassign, lose_save 0 1, assign, send_save 0 1, record 0 1, finish_sync 0 1",
        chances={4: 1},
    )

    assert state["copies"] == {0: 0, 1: 1, 2: 0}
    assert state["assigned"] is True


_TWO_FLUSHES = f"consume, {_DONE}, {_TICK} due, ask_flush 1, ask_flush 2, deliver_flush 1"
_OLD_REPORT = f"consume, {_TICK} due, send_by_ticker, fail_rpc, {_DONE}, ask_flush 1, deliver_flush 1"
_REPORT = f"consume, {_TICK} early, send_by_signal, store 2"
_IN_A_ROUND = f"consume, {_DONE}, {_TICK} due, send_by_ticker, ask_flush 1, deliver_flush 1"


@pytest.mark.parametrize(
    ("adapter", "script", "seen"),
    [
        (
            "recovery-boundary-is-strict",
            f"consume, {_DONE}, crash, recover 0, consume",
            "held[1]: none -> buffered",
        ),
        ("save-of-a-dead-incarnation-counts", f"consume, {_SYNC}, crash, recover 0", "copies[1]: 0 -> 1"),
        (
            "syncs-of-a-segment-overtake",
            f"consume, sync_full 0, {_TICK} due, seal 0, consume, sync_sealed 0",
            "task[0, 2]",
        ),
        ("rounds-overlap", f"{_IN_A_ROUND}, consume, {_TICK} early", "rpc_position: 1 -> 2"),
        (
            "flush-ts-is-cleared-blindly",
            f"{_TWO_FLUSHES}, {_REPORT}, ack, read_flush_ts, deliver_flush 2, clear_flush_ts",
            "flush_ts: 2 -> 0",
        ),
        ("smaller-checkpoint-is-stored", f"{_OLD_REPORT}, {_REPORT}", "stored: 2 -> 0"),
    ],
)
def test_a_planted_bug_shows_in_the_last_step(
    checker: StepChecker, adapter: str, script: str, seen: str
) -> None:
    """With some chance of the last step; the correct implementation passes with each."""
    *first, last = _script(script)
    told = []
    for chance in range(6):
        moves = [*((step, 0) for step in first), (last, chance)]
        right = again(moves, checker, lambda: _as_written(checker))
        assert (right.mismatch, right.moves) == (None, moves)
        told.append(str(again(moves, checker, lambda: _PLANTED[adapter](_INSTANCE, checker)).mismatch))

    assert any(seen in text for text in told), told


def test_a_failing_run_is_shortened(checker: StepChecker) -> None:
    long = _script("ask_flush 1, consume, deliver_flush 1, ask_flush 2, sync_full 0, read_checkpoint")
    failing = again(
        [(step, 1) for step in long],
        checker,
        lambda: _PLANTED["checkpoint-ignores-in-flight"](_INSTANCE, checker),
    )
    assert isinstance(failing.mismatch, Mismatch)

    short = shortest(
        failing, lambda: _PLANTED["checkpoint-ignores-in-flight"](_INSTANCE, checker), attempts=100
    )

    assert [(str(step), chance) for step, chance in short.moves] == [
        ("consume()", 0),
        ("sync_full(0)", 0),
        ("read_checkpoint()", 0),
    ]
    assert short.mismatch is not None
    assert "tick_position: 0 -> 1" in str(short.mismatch)


def test_a_segment_without_rows_is_refused() -> None:
    constants = {"carries": [False, True, False], "segment_of": [0, 0, 0], "ask_up_to": 1}
    instance = Instance("tidemark.spec.flush:Flush", {**_BOUNDS, "Segment": 2}, constants, "empty-segment")

    with pytest.raises(ValueError, match="give each segment a row"):
        scenario_of(instance)


@pytest.mark.parametrize(
    ("chance", "fault"),
    [(6, "duplicates"), (7, "storage_failures"), (8, "torn_writes"), (9, "storage_lost_acks")],
)
def test_a_chance_stands_for_a_fault_that_happens(checker: StepChecker, chance: int, fault: str) -> None:
    """The fault changes nothing in the abstract state, and is counted; the run goes on to its end."""
    run = ConformanceRun(checker, lambda: FlushAdapter(_INSTANCE, checker))
    try:
        run.begin()
        for place, step in enumerate(_script(f"consume, {_DONE}, {_TICK} due, consume")):
            assert step in run.offered(step.action)
            # A write is under way after the second step, a save after the fourth one.
            run.do(step, chance if place in {1, 3} else 0)
        happened = {name for name, times in run.faults().items() if times}
    finally:
        run.close()

    assert happened == {fault}


def test_a_lost_request_is_repeated(checker: StepChecker) -> None:
    """With chance 1 a loss is the last kind that is possible: the request vanishes."""
    run = ConformanceRun(checker, lambda: FlushAdapter(_INSTANCE, checker))
    try:
        run.begin()
        for step in _script(f"consume, {_SYNC}, lose_save 0 1, send_save 0 1, record 0 1, finish_sync 0 1"):
            assert step in run.offered(step.action)
            run.do(step, 1 if step.action == "lose_save" else 0)
        happened = {name for name, times in run.faults().items() if times}
    finally:
        run.close()

    assert happened == {"drops"}
    assert checker.interpreter.decode(run.states[-1])["copies"] == {0: 0, 1: 1, 2: 0}


def test_a_copy_that_is_taken_for_a_new_save_shows(checker: StepChecker) -> None:
    """The save is doubled when it is sent, and the copy arrives after the answer: without it all is well."""
    steps = _script(f"consume, {_DONE}")
    for chance, seen in ((0, "None"), (6, "copies[1]: 1 -> 2")):
        doubled = [(step, chance if step.action == "send_save" else 0) for step in steps[:-1]]
        moves = [*doubled, (steps[-1], 1)]
        right = again(moves, checker, lambda: _as_written(checker))
        assert (right.mismatch, right.moves) == (None, moves)
        wrong = again(moves, checker, lambda: _PLANTED["repeated-save-appends"](_INSTANCE, checker))
        assert seen in str(wrong.mismatch)


def test_a_torn_upload_that_counts_as_done_shows(checker: StepChecker) -> None:
    for chance, seen in ((0, "None"), (7, "queued -> uploaded"), (8, "queued -> uploaded")):
        moves = [(step, 0) for step in _script("consume")] + [(_script("sync_full 0")[0], chance)]
        right = again(moves, checker, lambda: _as_written(checker))
        assert (right.mismatch, right.moves) == (None, moves)
        wrong = again(moves, checker, lambda: _PLANTED["upload-error-is-swallowed"](_INSTANCE, checker))
        assert seen in str(wrong.mismatch)
