"""The acknowledgement manager: the given timestamps of a channel, and the ended appends.

Appends end in any order. A tick may promise the acknowledged prefix: the greatest timestamp that was given
below every append that is not acknowledged.
"""

from typing import NamedTuple

from tidemark.impl.errors import TermClosedError
from tidemark.impl.ports import Preemption
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.impl.streaming.transactions import Transactions
from tidemark.impl.streaming.values import Append, AppendStage, Opening
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.oracle import Oracle


class Detail(NamedTuple):
    """An append or a tick that has ended.

    until: the greatest timestamp that was given when it ended. Later messages are behind ``place``; 0 if it
    is not in the log.
    """

    ts: Timestamp
    until: Timestamp
    place: int


class AckManager:
    """One term of one channel.

    Milvus: AckManager

    A timestamp is given and entered under one lock. A tick draws a timestamp for itself, which is
    acknowledged at once; so the tick of a quiet channel is later than all messages (facts 11).

    Args:
        opening: the term, and the end of the log at its beginning.
        first: the tick that begins the term.
        transactions: those that delay starts.

    Attributes:
        lock: spans draw and entry; ``collect`` holds it, too.
        drawn: the append whose timestamp is given and not entered.
        waiting: entered and not acknowledged, by timestamp.
        ended: ended appends and ticks that may still decide about ticks or starts.
        last: the greatest timestamp that was given.
        passed: the last tick.
        confirmed: all messages later than ``passed`` are behind this place.
        is_open: false once the term is closed; then no state changes.
    """

    def __init__(
        self,
        *,
        opening: Opening,
        first: Timestamp,
        oracle: Oracle,
        preemption: Preemption,
        transactions: Transactions,
    ) -> None:
        self.term = opening.term
        self.lock = SteppedLock(preemption)
        self.drawn: Append | None = None
        self.waiting: dict[Timestamp, Append] = {}
        self.ended: list[Detail] = []
        self.last = self.passed = first
        self.transactions = transactions
        self.confirmed = self._held_back(opening.end, first)
        self.is_open = True
        self._oracle = oracle
        self._preemption = preemption

    async def admit(self, append: Append) -> None:
        """Give an append its timestamp. Raise TermClosedError, or the oracle's RpcError: it has none then."""
        async with self.lock.holding("ack.draw"):
            await self._draw(append)
            await self._preemption.point("ack.enter")
            self._enter(append)

    async def _draw(self, append: Append) -> None:
        ts = await self._oracle.alloc(1)
        self.check_open()
        append.ts, append.term, append.stage = ts, self.term, AppendStage.DRAWN
        self.drawn, self.last = append, ts

    def _enter(self, append: Append) -> None:
        self.check_open()
        append.since, append.stage = self.confirmed, AppendStage.ENTERED
        self.drawn = None
        self.waiting[append.ts] = append

    def acknowledge(self, append: Append, place: int) -> None:
        """An append is in the log. After the end of the term this does nothing."""
        append.place = place
        if self.is_open:
            append.stage = AppendStage.ACKNOWLEDGED
            self._end(append)

    def refuse(self, append: Append) -> None:
        """An append is not in the log and will never be."""
        if self.is_open:
            append.stage = AppendStage.REFUSED
            self._end(append)

    def _end(self, append: Append) -> None:
        del self.waiting[append.ts]
        self.ended.append(Detail(append.ts, self.last, append.place))

    def written(self, tick: Timestamp, place: int) -> None:
        """A tick is in the log."""
        self.transactions.ticked(tick)
        self.ended.append(Detail(tick, self.last, place))

    # Ticks.

    async def collect(self) -> Timestamp | None:
        """Draw a timestamp for a tick, and find the acknowledged prefix; None if it has not grown.

        Raise TermClosedError, or the oracle's RpcError.
        """
        await self._draw_own()
        await self._preemption.point("ack.collect")
        async with self.lock.holding("ack.prefix"):
            self.check_open()
            return self._take(self.prefix())

    async def _draw_own(self) -> None:
        async with self.lock.holding("ack.draw"):
            self.last = await self._oracle.alloc(1)
            self.ended.append(Detail(self.last, self.last, 0))

    def prefix(self) -> Timestamp:
        """The greatest ended timestamp below all waiting ones, never below the last tick."""
        bound = min(self.waiting, default=self.last + 1)
        return max([self.passed, *(detail.ts for detail in self.ended if detail.ts < bound)])

    def _take(self, prefix: Timestamp) -> Timestamp | None:
        if prefix <= self.passed:
            return None
        self.passed = prefix
        self.confirmed = max(self.confirmed, self._held_back(self._start(prefix), prefix))
        self.ended = [detail for detail in self.ended if detail.until > prefix]
        return prefix

    def _start(self, prefix: Timestamp) -> int:
        """The last place that was known when no timestamp above the prefix was given."""
        return max((detail.place for detail in self.ended if detail.until <= prefix), default=0)

    def _held_back(self, start: int, tick: Timestamp) -> int:
        """A start from which readers of this tick find the begin of each open transaction."""
        earliest = self.transactions.earliest(tick)
        return start if earliest is None else min(start, earliest - 1)

    @property
    def is_quiet(self) -> bool:
        """No timestamp was given since the last tick."""
        return self.last == self.passed and self.drawn is None

    def check_open(self) -> None:
        """Raise TermClosedError."""
        if not self.is_open:
            raise TermClosedError(f"term {self.term} of the log has ended; try again in the next one")
