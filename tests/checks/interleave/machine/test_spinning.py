"""Code that never suspends: the step is ended, and the task, the file and the line are named."""

import asyncio
import re
import threading
from typing import Any

import pytest

from tidemark.checks.interleave import (
    ExecutionLimits,
    Exploration,
    Options,
    OrderError,
    Reduction,
    Status,
    explore,
    explore_coroutine,
    replay_coroutine,
    require_every_order,
)
from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datanode.checkpoint_updater import CheckpointUpdater
from tidemark.impl.runtime import NoPreemption
from tidemark.models.mutation.source.planting import exchanged
from tidemark.models.simulation import Process, Program, ProgramError, ProgramRef, World, spinning

HERE = "tests.checks.interleave.machine.test_spinning"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spinning, "STEP_SECONDS", 0.3)
    monkeypatch.setattr(spinning, "_LOOK", 0.05)


async def waits_for_what_is_set() -> None:
    told = asyncio.Event()
    told.set()
    await asyncio.sleep(1)
    while True:
        await told.wait()


async def counts_for_ever() -> None:
    number = 0
    await asyncio.sleep(1)
    while number >= 0:
        number += 1


async def awaits_what_is_done() -> None:
    done = asyncio.get_running_loop().create_future()
    done.set_result(None)
    while True:
        await done


async def takes_no_end_for_an_answer() -> None:
    told = asyncio.Event()
    told.set()
    while True:
        try:
            await told.wait()
        except BaseException:  # noqa: BLE001
            continue


async def spins_in_a_callback() -> None:
    def call() -> None:
        while True:
            pass

    asyncio.get_running_loop().call_soon(call)
    await asyncio.sleep(1)


@pytest.mark.parametrize(
    "function",
    [
        waits_for_what_is_set,
        counts_for_ever,
        awaits_what_is_done,
        takes_no_end_for_an_answer,
        spins_in_a_callback,
    ],
    ids=lambda function: function.__name__,
)
def test_a_step_that_does_not_end_is_ended(function) -> None:
    result = explore_coroutine(function)
    assert result.status is Status.REFUTED
    violation = result.first().violation
    assert violation.kind == "spin"
    assert "main" in violation.message
    told = re.search(r" at test_spinning\.py:(\d+) in ", violation.message)
    assert told is not None
    assert 0 < int(told[1]) - function.__code__.co_firstlineno < 8
    assert function.__name__ in violation.message
    assert "0.3 s of processor time in one step" in violation.message
    again = replay_coroutine(function, result.first().token).violation
    assert again is not None
    assert again.identity == violation.identity


async def leaves_callbacks_behind() -> None:
    told = asyncio.Event()
    told.set()
    while True:
        await told.wait()
        asyncio.get_running_loop().call_soon(told.clear)


async def leaves_timers_behind() -> None:
    while True:
        asyncio.get_running_loop().call_later(1, print)


@pytest.mark.parametrize(
    "function", [leaves_callbacks_behind, leaves_timers_behind], ids=lambda f: f.__name__
)
def test_what_it_leaves_behind_is_bounded_and_it_ends_at_the_same_place(function, monkeypatch) -> None:
    monkeypatch.setattr(spinning, "STEP_SECONDS", 1e9)
    first, second = (explore_coroutine(function).first().violation for _ in range(2))
    assert first == second
    assert first.kind == "spin"
    assert f"{spinning.WAITING + 1} " in first.message
    with pytest.raises(OrderError, match=r"test_spinning.py:\d+ in leaves_"):
        require_every_order(function)


class Impatient(Program):
    """A process that spins before its first wait, or after it."""

    def __init__(self, *, at_once: bool) -> None:
        self.at_once = at_once

    def build(self, world: World) -> None:
        world.process("worker", self.worker)

    async def worker(self, process: Process) -> None:
        if not self.at_once:
            await process.point("begin")
        while True:
            pass


