"""Edges of a plain event loop: real waiting, no preemption, and a supervisor for a node's tasks."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

Work = Callable[[], Coroutine[Any, Any, None]]
Spawn = Callable[[Work, str], object]
"""Start work as a task of the process, under a name."""


class AsyncioClock:
    """Waits on the running event loop."""

    async def sleep(self, seconds: float) -> None:
        """Wait in real time."""
        await asyncio.sleep(seconds)


class NoPreemption:
    """Points that do nothing: asyncio does not preempt."""

    async def point(self, name: str) -> None:
        """Do nothing."""


class Supervisor:
    """Owns the tasks of one process and keeps the first failure of any of them.

    A failed task is never silent: the failure is raised by ``check`` and by ``wait_failed``.
    """

    def __init__(self) -> None:
        self.failure: BaseException | None = None
        self._tasks: dict[asyncio.Task[None], str] = {}
        self._failed = asyncio.Event()

    def spawn(self, work: Work, name: str) -> asyncio.Task[None]:
        """Start ``work`` as a task. Its coroutine is made when the task first runs, if it ever does."""
        task = asyncio.get_running_loop().create_task(self._guard(work), name=name)
        self._tasks[task] = name
        return task

    async def _guard(self, work: Work) -> None:
        try:
            await work()
        except asyncio.CancelledError:
            raise
        except Exception as failure:  # noqa: BLE001 - any error is the process's failure
            if self.failure is None:
                self.failure = failure
            self._failed.set()
        finally:
            current = asyncio.current_task()
            if current is not None:
                self._tasks.pop(current, None)

    def check(self) -> None:
        """Raise the first failure, if there was one."""
        if self.failure is not None:
            raise self.failure

    async def wait_failed(self) -> None:
        """Wait until some task fails, then raise its failure."""
        await self._failed.wait()
        self.check()

    async def stop(self) -> None:
        """Cancel every task except the caller's and wait for their ends."""
        current = asyncio.current_task()
        others = [task for task in self._tasks if task is not current]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        for task in others:
            self._tasks.pop(task, None)
