"""The edges of a node with transactions and of a reader, made of objects of the controlled world."""

from collections.abc import Hashable, Sequence
from typing import Any

from tidemark.impl.streaming.transaction_messages import StreamingMessage
from tidemark.impl.streaming.values import Record, Term
from tidemark.models.protocols.streaming.ports import LOG, LogCalls, LogProcess, finish
from tidemark.models.protocols.transactions.refinement import TICK, Landed, landed
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World


class TransactionLog(LogProcess):
    """The log of a channel with transactions. ``landed``: what came to each place, cut off or not."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.landed: list[Landed] = []

    async def _append(self, term: Term, since: int, message: StreamingMessage) -> int:
        self.landed.append(landed(message))
        try:
            return await super()._append(term, since, message)
        except BaseException:
            self.landed.pop()
            raise

    def tick_from(self, place: int) -> int:
        """The place of the first tick from a place on; 0: there is none."""
        ticks = (n for n, one in enumerate(self.landed, start=1) if n >= place and one.part == TICK)
        return next(ticks, 0)

    def view(self) -> Hashable:
        """What came to it, and where it is cut."""
        return (tuple(self.landed), 0 if self.log is None else self.log.cut)


class ReaderCalls(LogCalls):
    """The log as a reader sees it: it reads to the next tick in one step."""

    def __init__(self, process: Process, world: World, log: TransactionLog) -> None:
        super().__init__(process, world, log, reads=0)
        self._to_ticks = log

    async def read(self, place: int) -> Sequence[Record]:
        """See TermLog."""

        def take() -> Sequence[Record]:
            self._world.touch(reads=self._world.interner.bit(LOG))
            found: Sequence[Record] = finish(self._real().read(place))
            return found[: self._to_ticks.tick_from(place) - place + 1]

        records: Sequence[Record] = await self._to_ticks.gate.operation(
            "read", lambda: self._to_ticks.tick_from(place) > 0, take
        )
        return records
