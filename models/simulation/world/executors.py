"""Functions that run in an executor: each is one scheduled step, which may come at any later time.

A thread of an executor begins at once and runs on when its caller is cancelled; only its result is dropped
then. The loop hears of the result as it does in asyncio: by a callback of a later pass. What a function does
is not interrupted by anything: interleavings inside of it are not explored.
"""

import asyncio
import functools
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor  # here: its module is loaded when it is named first
from typing import Any

from tidemark.models.simulation.loop.event_loop import ControlledLoop
from tidemark.models.simulation.loop.lane import Event

Outcome = tuple[Any, BaseException | None]


def start_thread(
    events: dict[str, Event],
    loop: ControlledLoop,
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    *,
    executor: object,
) -> "asyncio.Future[Any]":
    """Add the step that runs a function to ``events``, and return the future of its result, of which the
    current process of the loop hears. ``executor``: None for that of the loop.
    """
    if isinstance(executor, ProcessPoolExecutor):
        raise loop.refusal("run_in_executor with another process")
    lane = loop.current
    future: asyncio.Future[Any] = loop.create_future()
    label = f"thread {_name(function, arguments)} {lane.title}#{lane.next_number()}"

    def fire() -> None:
        del events[label]
        loop.call_soon(_hand_over, future, _run(loop, function, arguments))

    events[label] = Event(label, lane, fire)
    return future


def _name(function: Callable[..., Any], arguments: tuple[Any, ...]) -> str:
    """Return the name of what runs; that of what ``asyncio.to_thread`` was given, which it wraps."""
    inner: Any = function
    while isinstance(inner, functools.partial):
        inner, arguments = inner.func, (*inner.args, *arguments)
        if getattr(inner, "__name__", "") == "run" and arguments:
            inner, arguments = arguments[0], arguments[1:]
    return str(getattr(inner, "__qualname__", type(inner).__qualname__))


def _run(loop: ControlledLoop, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Outcome:
    """Run a function as in a thread: there is no running loop."""
    asyncio._set_running_loop(None)  # noqa: SLF001  # documented for authors of event loops
    try:
        return function(*arguments), None
    except BaseException as error:  # noqa: BLE001  # whatever it raises belongs to the waiting code
        return None, error
    finally:
        asyncio._set_running_loop(loop)  # noqa: SLF001  # as above


def _hand_over(future: "asyncio.Future[Any]", outcome: Outcome) -> None:
    result, error = outcome
    if future.done():
        return
    if error is not None:
        future.set_exception(error)
    else:
        future.set_result(result)
