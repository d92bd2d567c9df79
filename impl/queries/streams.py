"""The streams of a proxy for queries: made, removed, and closed when no request uses them any more."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from enum import Enum
from typing import Any

from tidemark.impl.errors import ImplementationError
from tidemark.impl.ports import Preemption
from tidemark.impl.queries.values import QueryCoordinatorClient, Writer

Spawn = Callable[[Callable[[], Coroutine[Any, Any, None]], str], asyncio.Task[None]]
"""Starts a task of the process: its work, and its name."""


class StreamPhase(Enum):
    """Stage of a stream."""

    NEW = "new"
    ASKED = "asked"
    OPEN = "open"
    REMOVED = "removed"
    CLOSED = "closed"


class QueryStream:
    """The stream of one collection.

    Attributes:
        writers: numbers of the requests that have it, to write.
        starter: the request that needed it first; it gets the error of a failure.
        error: why it could not be made.
        over: set when it is open, or cannot be opened.
    """

    def __init__(self, starter: int) -> None:
        self.phase = StreamPhase.NEW
        self.starter = starter
        self.writer: Writer | None = None
        self.writers: list[int] = []
        self.error: ImplementationError | None = None
        self.over = asyncio.Event()
        self.unused = asyncio.Event()

    def let_go(self, number: int) -> None:
        """The request has written."""
        if number in self.writers:
            self.writers.remove(number)
        if not self.writers:
            self.unused.set()


class QueryStreams:
    """The streams of a proxy, one of each collection at a time.

    Milvus: channelsMgr, createDQLStream, getDQLStream, removeDQLStream

    Attributes:
        streams: by collection. removed: those to be closed.

    Args:
        coordinator: knows the channels of a collection.
        spawn: starts tasks of the proxy. A stream is made and closed by such a task: a request that leaves
            does not leave it half made.
        preemption: where other tasks may run between an answer and its use.
    """

    def __init__(self, *, coordinator: QueryCoordinatorClient, spawn: Spawn, preemption: Preemption) -> None:
        self.streams: dict[str, QueryStream] = {}
        self.removed: list[QueryStream] = []
        self._coordinator = coordinator
        self._spawn = spawn
        self._preemption = preemption

    async def hold(self, collection: str, number: int) -> QueryStream:
        """The open stream, with the request counted as a writer in the same step.

        Raise ReplicaClosedError if the collection is not loaded.
        """
        while True:
            stream = self.streams.get(collection)
            if stream is None:
                stream = self.streams[collection] = QueryStream(number)
                self._spawn(functools.partial(self._make, collection, stream), f"stream {number}")
            await stream.over.wait()
            if stream.error is not None and stream.starter == number:
                raise stream.error
            await self._preemption.point("queries.hold")
            if stream.phase is StreamPhase.OPEN:
                self.count(stream, number)
                return stream

    def count(self, stream: QueryStream, number: int) -> None:
        """The request is a writer of the stream."""
        stream.writers.append(number)

    async def _make(self, collection: str, stream: QueryStream) -> None:
        try:
            stream.writer = await self._coordinator.channels(collection)
            stream.phase = StreamPhase.ASKED
            await self._preemption.point("queries.open")
            if stream.phase is StreamPhase.ASKED:
                stream.phase = StreamPhase.OPEN
        except ImplementationError as error:
            stream.error = error
            self.streams.pop(collection, None)
        stream.over.set()

    def remove(self, collection: str) -> None:
        """No request gets the stream any more. It is closed when its writers have written."""
        stream = self.streams.get(collection)
        if stream is None or stream.phase is StreamPhase.NEW:
            return
        del self.streams[collection]
        if stream.phase is StreamPhase.ASKED:
            self._end(stream)
            return
        stream.phase = StreamPhase.REMOVED
        self.removed.append(stream)
        self._spawn(functools.partial(self._close, stream), f"close {stream.starter}")

    async def _close(self, stream: QueryStream) -> None:
        if stream.writers:
            stream.unused.clear()
            await stream.unused.wait()
        await self._preemption.point("queries.close")
        self.removed.remove(stream)
        self._end(stream)

    def _end(self, stream: QueryStream) -> None:
        stream.phase = StreamPhase.CLOSED
        if stream.writer is not None:
            stream.writer.close()
