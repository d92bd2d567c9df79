"""Remote calls between parts of one process, with deadlines, and with the errors of a network."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from tidemark.impl.errors import RpcError, RpcTimeoutError, StoreError

Answer = TypeVar("Answer")


class Calls:
    """Runs handlers in tasks of their own: a caller that gives up does not stop the callee."""

    def __init__(self) -> None:
        self.running: dict[asyncio.Task[Any], str] = {}

    async def call(
        self, handler: Coroutine[Any, Any, Answer], *, name: str, deadline: float | None
    ) -> Answer:
        """Run a handler within the deadline, in seconds. A store that fails is a failed call."""
        task = asyncio.get_running_loop().create_task(handler, name=name)
        self.running[task] = name
        task.add_done_callback(self._done)
        try:
            async with asyncio.timeout(deadline):
                return await asyncio.shield(task)
        except TimeoutError as late:
            raise RpcTimeoutError(f"{name}: no answer within {deadline} s; its outcome is unknown") from late
        except StoreError as failure:
            raise RpcError(f"{name} failed: {failure}; repeat the call") from failure

    def _done(self, task: asyncio.Task[Any]) -> None:
        del self.running[task]
        if not task.cancelled():
            # The caller may have given up; then no other code would retrieve the failure.
            task.exception()
