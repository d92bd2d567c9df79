"""Functions in executors are scheduled steps, and a program's task factory is obeyed."""

import asyncio
import concurrent.futures
import contextvars
import time
from typing import Any

import pytest

from tidemark.checks.interleave import Options, OrderError, Status, explore_coroutine, require_every_order

WHERE: contextvars.ContextVar[str] = contextvars.ContextVar("where", default="nowhere")


async def counts_in_threads() -> int:
    """The read and the write are two functions: another thread may run between them."""
    counter = {"value": 0}

    async def add() -> None:
        value = await asyncio.to_thread(counter.__getitem__, "value")
        await asyncio.to_thread(counter.__setitem__, "value", value + 1)

    await asyncio.gather(add(), add())
    return counter["value"]


def test_functions_run_in_any_order_and_each_as_one_step():
    result = explore_coroutine(counts_in_threads)
    assert result.finals == {1, 2}
    assert "each function in an executor as one step" in result.bounds


async def adds_in_one_function() -> int:
    counter = {"value": 0}
    loop = asyncio.get_running_loop()

    def add(amount: int) -> None:
        counter["value"] += amount

    with concurrent.futures.ThreadPoolExecutor() as pool:
        await asyncio.gather(loop.run_in_executor(pool, add, 1), loop.run_in_executor(None, add, 2))
    return counter["value"]


def test_a_function_is_not_interrupted():
    assert require_every_order(adds_in_one_function).finals == {3}


async def gives_up_on_a_thread() -> tuple[str, bool]:
    """The caller stops to wait; the thread does not stop."""
    done: list[str] = []

    def save() -> None:
        time.sleep(1)
        with pytest.raises(RuntimeError, match="no running event loop"):
            asyncio.get_running_loop()
        done.append("saved")

    try:
        async with asyncio.timeout(1):
            await asyncio.to_thread(save)
        return ("in time", bool(done))
    except TimeoutError:
        return ("late", bool(done))


def test_a_thread_runs_on_when_nobody_waits_for_it():
    found = explore_coroutine(gives_up_on_a_thread).finals
    assert found == {("in time", True), ("late", True), ("late", False)}


async def passes_context_and_errors() -> str:
    WHERE.set("main")
    assert await asyncio.to_thread(WHERE.get) == "main"
    try:
        await asyncio.to_thread(int, "x")
    except ValueError as error:
        return str(error)
    return ""


def test_context_and_errors_pass_through():
    found = require_every_order(passes_context_and_errors).finals
    assert found == {"invalid literal for int() with base 10: 'x'"}


async def fails_in_a_thread() -> None:
    def load() -> None:
        raise LookupError("gone")

    await asyncio.to_thread(load)


def test_the_report_names_the_function():
    with pytest.raises(OrderError, match=r"thread fails_in_a_thread.<locals>.load main#1") as failure:
        require_every_order(fails_in_a_thread)
    assert "LookupError: gone" in str(failure.value)


async def uses_another_process() -> None:
    pool = object.__new__(concurrent.futures.ProcessPoolExecutor)
    await asyncio.get_running_loop().run_in_executor(pool, len, ())


def test_another_process_is_refused():
    result = explore_coroutine(uses_another_process)
    assert result.status is Status.UNEXPLORABLE
    assert "run_in_executor with another process" in result.reason


async def has_a_factory() -> tuple[str, ...]:
    made: list[str] = []

    def factory(loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> "asyncio.Task[Any]":
        task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=loop, **options)
        made.append(task.get_name())
        return task

    asyncio.get_running_loop().set_task_factory(factory)
    done, _ = await asyncio.wait([asyncio.create_task(asyncio.sleep(0)) for _ in range(8)])
    named = asyncio.create_task(asyncio.sleep(0), name="named")
    await named
    assert isinstance(named, asyncio.Task)
    assert len(made) == 9
    return (*(task.get_name() for task in done), named.get_name())


def test_a_task_factory_is_obeyed_and_sets_of_its_tasks_keep_their_order():
    results = [explore_coroutine(has_a_factory, options=Options(check_every=1)).finals for _ in range(3)]
    assert len(results[0]) == 1
    assert results[0] == results[1] == results[2]
    (names,) = results[0]
    assert isinstance(names, tuple)
    assert sorted(names) == [*(f"main/task{number}" for number in range(2, 10)), "named"]
