"""What a query node reads, as objects of the controlled world: the log, files, what the coordinator knows."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tidemark.impl.errors import StoreError
from tidemark.impl.types import BinlogRecord, EndPosition, Row, SegmentRecord
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, LogMessage
from tidemark.models.protocols.common.growing_log import LOG, GrowingLog
from tidemark.models.simulation.world.world import World

CHANNEL = "log_1v0"
KEY = 0
"""The one key of the program: every delete may hit every row."""


class WritePlan(NamedTuple):
    """A write of the log: its timestamp, and the segment of its row; None for a delete."""

    ts: int
    segment: int | None = None

    def message(self, number: int) -> LogMessage:
        """Its message. The number is the row's text, or the level-zero segment that is not used."""
        if self.segment is None:
            return DeleteMessage(self.ts, CHANNEL, -1 - number, (KEY,))
        return InsertMessage(self.ts, CHANNEL, (Row(self.ts, self.segment + 1, KEY, str(number)),))


def number_of(message: LogMessage) -> int:
    """The number of a write."""
    if isinstance(message, DeleteMessage):
        return -1 - message.segment_id
    assert isinstance(message, InsertMessage)
    return int(message.rows[0].value)


class Stored(NamedTuple):
    """What the coordinator knows. ``positions``: of segments that have their own, by segment."""

    checkpoint: int = 0
    delete_checkpoint: int = 0
    flushed: tuple[int, ...] = ()
    saved: tuple[int, ...] = ()
    positions: tuple[tuple[int, int], ...] = ()


class Storage:
    """The log, the coordinator's records and the files, which are written when the records change.

    failures: so many reads of files may still fail. taken: the channel was taken up.
    """

    def __init__(self, world: World, writes: Sequence[WritePlan], failures: int = 0) -> None:
        self.log = GrowingLog(world, number_of)
        self.stored = Stored()
        self.writes = writes
        self.failures = failures
        self.taken = False
        self._world = world
        self._bit = world.interner.bit(LOG)

    def logged(self) -> list[int]:
        """The numbers of the writes in the log."""
        return [number for kind, number, _ in self.log.view() if kind == "message"]

    async def perform(self, step: str) -> None:
        """One step of the coordinator, as a scenario gives it."""
        kind, _, value = step.partition(" ")
        await self.change(kind, int(value))

    def is_complete(self, segment: int) -> bool:
        """The segment has rows, and all of them are in files."""
        rows = [w for w in self.logged() if self.writes[w].segment == segment]
        return bool(rows) and all(self.writes[w].ts <= self.stored.checkpoint for w in rows)

    async def change(self, kind: str, value: int) -> None:
        """A row or a delete is saved, a checkpoint moves, or a segment is flushed, as soon as it may.

        ``flush_later``: once the channel was taken up.
        """
        later, kind = kind == "flush_later", kind.removesuffix("_later")

        def may() -> bool:
            stored = self.stored
            if kind == "save":
                return value in self.logged()
            if kind == "flush":
                return self.is_complete(value) and (self.taken or not later)
            return value <= (self.log.highest if kind == "store" else stored.checkpoint)

        def make() -> None:
            self._world.touch(writes=self._bit)
            if kind == "flush":
                self.stored = self.stored._replace(flushed=(*self.stored.flushed, value))
            elif kind == "save":
                self.stored = self.stored._replace(saved=(*self.stored.saved, value))
            elif kind == "store":
                self.stored = self.stored._replace(checkpoint=value)
            else:
                self.stored = self.stored._replace(delete_checkpoint=value)
            self.log.gate.look()

        await self.log.gate.operation(f"{kind} {value}", may, make)

    async def when(self, title: str, condition: Callable[[Stored], bool]) -> Stored:
        """What the coordinator knows, once it knows that."""

        def look() -> Stored:
            self._world.touch(reads=self._bit)
            return self.stored

        found: Stored = await self.log.gate.operation(title, lambda: condition(self.stored), look)
        return found

    async def watch(self, since: int) -> Stored:
        """What the coordinator knows when the channel is taken up, once the checkpoint has come so far."""

        def look() -> Stored:
            self._world.touch(writes=self._bit)
            self.taken = True
            self.log.gate.look()
            return self.stored

        found: Stored = await self.log.gate.operation("watch", lambda: self.stored.checkpoint >= since, look)
        return found

    # Records and files.

    def records(self, stored: Stored) -> tuple[SegmentRecord, ...]:
        """The records of the segments that have rows in files."""
        rows = {plan.segment for plan in self.writes if plan.ts <= stored.checkpoint}
        return tuple(self.record(g, stored) for g in sorted(g for g in rows if g is not None))

    def record(self, segment: int, stored: Stored) -> SegmentRecord:
        """The record of a segment with rows: its files hold its rows up to the checkpoint."""
        flushed = segment in stored.flushed
        path = f"rows/{segment}/{stored.checkpoint}"
        position = EndPosition(stored.checkpoint)
        return SegmentRecord(
            segment + 1, CHANNEL, position, flushed=flushed, binlogs=(BinlogRecord(path, (1,)),)
        )

    def level_zero(self, stored: Stored) -> tuple[SegmentRecord, ...]:
        """The record of the deletes up to the delete checkpoint, if there is one."""
        upto = stored.delete_checkpoint
        if not upto:
            return ()
        path = f"deletes/0/{upto}"
        return (SegmentRecord(-1, CHANNEL, EndPosition(upto), binlogs=(BinlogRecord(path, (1,)),)),)

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """See ObjectStore. Query nodes write nothing."""
        raise NotImplementedError(f"{path} {rows}")

    async def get(self, path: str) -> tuple[Row, ...]:
        """See ObjectStore. Raise StoreError for one of the reads that fail."""
        kind, segment, upto = path.split("/")

        def look() -> tuple[Row, ...]:
            wanted = int(segment) if kind == "rows" else None
            return tuple(
                Row(plan.ts, -1 if wanted is None else wanted + 1, KEY, str(number))
                for number, plan in enumerate(self.writes)
                if plan.segment == wanted and plan.ts <= int(upto)
            )

        if self.failures == 0:
            found: tuple[Row, ...] = await self._world.operation("get file", look)
            return found
        if await self._world.draw(2, "get file") and self.failures > 0:
            self.failures -= 1
            raise StoreError(f"file {path} cannot be read now")
        return look()
