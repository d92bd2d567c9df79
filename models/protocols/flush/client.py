"""The client of the flush program as a process of its own: it asks the coordinator and waits for the answer.

The coordinator answers when the flush is done. A client whose call fails asks again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from tidemark.impl.errors import RpcError
from tidemark.impl.timestamp import Timestamp
from tidemark.models.protocols.common.calls import remote
from tidemark.models.protocols.flush.ports import CLIENT, COORDINATOR, Repetitions

if TYPE_CHECKING:
    from tidemark.models.simulation.world.process import Process
    from tidemark.models.simulation.world.world import World

TOLD_MEANS_DURABLE = "told_means_durable"
"""Claim id: a client that is told that its flush is done finds the checkpoint at or beyond it."""

METHOD = "flush"


class Client:
    """The clients of one execution: a task for each flush that is wanted.

    Args:
        flushes: the flush timestamps.
        repetitions: how many failed calls are repeated.
        stored: the checkpoint that the coordinator has stored.

    Attributes:
        told: flush timestamps that the client was told are done.
        wrong: those of them that were not.
    """

    def __init__(
        self, flushes: tuple[Timestamp, ...], repetitions: Repetitions, *, stored: Callable[[], Timestamp]
    ) -> None:
        self.told: set[Timestamp] = set()
        self.wrong: set[Timestamp] = set()
        self._flushes = flushes
        self._repetitions = repetitions
        self._stored = stored
        self._world: World | None = None

    def build(self, world: World) -> None:
        """Define the process."""
        self._world = world
        world.process(CLIENT, self._run, daemon=True)

    def serve(self, process: Process, handler: Callable[[Timestamp], Awaitable[None]]) -> None:
        """Answer the calls of the client in a process, with a coroutine that returns when a flush is done."""
        process.serve(METHOD, handler)

    def state(self) -> tuple[tuple[Timestamp, ...], tuple[Timestamp, ...], int]:
        """Return what influences the future."""
        return tuple(sorted(self.told)), tuple(sorted(self.wrong)), self._repetitions.left

    def complaint(self) -> str | None:
        """Return what is wrong with what the client was told, or None."""
        if not self.wrong:
            return None
        return (
            f"{TOLD_MEANS_DURABLE}: the flush up to {min(self.wrong)} is not done, and its client is told so"
        )

    async def _run(self, process: Process) -> None:
        for flush_ts in self._flushes:
            process.spawn(self._flush(process, flush_ts), f"client {flush_ts}")

    async def _flush(self, process: Process, flush_ts: Timestamp) -> None:
        while True:
            try:
                await remote(process, COORDINATOR, METHOD, flush_ts)
            except RpcError:
                await self._repetitions.wait(process)
                continue
            break
        assert self._world is not None
        # Looked at in the client's step: what is seen must not depend on where the coordinator's are placed.
        self._world.touch(reads=self._world.interner.bit(COORDINATOR))
        self.told.add(flush_ts)
        if self._stored() < flush_ts:
            self.wrong.add(flush_ts)
