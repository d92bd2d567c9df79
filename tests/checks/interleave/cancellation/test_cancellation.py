"""What a cancellation is: whom it reaches, what is told of it, and what is left when main has ended."""

import asyncio

import pytest

from tidemark.checks.interleave import (
    CannotBeExploredError,
    OrderError,
    Status,
    explore,
    explore_coroutine,
    replay_coroutine,
    require_every_order,
)
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.simulation import (
    FaultBudget,
    Process,
    Program,
    ProgramError,
    ProgramRef,
    Settings,
    World,
)

HERE = "tests.checks.interleave.cancellation.test_cancellation"


async def two_awaits() -> str:
    reached = ["start"]

    async def work() -> None:
        await asyncio.sleep(1)
        reached.append("middle")
        await asyncio.sleep(1)
        reached.append("end")

    await asyncio.wait([asyncio.create_task(work())])
    return reached[-1]


def test_any_task_is_cancelled_at_any_await_and_the_budget_is_kept():
    assert explore_coroutine(two_awaits).finals == {"end"}
    one = explore_coroutine(two_awaits, cancellations=1)
    assert one.status is Status.EXHAUSTED
    assert one.finals == {None, "start", "middle", "end"}  # None: main is the task that was cancelled
    two = explore_coroutine(two_awaits, cancellations=2)
    assert two.statistics.executions > one.statistics.executions
    with pytest.raises(BadInputError, match="-1 cancellations"):
        explore_coroutine(two_awaits, cancellations=-1)


async def mishandles() -> None:
    async def work() -> None:
        try:
            await asyncio.sleep(1)
        except asyncio.CancelledError:
            raise KeyError("rolled back twice") from None

    async with asyncio.timeout(5):
        await asyncio.gather(work())


def test_the_report_says_what_was_cancelled_which_timer_fired_and_where_it_failed():
    with pytest.raises(OrderError) as failure:
        require_every_order(mishandles, cancellations=1)
    told = str(failure.value)
    line = mishandles.__code__.co_firstlineno
    assert (
        f"timer main#1: due at 5 s, ends the time of main/main in mishandles (test_cancellation.py:{line + 8}"
        in told
    )
    assert "main/task2 ended with KeyError" in told
    assert "traceback of main/main, the innermost call last:" in told
    assert (
        f'test_cancellation.py:{line + 5} in mishandles.<locals>.work: raise KeyError("rolled back twice")'
        in told
    )
    assert "CancelledError" not in told  # the program hides it: `from None`
    token = told.rpartition("replay token: ")[2]
    violation = replay_coroutine(mishandles, token, cancellations=1).violation
    assert violation is not None
    assert "rolled back twice" in violation.message


async def needs_its_helper() -> None:
    turn = asyncio.Event()

    async def helper() -> None:
        await asyncio.sleep(1)
        turn.set()

    kept = asyncio.create_task(helper())
    await turn.wait()
    await kept


def test_a_cancelled_task_is_told_with_the_await_at_which_it_waited():
    with pytest.raises(OrderError) as failure:
        require_every_order(needs_its_helper, cancellations=1)
    told = str(failure.value)
    assert (
        "cancel main/task2: is cancelled where it waits, main/task2 in needs_its_helper.<locals>.helper"
        in told
    )
    assert "main/task2 ended, cancelled" in told


async def waits_for_a_fault() -> None:
    await asyncio.get_running_loop().create_future()


def test_a_fault_is_no_rescue():
    """Without a cancellation nothing can happen any more: that one is possible changes nothing."""
    for budget in (0, 1):
        result = explore_coroutine(waits_for_a_fault, cancellations=budget)
        assert result.first().violation.kind == "deadlock"


async def leaves_work(*, cancels: bool) -> None:
    async def save() -> None:
        await asyncio.sleep(1)

    task = asyncio.create_task(save())
    await asyncio.sleep(0)
    if cancels:
        task.cancel()


async def leaves_and_cancels() -> None:
    await leaves_work(cancels=True)


async def leaves_and_forgets() -> None:
    await leaves_work(cancels=False)


def test_what_is_left_is_cancelled_as_asyncio_run_does_and_lost_work_is_found():
    assert explore_coroutine(leaves_and_cancels).status is Status.EXHAUSTED
    lost = explore_coroutine(leaves_and_forgets).first().violation
    assert lost.kind == "task-leak"
    assert "leaves_work.<locals>.save" in lost.message
    with pytest.raises(OrderError, match="main/task2 ended, cancelled"):
        require_every_order(leaves_and_forgets)


async def reads_a_file() -> None:
    with open(__file__, encoding="utf-8"):  # noqa: ASYNC230, PTH123
        pass


def test_what_the_simulation_refuses_is_not_called_wrong():
    result = explore_coroutine(reads_a_file)
    assert result.status is Status.UNEXPLORABLE
    assert str(result.status) == "cannot be explored"
    assert "open" in result.reason
    with pytest.raises(CannotBeExploredError, match="reads_a_file cannot be explored") as failure:
        require_every_order(reads_a_file)
    assert failure.value.exit_code.name == "INCONCLUSIVE"


class Served(Program):
    """A server whose handler waits, and a client that must get an answer."""

    def __init__(self, cancellable: tuple[str, ...]) -> None:
        self.settings = Settings(faults=FaultBudget(cancellations=1), cancellable=frozenset(cancellable))
        self.answer = ""

    def build(self, world: World) -> None:
        world.process("server", self.serve, daemon=True)
        world.process("client", self.ask)

    async def serve(self, process: Process) -> None:
        async def handle() -> str:
            await process.point("work")
            return "done"

        process.serve("work", handle)

    async def ask(self, process: Process) -> None:
        try:
            self.answer = await process.call("server", "work")
        except ConnectionError as error:
            self.answer = str(error)

    def final(self) -> str:
        return self.answer


def test_tasks_of_a_program_of_several_processes_are_cancelled_too():
    finals = {
        name: explore(ProgramRef.of(f"{HERE}:Served", cancellable=[name])).finals
        for name in ("server", "client")
    }
    assert finals["server"] == {"done", "server gave up 'work' of client"}
    assert finals["client"] == {"done", ""}
    with pytest.raises(ProgramError, match="cancellable names no process: 'nobody'"):
        explore(ProgramRef.of(f"{HERE}:Served", cancellable=["nobody"]))


async def is_cancelled_by_a_timer() -> None:
    async def work() -> None:
        await asyncio.sleep(5)

    worker = asyncio.create_task(work())
    asyncio.get_running_loop().call_later(1, worker.cancel)
    await asyncio.wait([worker])
    assert not worker.cancelled()


def test_a_timer_that_cancels_is_told_as_what_it_is():
    with pytest.raises(OrderError, match="assert not worker") as failure:
        require_every_order(is_cancelled_by_a_timer)
    assert "due at 1 s, calls cancel of main/task2 in is_cancelled_by_a_timer.<locals>.work" in str(
        failure.value
    )
