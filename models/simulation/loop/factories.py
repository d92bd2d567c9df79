"""Tasks that a program's own factory makes: ``loop.set_task_factory`` is obeyed.

Sets of tasks must have the same order in every execution, and the hash of a task is its address. While a
factory runs, ``asyncio.Task`` is therefore a class whose hash is a number of the execution. A factory that
has kept another class gets what it asks for; where sets of such tasks are iterated, the order is that of
addresses, which the repeated runs of a search notice.
"""

import asyncio
import contextlib
import contextvars
import re
from collections.abc import Callable, Iterator
from typing import Any

from tidemark.models.simulation.loop.lane import Lane, LaneTask

Factory = Callable[..., Any]

_BY_ASYNCIO = re.compile(r"Task-\d+")
"""A name from the counter of asyncio, which differs from execution to execution."""


def made_by(
    factory: Factory,
    loop: asyncio.AbstractEventLoop,
    coroutine: Any,
    *,
    lane: Lane,
    name: str | None,
    context: contextvars.Context | None,
) -> "asyncio.Task[Any]":
    """Return the task that a factory of the program makes. Without a ``name`` of the program its name is a
    function of the history of its process, ``lane``.
    """
    number = len(lane.tasks) + 1
    with _numbered(loop, number):
        options = {} if context is None else {"context": context}
        task: asyncio.Task[Any] = factory(loop, coroutine, **options)
    if name is not None:
        task.set_name(name)
    elif _BY_ASYNCIO.fullmatch(task.get_name()):
        task.set_name(f"{lane.title}/task{number}")
    return task


@contextlib.contextmanager
def _numbered(loop: asyncio.AbstractEventLoop, number: int) -> Iterator[None]:
    """Let ``asyncio.Task`` be a class whose hash is a number."""

    class Task(LaneTask):
        """A task as a factory makes it: the arguments are those of ``asyncio.Task``."""

        def __init__(
            self, coro: Any, *, loop: Any = loop, name: str | None = None, context: Any = None
        ) -> None:
            title = name if name is not None else f"Task-{number}"
            super().__init__(coro, number, loop=loop, name=title, context=context)

    before = asyncio.Task
    asyncio.Task = asyncio.tasks.Task = Task  # type: ignore[misc]
    try:
        yield
    finally:
        asyncio.Task = asyncio.tasks.Task = before  # type: ignore[misc]
