"""A streaming node with one channel: it opens the log, serves appends, and opens it again after a close."""

import asyncio
from collections.abc import Callable

from tidemark.impl.errors import RpcError, StoreError, TermClosedError, UnknownOutcomeError
from tidemark.impl.runtime import Supervisor, Work
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.ports import StreamingPorts
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.term import OpenTerm
from tidemark.impl.streaming.values import Append


class StreamingNode:
    """One channel of a streaming node. It does not decide which node may open a log; of two that do, the log
    takes the later one.

    Milvus: IsStreamingServiceEnabled

    Args:
        opened: called with each new term.

    Attributes:
        term: the last one; None before the first. Its ``closed`` says whether it has ended.
    """

    def __init__(
        self,
        *,
        ports: StreamingPorts,
        config: StreamingConfig | None = None,
        opened: Callable[[OpenTerm], None] | None = None,
    ) -> None:
        self.term: OpenTerm | None = None
        self._ports = ports
        self._config = config if config is not None else StreamingConfig()
        self._appends = Supervisor()
        self._callers: dict[asyncio.Future[None], None] = {}
        self._opened = opened

    async def run(self) -> None:
        """Open the log whenever it is closed. Ends by cancellation, or by damaged stored data."""
        try:
            while True:
                term = await self._open()
                term.start()
                if self._opened is not None:
                    self._opened(term)
                await term.closed.wait()
                await term.stop()
        finally:
            await self._end()

    async def _end(self) -> None:
        """Stop the last term and the appends, even if the term has failed."""
        try:
            if self.term is not None:
                await self.term.stop()
        except Exception:
            await self._end_appends()
            raise
        await self._end_appends()

    async def _end_appends(self) -> None:
        """Cancel pending appends and fail their callers."""
        await self._appends.stop()
        for caller in self._callers:
            if not caller.done():
                caller.set_exception(UnknownOutcomeError("the node has ended; the append may be in the log"))

    async def _open(self) -> OpenTerm:
        """Begin a term: fence the earlier ones first, then take a timestamp, which is greater than theirs."""
        ports = self._ports
        while True:
            try:
                opening = await ports.log.begin_term()
                recovery = RecoveryStorage(store=ports.checkpoints, log=ports.log)
                await recovery.load()
                stored = await ports.messages.places(recovery.start())
                records = await ports.log.scan(recovery.start())
                first = await ports.oracle.alloc(1)
            except (RpcError, StoreError):
                await ports.clock.sleep(self._config.retry_seconds)
            else:
                self.term = OpenTerm(
                    opening=opening,
                    first=first,
                    recovery=recovery,
                    stored=stored,
                    records=records,
                    ports=ports,
                    config=self._config,
                )
                return self.term

    async def append(self, append: Append) -> int:
        """The place of an append in the log, where it is durable. See ``OpenTerm.append`` for errors.

        A cancelled caller does not cancel the append: only the log decides its outcome (B54). Raises
        UnknownOutcomeError, too, if the node ends before.
        """
        term = self.term
        if term is None or term.closed.is_set():
            raise TermClosedError("the log is not open; try again later")
        done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        caller = asyncio.current_task()
        name = "append" if caller is None else f"append of {caller.get_name()}"
        self._appends.spawn(_settling(term, append, done), name)
        self._callers[done] = None
        try:
            await done
        finally:
            self._callers.pop(done, None)
        return append.place


def _settling(term: OpenTerm, append: Append, done: asyncio.Future[None]) -> Work:
    """Append, and answer the caller if it still waits."""

    async def work() -> None:
        try:
            await term.append(append)
        except Exception as failure:  # noqa: BLE001  # any error is the caller's
            if not done.done():
                done.set_exception(failure)
        else:
            if not done.done():
                done.set_result(None)

    return work