@pytest.mark.parametrize("at_once", [False, True])
def test_a_process_before_and_after_its_first_wait(*, at_once: bool) -> None:
    found = explore(ProgramRef.of(f"{HERE}:Impatient", at_once=at_once)).first()
    assert found.violation.kind == "spin"
    assert "worker/main runs on without suspending at test_spinning.py:" in found.violation.message
    assert len(found.picks) == (0 if at_once else 1)


class Endless(Program):
    """Code that the program calls beside the steps of its process does not end."""

    def __init__(self, *, at: str) -> None:
        self.at = at
        self.begun = False

    def call(self, at: str) -> None:
        while self.at == at and self.begun:
            pass

    def build(self, world: World) -> None:
        self.begun = self.at == "build"
        self.call("build")
        world.process("worker", self.worker)

    async def worker(self, process: Process) -> None:
        try:
            await process.point("begin")
            self.begun = True
            await process.point("end")
        finally:
            self.call("finally")

    def observe(self) -> dict[str, bool]:
        self.call("observe")
        return {"worker": False}

    def declared(self) -> bool:
        self.call("declared")
        return self.begun

    def check_rest(self) -> None:
        self.call("rest")

    def final(self) -> None:
        self.call("final")


def endless(*, at: str) -> Program:
    return Endless(at=at)


@pytest.mark.parametrize("at", ["observe", "declared", "rest", "final"])
def test_what_a_program_reads_of_the_implementation_ends_too(at: str) -> None:
    program = ProgramRef.of(f"{HERE}:endless", at=at)
    result = explore(program, Options(reduction=Reduction.STATES, stop_at_violation=False))
    assert result.status is Status.REFUTED
    assert result.first().violation.kind == "spin"
    assert re.search(r" at test_spinning\.py:\d+ in Endless.call: 0.3 s ", result.first().violation.message)


def test_a_program_that_cannot_be_built_is_not_refuted() -> None:
    with pytest.raises(ProgramError, match=r" at test_spinning\.py:\d+ in Endless.call: 0.3 s "):
        explore(ProgramRef.of(f"{HERE}:endless", at="build"))


def test_what_is_left_behind_and_does_not_end_is_told() -> None:
    options = Options(limits=ExecutionLimits(steps=1))
    with pytest.raises(ProgramError, match=r"taken down: worker.* at test_spinning\.py:\d+ in Endless"):
        explore(ProgramRef.of(f"{HERE}:endless", at="finally"), options)


def test_a_search_in_another_thread_is_watched_too() -> None:
    seen: list[Exploration] = []
    worker = threading.Thread(target=lambda: seen.append(explore_coroutine(counts_for_ever)))
    worker.start()
    worker.join(60)
    assert seen[0].first().violation.kind == "spin"
    assert not [thread for thread in threading.enumerate() if thread.name == "tidemark step watch"]


def test_a_signal_of_the_implementation_that_is_cleared_too_late() -> None:
    """The plant: the loop that waits for the signal finds it set each time, and never waits."""

    def take_flagged(self):  # runs with the globals of its module
        import asyncio

        asyncio.get_running_loop().call_soon(self.signal.clear)
        return []

    async def signalled() -> None:
        ports: Any = None  # nothing is reported
        updater = CheckpointUpdater(
            coordinator=ports, clock=ports, preemption=NoPreemption(), config=DataNodeConfig()
        )
        updater.signal.set()
        await asyncio.create_task(updater.run_signal(), name="checkpoint signal")

    with exchanged(CheckpointUpdater._take_flagged, take_flagged.__code__):  # type: ignore[arg-type]
        found = explore_coroutine(signalled).first().violation
    assert found.kind == "spin"
    assert "checkpoint signal runs on without suspending at " in found.message


async def works_long() -> int:
    """Much work, in many steps: no single one is long."""
    total = 0
    for _ in range(20):
        total += sum(number for number in range(60_000))
        await asyncio.sleep(0)
    return total


def test_long_work_that_suspends_is_not_blamed() -> None:
    assert explore_coroutine(works_long).status is Status.EXHAUSTED
