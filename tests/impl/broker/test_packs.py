"""Packs for a data node, with the dispatchers of a node and without: rows by time, drops, late messages."""

import pytest

from tests.impl.read_parts import CHANNEL, ListLog, delete, insert, tick
from tidemark.impl.broker.packs import PackReader
from tidemark.impl.errors import LateRowError, StoreError
from tidemark.impl.stream.node_dispatchers import NodeDispatchers
from tidemark.impl.stream.packs import EARLIEST
from tidemark.impl.types import EndPosition
from tidemark.impl.values.messages import DdlMessage

OTHER = "log_9v0"
LATE = LateRowError
CREATED, DROPPED, OTHER_DROPPED = (
    DdlMessage(ts, channel, text)
    for ts, channel, text in ((1, CHANNEL, "create"), (2, CHANNEL, "drop"), (2, OTHER, "drop"))
)
# A delete that came after a greater row; a row above its tick; a row of another channel.
MIXED = (
    insert(3, 30),
    insert(8, 80),
    delete(2, 5),
    insert(4, 40, channel=OTHER),
    tick(5),
    tick(5),
    delete(7, 30),
)
FIRST = (0, 5, [(2, 5), (3, 30)])


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(
    ("log", "asked"),
    [
        ((*MIXED, tick(9), tick(12)), [FIRST, FIRST, (5, 9, [(7, 30), (8, 80)]), (9, 12, [])]),
        ((insert(1, 10), tick(1), insert(2, 20), tick(2)), [(1, 2, [(2, 20)])]),
        ((insert(1, 10), tick(1), tick(2), tick(3)), [(0, 1, [(1, 10)]), (2, 3, [])]),
        ((CREATED, tick(1), OTHER_DROPPED, tick(2)), [(0, 1, []), (1, 2, [])]),
        ((CREATED, insert(2, 2), DROPPED, tick(2)), [(0, 2, [(2, 2), "drop"])]),
        ((tick(4), insert(4, 40), tick(5)), [(0, 4, []), (4, LATE, [])]),
        ((tick(4), insert(3, 30), insert(5, 50), tick(5)), [(0, 4, []), (4, LATE, [])]),
        ((tick(4), insert(5, 50), delete(2, 5), tick(5)), [(0, 4, []), (4, LATE, [])]),
        ((tick(4), insert(4, 40, channel=OTHER), insert(5, 50), tick(5)), [(0, 4, []), (4, 5, [(5, 50)])]),
    ],
)
async def test_a_pack_holds_what_is_to_be_stored(log, asked, shared):
    nodes = NodeDispatchers(ListLog(*log)) if shared else None
    reader = PackReader(ListLog(*log), dispatchers=nodes)
    for after, end, rows in asked:
        if end is LATE:
            with pytest.raises(LateRowError, match=f"behind the tick {after}"):
                await reader.next_pack(CHANNEL, EndPosition(after))
            continue
        pack = await reader.next_pack(CHANNEL, EndPosition(after))
        assert (pack.start.ts, pack.end.ts) == (after, end)
        assert [(row.ts, row.key) for row in pack.rows] + ["drop"] * pack.drop == rows
        if nodes is not None:
            assert nodes.managers["log"].channels() == (() if pack.drop else (CHANNEL,))
    if nodes is not None:
        await nodes.stop()


async def test_a_log_that_fails_is_a_failure_of_the_node():
    class Broken(ListLog):
        async def read(self, channel, place):
            raise StoreError("the disk fails")

    nodes = NodeDispatchers(Broken())
    nodes.register(CHANNEL, EARLIEST)
    with pytest.raises(StoreError):
        await nodes.supervisor.wait_failed()
    await nodes.stop()
