"""Traps of asyncio that a controlled loop must show: timers, cancellation, state that frames do not show."""

import asyncio
import sys

import pytest

from tests.models.simulation.solo import Solo
from tidemark.checks.interleave import Options, Reduction, explore
from tidemark.models.simulation import Cell, Order, Process, Program, ProgramRef, Settings, World

HERE = "tests.models.simulation.test_asyncio_traps:"


class EqualDeadlines(Solo):
    """Three timers with one deadline."""

    async def main(self, process: Process) -> None:
        async def sleeper(number: int) -> None:
            await asyncio.sleep(1.0)
            self.log.append(number)

        await asyncio.gather(*(sleeper(number) for number in range(3)))


def test_equal_deadlines_fire_in_any_order():
    assert len(explore(ProgramRef.of(f"{HERE}EqualDeadlines")).finals) == 6


class Ticker(Solo):
    """A ticker that never ends, and a budget for it."""

    def __init__(self, firings: int | None) -> None:
        super().__init__()
        self.settings = Settings(timer_firings=firings)

    async def main(self, process: Process) -> None:
        while True:
            await asyncio.sleep(1.0)
            self.log.append(process.now())


def test_a_budget_of_timer_firings_bounds_a_ticker_and_is_no_deadlock():
    result = explore(ProgramRef.of(f"{HERE}Ticker", firings=3))
    assert result.finals == {(1, 2, 3)}
    assert result.status.value == "exhausted"
    assert result.statistics.timer_bounded == 1
    assert "at most 3 timer firings" in result.bounds


def test_a_ticker_without_a_budget_is_cut_and_inconclusive():
    result = explore(ProgramRef.of(f"{HERE}Ticker", firings=None))
    assert result.status.value == "inconclusive"
    assert "cut" in result.reason


class LostResult(Solo):
    """A result arrives, and the waiter is cancelled before it wakes: the result is lost."""

    def __init__(self, order: str) -> None:
        super().__init__()
        self.settings = Settings(order=Order(order))

    async def main(self, process: Process) -> None:
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()

        async def waiter() -> None:
            self.log.append(await future)

        task = asyncio.create_task(waiter())

        async def settle() -> None:
            await process.point("settle")
            future.set_result("value")

        async def cancel() -> None:
            await process.point("cancel")
            task.cancel()

        await asyncio.gather(settle(), cancel(), task, return_exceptions=True)


def test_a_cancelled_waiter_loses_a_result_that_was_set():
    """With single callbacks as steps, the cancellation also falls between the result and the wake-up."""
    assert explore(ProgramRef.of(f"{HERE}LostResult", order="atomic")).finals == {(), ("value",)}
    fine = explore(ProgramRef.of(f"{HERE}LostResult", order="fifo"), Options(classes=True))
    assert fine.finals == {(), ("value",)}
    assert len(fine.classes) > 2


class HiddenState(Program):
    """The position of an iteration is on the evaluation stack only; frames do not show it."""

    def build(self, world: World) -> None:
        self.cell = Cell(world, "x", 0)

        async def main(_process: Process) -> None:
            for _ in iter([7] * 3):
                value = await self.cell.load()
                await self.cell.store(value + 1)

        world.process("a", main)
        world.process("b", main)

    def final(self) -> object:
        return self.cell.value


def test_state_on_the_evaluation_stack_is_not_confused():
    reduced = explore(ProgramRef.of(f"{HERE}HiddenState"))
    full = explore(ProgramRef.of(f"{HERE}HiddenState"), Options(reduction=Reduction.NONE))
    assert reduced.finals == full.finals == {2, 3, 4, 5, 6}
    assert reduced.statistics.executions < full.statistics.executions == 924


class DeclaredHiddenState(HiddenState):
    """Promises that the cell and the places where its tasks wait are all that matters."""

    def declared(self) -> object:
        return self.cell.value


def test_a_search_that_merges_states_sees_the_evaluation_stack():
    """The two tasks wait at the same line with the same locals in each turn of their loops."""
    merged = explore(ProgramRef.of(f"{HERE}DeclaredHiddenState"), Options(reduction=Reduction.STATES))
    assert merged.finals == {2, 3, 4, 5, 6}
    assert merged.statistics.merged > 0


@pytest.mark.parametrize("order", list(Order))
def test_the_order_is_part_of_the_claim(order):
    assert order.value in Settings(order=order).text()


class Generators(Solo):
    """Leaves an asynchronous generator in the middle: the loop closes it, in the lane of its process."""

    async def main(self, process: Process) -> None:
        async def numbers():
            try:
                for number in range(3):
                    yield number
            finally:
                self.log.append("closed")

        async for _ in numbers():
            break
        await process.point("meanwhile")
        self.log.append("ended")


def test_asynchronous_generators_are_closed_by_the_controlled_loop():
    before = sys.get_asyncgen_hooks()
    assert explore(ProgramRef.of(f"{HERE}Generators")).finals == {("closed", "ended")}
    assert sys.get_asyncgen_hooks() == before
