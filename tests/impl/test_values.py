"""Timestamps, rows, packs, records and appends, at the ends of their ranges."""

import pytest

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


@pytest.mark.parametrize("time", [0, 1, 1_700_000_000_123])
@pytest.mark.parametrize("counter", [0, 5, 2**18 - 1])
def test_a_timestamp_is_milliseconds_above_a_counter(time, counter):
    ts = time * 2**18 + counter
    assert (compose(time, counter), split(ts)) == (ts, (time, counter))
    assert milliseconds(time * 1_000_000 + 999_999) == time


@pytest.mark.parametrize("ts", [1, 3, 6])
def test_a_row_outside_of_its_pack_is_refused(ts):
    with pytest.raises(ValueError, match=rf"row 7 has ts {ts}, outside \(3, 5\]"):
        Pack(StartPosition(3), EndPosition(5), (Row(4, 1, 6), Row(ts, 1, 7)))


def test_the_end_belongs_to_the_pack_and_the_start_does_not():
    rows = (Row(4, 1, 1), Row(5, 1, 2))
    assert Pack(StartPosition(3), EndPosition(5), rows).rows == rows
    assert Pack(StartPosition(4), EndPosition(5)).rows == ()


@pytest.mark.parametrize("end", [4, 5])
def test_a_pack_without_extent_is_refused(end):
    with pytest.raises(ValueError, match=f"starts at 5 and ends at {end}"):
        Pack(StartPosition(5), EndPosition(end))


@pytest.mark.parametrize(("value", "size"), [("", 24), ("ab", 26), ("\N{GREEK SMALL LETTER TAU}", 26)])
def test_a_row_counts_its_bytes(value, size):
    assert Row(3, 1, 2, value).memory_bytes == size


@pytest.mark.parametrize(
    ("positions", "noted", "start"),
    [(((5, 3), (4,)), 0, 3), (((5, 3), (4,)), 2, 2), (((5,),), 9, 9), ((), 0, 0), ((), 6, 6)],
)
def test_a_segment_starts_at_its_first_row_or_where_a_compaction_has_noted(positions, noted, start):
    binlogs = tuple(BinlogRecord(f"{number}", one) for number, one in enumerate(positions))
    assert SegmentRecord(1, "c", binlogs=binlogs, compaction=Compaction(start=noted)).start() == start


@pytest.mark.parametrize(
    ("recorded", "begins", "position"),
    [
        (EndPosition(4), StartPosition(2), EndPosition(4)),
        (LOG_BEGINNING, StartPosition(2), StartPosition(2)),
        (LOG_BEGINNING, None, None),
    ],
)
def test_a_segment_is_recorded_up_to_its_position_or_lacks_nothing_up_to_its_beginning(
    recorded, begins, position
):
    assert SegmentRecord(1, "c", recorded, begins=begins).position() == position


INSERT = InsertMessage(40, "c", (Row(40, 7, 1, "a"), Row(40, 8, 2, "b")))
DELETE = DeleteMessage(40, "c", 9, (1, 2))
ROWS = {"rows": ((7, 1, "a"), (8, 2, "b")), "ts": 40, "lasts": 3, "transaction": 11}
DELETES = {"deletes": (1, 2), "level_zero": 9, "ts": 40}


@pytest.mark.parametrize(
    ("append", "message"),
    [
        (ROWS, INSERT),
        (DELETES, DELETE),
        *(
            (
                {**ROWS, "part": part},
                TransactionMessage(
                    ts=40,
                    channel="c",
                    part=part,
                    transaction=11,
                    until=43 if part is Part.BEGIN else 0,
                    content=INSERT if part is Part.BODY else None,
                ),
            )
            for part in Part
        ),
    ],
)
def test_an_append_becomes_its_own_message(append, message):
    assert Append("c", **append).message() == message
    assert Append("c", **append).content() == (INSERT if "rows" in append else DELETE)


async def test_closing_tables_in_memory_undoes_what_is_not_committed():
    database = MemoryDatabase()
    for statement in ("CREATE TABLE t (n)", "INSERT INTO t VALUES (1)"):
        await database.execute(statement)
    await database.close()
    await database.execute("BEGIN")
    await database.execute("INSERT INTO t VALUES (?)", (2,))
    await database.close()
    assert await database.execute("SELECT n FROM t") == [(1,)]
