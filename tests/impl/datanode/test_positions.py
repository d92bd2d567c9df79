"""Seed 003 by the code: no checkpoint of the channel, but the positions of all segments with each save; a
save that fails too often ends the node, and the next incarnation goes on from the earliest position.
"""

import asyncio
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.impl.parts import CHANNEL, VirtualLoop, pack, run
from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.direct import DirectCoordinatorClient
from tidemark.impl.datanode.data_node import DataNode, DataNodePorts
from tidemark.impl.errors import RpcError, SaveFailedError
from tidemark.impl.runtime import AsyncioClock
from tidemark.impl.storage.memory import MemoryMetaStore, MemoryObjectStore
from tidemark.impl.types import (
    LOG_BEGINNING,
    EndPosition,
    Pack,
    Position,
    RecoveryAnswer,
    SaveBinlogPaths,
    SaveOutcome,
    StartPosition,
    UpdateCheckpoints,
)

TRIES = 3
LONG = 200.0
"""Seconds in which a node does all that it can: the timers of a node have shorter periods."""


class Log:
    """A pack for each tick, with a row for each segment that is given; it tells from where it is read."""

    def __init__(self, rows: list[list[int]]) -> None:
        self.packs = [pack(end, *((one, end) for one in found)) for end, found in enumerate(rows, 1)]
        self.begins: list[int] = []

    async def next_pack(self, channel: str, after: Position) -> Pack:
        assert channel == CHANNEL
        self.begins.append(after.ts)
        await asyncio.sleep(1.0 if after.ts < len(self.packs) else 10 * LONG)
        return self.packs[after.ts]


class Calls(DirectCoordinatorClient):
    """Calls of which saves fail as the script says, before or after they are carried out."""

    def __init__(self, coordinator: Coordinator, script: list[str]) -> None:
        super().__init__(coordinator)
        self.script = script
        self.coordinator = coordinator
        self.sessions: list[int] = []

    async def recover_channel(
        self, channel: str, node_id: str, session: int, *, deadline: float
    ) -> RecoveryAnswer:
        assert session not in self.sessions, "each incarnation takes the channel up once"
        self.sessions.append(session)
        return await super().recover_channel(channel, node_id, session, deadline=deadline)

    async def save_binlog_paths(self, request: SaveBinlogPaths, *, deadline: float) -> SaveOutcome:
        what = self.script.pop(0) if self.script else "ok"
        if what == "fails":
            raise RpcError(what)
        outcome = await super().save_binlog_paths(request, deadline=deadline)
        assert {segment for segment, _ in request.starts} <= set(self.coordinator.segments)
        if what == "lost":
            raise RpcError(what)
        return outcome

    async def update_channel_checkpoints(self, request: UpdateCheckpoints, *, deadline: float) -> None:
        raise RpcError("the design has no such call")


class Scene:
    """Incarnations of a node, one after the other, until none ends itself."""

    def __init__(self, rows: list[list[int]], script: list[str], *, full: int) -> None:
        self.log, self.full = Log(rows), full
        self.coordinator = Coordinator(meta=MemoryMetaStore())
        self.calls = Calls(self.coordinator, script)
        self.ended = 0

    async def incarnation(self, session: int) -> DataNode:
        """A node that did what it could. It is stopped: what it holds is lost."""
        ports = DataNodePorts(
            clock=AsyncioClock(), log=self.log, store=MemoryObjectStore(), coordinator=self.calls
        )
        config = DataNodeConfig(full_buffer_bytes=self.full * 24, save_tries=TRIES)
        node = DataNode(node_id="n", session=session, ports=ports, config=config)
        node.start()
        self.log.begins.clear()
        await node.recover_channel(CHANNEL)
        try:
            async with asyncio.timeout(LONG):
                await node.supervisor.wait_failed()
        except SaveFailedError:
            self.ended += 1
        except TimeoutError:
            pass
        await node.stop()
        return node

    def recorded(self) -> Counter[tuple[int, int]]:
        """Rows in the records, by segment and position."""
        return Counter(
            (one.segment_id, at)
            for one in self.coordinator.segments.values()
            for binlog in one.binlogs
            for at in binlog.row_positions
        )

    async def played(self) -> DataNode:
        await self.coordinator.watch_channel(CHANNEL, LOG_BEGINNING)
        node = await self.incarnation(1)
        while node.supervisor.failure is not None:
            known = [one.position() for one in self.coordinator.segments.values()]
            node = await self.incarnation(self.ended + 1)
            assert self.log.begins[0] == min((at.ts for at in known if at is not None), default=0)
        return node


SEGMENTS = st.lists(st.integers(1, 3), max_size=2, unique=True)


@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(SEGMENTS, min_size=2, max_size=8),
    script=st.lists(st.sampled_from(["ok", "lost", "fails", "fails " * TRIES]), max_size=6),
    full=st.integers(1, 3),
)
def test_each_row_is_recorded_once_and_none_is_lost(rows, script, full):
    async def story() -> None:
        scene = Scene(rows, " ".join(script).split(), full=full)
        node = await scene.played()
        held = node.buffers.get(CHANNEL).buffers
        kept = Counter((segment, row.ts) for segment, one in held.items() for row in one.rows)
        written = Counter((segment, end) for end, found in enumerate(rows, 1) for segment in found)
        assert scene.recorded() + kept == written

    run(story(), loop=VirtualLoop)


@pytest.mark.parametrize(("fails", "ends"), [(TRIES - 1, 0), (TRIES, 1), (2 * TRIES, 2)])
def test_a_save_that_fails_too_often_ends_the_node(fails, ends):
    async def story() -> None:
        scene = Scene([[1], [2, 3], [2]], ["fails"] * fails, full=2)
        await scene.played()
        assert scene.ended == ends
        # The flush of one segment has recorded where all others begin.
        known = {one.segment_id: one.position() for one in scene.coordinator.segments.values()}
        assert known == {1: StartPosition(0), 2: EndPosition(3), 3: StartPosition(1)}
        assert scene.recorded() == Counter([(2, 2), (2, 3)])
        await scene.incarnation(9)
        assert scene.log.begins[0] == 0

    run(story(), loop=VirtualLoop)
