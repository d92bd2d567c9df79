"""Values that all parts hold: timestamps, rows, packs, records and appends, at the ends of their ranges."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from tidemark.impl.broker.memory_database import MemoryDatabase
from tidemark.impl.streaming.transaction_messages import Part, TransactionMessage
from tidemark.impl.streaming.values import Append
from tidemark.impl.timestamp import compose, milliseconds, split
from tidemark.impl.types import (
    LOG_BEGINNING,
    BinlogRecord,
    Compaction,
    EndPosition,
    Pack,
    Row,
    SegmentRecord,
    StartPosition,
)
from tidemark.impl.values.messages import DeleteMessage, InsertMessage
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.simulation.world.database import outside
from tidemark.models.simulation.world.process import Process

STAMPS = "a_timestamp_is_time_above_and_counter_below"
"""Claim id: a timestamp is 2^18 times the milliseconds and the counter, and is taken apart into both."""
PACKS = "a_pack_holds_the_rows_of_its_own_tick"
"""Claim id: a pack whose end is not behind its start, or that has a row at its start, before it or behind its
end, cannot be made."""
SIZES = "a_row_counts_its_bytes"
"""Claim id: 24 bytes, and those of its value."""
STARTS = "a_segment_starts_at_its_first_row"
"""Claim id: at the least position that was recorded; at the one that a compaction has noted, if it did; at 0
without rows. It is recorded up to its position, or else lacks nothing up to where it begins."""
APPENDS = "an_append_becomes_its_own_message"
"""Claim id: rows, deletes or a part of a transaction, with the append's timestamp."""
TABLES = "closing_tables_undoes_what_is_not_committed"
"""Claim id: of tables in memory; what was committed stays."""

_TIME = 1_700_000_000_123
_ROWS = ((7, 1, "a"), (8, 2, "b"))


class ValuesProgram(ComparedProgram):
    """Makes values, and looks at them."""

    async def live(self, process: Process) -> None:
        """Look at each kind."""
        del process
        self.begun = True
        if self.script["kind"] == "tables":
            await self._tables()
            return
        getattr(self, f"_{self.script['kind']}")()

    def _stamps(self) -> None:
        for time, counter in ((_TIME, 5), (_TIME, 0), (_TIME, 2**18 - 1), (0, 3), (1, 0)):
            due = time * 2**18 + counter
            self.compare(STAMPS, f"compose({time}, {counter})", compose(time, counter), due)
            self.compare(STAMPS, f"split({due})", tuple(split(due)), (time, counter))
        self.compare(STAMPS, "milliseconds", milliseconds(2_999_999), 2)

    def _sizes(self) -> None:
        for value, due in (("", 24), ("ab", 26), ("\N{GREEK SMALL LETTER TAU}", 26)):
            self.compare(SIZES, repr(value), Row(3, 1, 2, value).memory_bytes, due)

    def _packs(self) -> None:
        for start, end, rows, due in (
            (2, 3, (), True),
            (2, 4, (3, 4), True),
            (3, 3, (), False),
            (4, 3, (), False),
            (2, 4, (2,), False),
            (2, 4, (3, 5), False),
            (2, 4, (1, 3), False),
        ):
            what = f"a pack of {rows} from {start} to {end}"
            self.compare(PACKS, what, _is_made(start, end, rows), due)

    def _starts(self) -> None:
        for positions, noted, due in (
            (((5, 3), (4,)), 0, 3),
            (((5, 3), (4,)), 2, 2),
            (((5,),), 9, 9),
            ((), 0, 0),
            ((), 6, 6),
        ):
            binlogs = tuple(BinlogRecord(f"{number}", one) for number, one in enumerate(positions))
            record = SegmentRecord(1, "c", binlogs=binlogs, compaction=Compaction(start=noted))
            self.compare(STARTS, f"rows at {positions}, noted {noted}", record.start(), due)
        begins = StartPosition(2)
        for recorded, first, place in (
            (EndPosition(4), begins, EndPosition(4)),
            (LOG_BEGINNING, begins, begins),
            (LOG_BEGINNING, None, None),
        ):
            record = SegmentRecord(1, "c", recorded, begins=first)
            self.compare(STARTS, f"recorded up to {recorded}, begins at {first}", record.position(), place)

    def _appends(self) -> None:
        rows = tuple(Row(40, *row) for row in _ROWS)
        inserted, deleted = InsertMessage(40, "c", rows), DeleteMessage(40, "c", 9, (1, 2))
        written: dict[str, Any] = {"channel": "c", "rows": _ROWS, "ts": 40, "lasts": 3, "transaction": 11}
        common: dict[str, Any] = {"ts": 40, "channel": "c", "transaction": 11}
        removed = Append("c", deletes=(1, 2), level_zero=9, ts=40)
        self.compare(APPENDS, "deletes", removed.message(), deleted)
        self.compare(APPENDS, "deletes in a transaction", removed.content(), deleted)
        self.compare(APPENDS, "rows", Append(**written).message(), inserted)
        for part in Part:
            until = 43 if part is Part.BEGIN else 0
            content = inserted if part is Part.BODY else None
            due = TransactionMessage(part=part, until=until, content=content, **common)
            self.compare(APPENDS, part.name, Append(part=part, **written).message(), due)

    async def _tables(self) -> None:
        with outside():
            database = MemoryDatabase()
        for statement in ("CREATE TABLE t (n)", "INSERT INTO t VALUES (1)"):
            await database.execute(statement)
        await database.close()
        await database.execute("BEGIN")
        await database.execute("INSERT INTO t VALUES (?)", (2,))
        await database.close()
        self.compare(TABLES, "the rows", await database.execute("SELECT n FROM t"), [(1,)])

    def look(self) -> Hashable:
        """Which kind."""
        return str(self.script["kind"])


def _is_made(start: int, end: int, rows: tuple[int, ...]) -> bool:
    try:
        Pack(StartPosition(start), EndPosition(end), tuple(Row(ts, 1, ts) for ts in rows))
    except ValueError:
        return False
    return True


def values() -> ValuesProgram:
    """Return the program of all kinds."""
    kinds = ("stamps", "sizes", "packs", "starts", "appends", "tables")
    return ValuesProgram([{"kind": kind} for kind in kinds], timers=0)
