"""Readers that go on from every record and every position of a log, beside a plain count of what is due.

What an ended log holds is read by the real reader: from the beginning, behind each record, and from the end
of each pack; one record at a time, and all at once.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidemark.impl.stream.packs import StreamPack, StreamPosition
from tidemark.impl.streaming.reader import reader
from tidemark.impl.streaming.transaction_messages import Part, TransactionMessage
from tidemark.impl.streaming.values import Opening, Record, Term
from tidemark.impl.values.messages import InsertMessage, Tick
from tidemark.models.protocols.streaming.ports import finish

GO_ON = "readers_go_on_and_miss_nothing"
"""Claim id: a reader that goes on from any record, or from the end of any pack, is given each row of a
transaction that commits later once, with the timestamp of the commit, and nothing else. It needs no place
that may be cut off, and asks for each place once."""

Due = tuple[int, int]
"""The key of a row, and the timestamp with which it is due."""


class _EndError(Exception):
    """Nothing more is in the log."""


class _WrongPlaceError(Exception):
    """A reader asks for a place that may be cut off, or again for one that it has."""


@dataclass
class _EndedLog:
    """A log to which nothing comes any more, as a ``TermLog`` of one reader.

    most: how many records are given at once. upto: the last place that is cut off, or was given.
    """

    records: Sequence[Record]
    most: int
    upto: int

    async def read(self, place: int) -> Sequence[Record]:
        """See TermLog."""
        if place <= self.upto:
            raise _WrongPlaceError(f"place {place} is asked for, and {self.upto} is cut off, or was read")
        found = [one for one in self.records if one.place >= place][: self.most]
        if not found:
            raise _EndError
        self.upto = found[-1].place if self.most == 1 else place
        return found

    async def begin_term(self) -> Opening:
        """See TermLog."""
        raise NotImplementedError

    async def append(self, term: Term, since: int, message: object) -> int:
        """See TermLog."""
        raise NotImplementedError

    async def scan(self, above: int) -> Sequence[Record]:
        """See TermLog."""
        raise NotImplementedError

    async def truncate(self, upto: int) -> None:
        """See TermLog."""
        raise NotImplementedError


def missed(records: Sequence[Record], channel: str) -> str | None:
    """What a reader of this log misses, or is given in vain; None: nothing.

    Two last ticks pass everything: the tick that ends a seek ends no pack.
    """
    if not records:
        return None
    last = records[-1]
    ts = max(one.message.ts for one in records)
    ticks = [Record(last.place + n, last.term, last.place, Tick(ts + n)) for n in (1, 2)]
    look = _Look([*records, *ticks], channel)
    return next((wrong for most in (1, len(records) + 1) for wrong in look.all(most)), None)


@dataclass
class _Look:
    records: Sequence[Record]
    channel: str

    def all(self, most: int) -> Iterator[str]:
        """What is wrong with some reader. most: how many records it is given at once."""
        due = list(_due(self.records))
        for record in (None, *self.records[:-2]):
            since, ts = (0, 0) if record is None else (record.since, record.message.ts)
            packs: list[StreamPack] = []
            yield from self._one(due, most, cut=since, after=record, ts=ts, packs=packs)
            for pack in packs if record is None else ():
                start = pack.finish
                yield from self._one(due, most, cut=start.place - 1, position=start, ts=pack.end)

    def _one(
        self,
        due: Sequence[Due],
        most: int,
        *,
        cut: int,
        ts: int,
        after: Record | None = None,
        position: StreamPosition | None = None,
        packs: list[StreamPack] | None = None,
    ) -> Iterator[str]:
        log = _EndedLog(self.records, most, cut)
        found: list[StreamPack] = [] if packs is None else packs
        where = f"a reader that goes on after timestamp {ts}, behind place {cut},"
        try:
            consumer = reader(log, self.channel, after, position=position)
            while True:
                found.append(finish(consumer.next_pack()))
        except _EndError:
            pass
        except Exception as wrong:  # noqa: BLE001  # whatever the reader ends with
            yield f"{GO_ON}: {where} ends with {type(wrong).__name__}: {wrong}"
            return
        given = Counter((row.key, row.ts) for pack in found for one in pack.inserts for row in one.rows)
        wanted = Counter(one for one in due if one[1] > ts)
        if given != wanted:
            yield f"{GO_ON}: {where} is given {dict(given)}, and {dict(wanted)} is due"


def _due(records: Sequence[Record]) -> Iterator[Due]:
    """The rows of committed transactions, with the timestamp of the commit."""
    bodies: dict[int, list[int]] = {}
    for record in records:
        message = record.message
        if not isinstance(message, TransactionMessage):
            continue
        if isinstance(message.content, InsertMessage):
            bodies.setdefault(message.transaction, []).extend(row.key for row in message.content.rows)
        elif message.part is Part.COMMIT:
            yield from ((key, message.ts) for key in bodies.pop(message.transaction, ()))
