"""The proxy's side of ids: it fetches a batch ahead, and tasks and rows get their ids from it.

Callers are served in order. The proxy fetches a batch in a task of its own, so that a cancelled caller loses
none. If the fetch fails, all callers that wait at that time get the error, and none waits for a second
time-out.
"""

import asyncio
from dataclasses import dataclass, field
from functools import partial

from tidemark.impl.errors import RpcError
from tidemark.impl.ports import Preemption
from tidemark.impl.proxy.ports import IdSource
from tidemark.impl.runtime import Spawn
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.timestamp import Batch


@dataclass(eq=False)
class IdRequest:
    """Ids for one caller.

    runs: what was given so far, each of them consecutive ids.
    failure: why there are no more; empty if no fetch has failed while it waited.
    """

    wanted: int
    runs: list[Batch] = field(default_factory=list)
    failure: str = ""

    @property
    def missing(self) -> int:
        """How many ids are still missing."""
        return self.wanted - sum(run.last - run.first + 1 for run in self.runs)


class IdCache:
    """The ids of one proxy in one session. It is lost with the process: a new one fetches its own.

    left: the unused rest of the last batch; None without one.
    waiting: requests that have not all their ids, in the order in which they came.
    """

    def __init__(
        self, *, source: IdSource, preemption: Preemption, spawn: Spawn, batch: int, deadline: float
    ) -> None:
        """``batch``: how many ids a fetch asks for at least. ``deadline``: of a fetch, in seconds."""
        self.left: Batch | None = None
        self.waiting: list[IdRequest] = []
        self.turn = SteppedLock(preemption)
        self.asking = False
        self._source = source
        self._preemption = preemption
        self._spawn = spawn
        self._batch = batch
        self._deadline = deadline
        self._answered = asyncio.Event()

    async def take(self, count: int) -> tuple[Batch, ...]:
        """Return ``count`` new ids, as runs of consecutive ones. Errors as for ``fill``.

        They are not in the order in which they are given: another proxy has other batches.
        """
        if count < 1:
            raise ValueError(f"count must be at least 1, got {count}")
        request = IdRequest(count)
        await self.fill(request)
        return tuple(request.runs)

    async def fill(self, request: IdRequest) -> None:
        """Give a request its ids. Raise RpcError if some are missing; the given ones are then not used."""
        self.waiting.append(request)
        try:
            async with self.turn.holding("ids.turn"):
                while request.missing:
                    await self._wait(request)
                    self._cut(request)
        finally:
            self.waiting.remove(request)

    def _cut(self, request: IdRequest) -> None:
        assert self.left is not None
        first, last = self.left
        run = Batch(first, min(last, first + request.missing - 1))
        self.left = Batch(run.last + 1, last) if run.last < last else None
        request.runs.append(run)

    async def _wait(self, request: IdRequest) -> None:
        """Return when ids are left. It is the turn of this request."""
        while self.left is None or request.failure:
            if request.failure:
                raise RpcError(f"no ids from the root coordinator: {request.failure}; ask again later")
            self._ask(max(request.missing, self._batch))
            await self._answered.wait()
            await self._preemption.point("ids.give")

    def _ask(self, count: int) -> None:
        if not self.asking:
            self.asking = True
            self._answered.clear()
            self._spawn(partial(self._fetch, count), "ids")

    async def _fetch(self, count: int) -> None:
        await self._preemption.point("ids.ask")
        try:
            self.left = await self._source.allocate(count, deadline=self._deadline)
        except RpcError as error:
            self.fail(str(error))
        else:
            self.asking = False
            self._answered.set()

    def fail(self, why: str) -> None:
        """Refuse the waiting requests: the fetch has failed, or its task was cancelled."""
        for request in self.waiting:
            request.failure = why
        self.asking = False
        self._answered.set()
