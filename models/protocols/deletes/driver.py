"""Drives real coordinator, compactor and query node by the actions of ``tidemark.spec.deletes``.

Everything is in memory and nothing suspends: each step is a call. The data node is a plan, as in
``compaction.py``, whose requests are those of the real one; by chance a request is sent once more, which must
change nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from tidemark.impl.cluster.replicas import describe
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.level_zero import LevelZeroCompactor
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.values import LoadSegment
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.storage.memory import MemoryMetaStore, MemoryObjectStore
from tidemark.impl.types import (
    BinlogRecord,
    ChannelPosition,
    EndPosition,
    SaveBinlogPaths,
    SegmentId,
    UpdateCheckpoints,
)
from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.deletes.levels import (
    CompactionScenario,
    LoadView,
    NodeState,
    Sync,
    abstract,
    found_in,
    is_hit,
)
from tidemark.models.protocols.flush.ports import NODE
from tidemark.models.protocols.flush.scenario import CHANNEL
from tidemark.models.refinement.step import StepChecker

T = TypeVar("T")
_LEVEL_ZERO: SegmentId = -1


class CompactorSteps(LevelZeroCompactor):
    """The compactor, one step at a time."""

    def waiting(self, path: str) -> tuple[BinlogRecord | None, list[SegmentId]]:
        """The level-zero binlog of this path, if it would be taken up now; and which segments lack it."""
        level = next((one for one in self._ripe(CHANNEL) if one.path == path), None)
        older = [] if level is None else self._older(CHANNEL, level)
        return level, [one.segment_id for one in older if path not in one.compaction.applied]

    async def apply_to(self, segment: SegmentId, level: BinlogRecord) -> None:
        """Apply it to one segment."""
        await self._apply(level, segment)

    async def drop(self, level: BinlogRecord) -> None:
        """Drop it."""
        await self._drop(CHANNEL, level)

    async def rewrite_one(self, segment: SegmentId) -> None:
        """Write one segment anew."""
        await self._rewrite(segment)


class DeletesAdapter:
    """One run."""

    ignored: ClassVar[tuple[str, ...]] = ("faults",)
    never_offered: ClassVar[dict[str, str]] = {"import_segment": "nothing is imported"}

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._checker = checker
        self._loop = asyncio.new_event_loop()
        constants = instance.map_constants
        of, keys = [int(str(g)) for g in constants["segment_of"]], [int(str(k)) for k in constants["key"]]
        kinds = zip(constants["inserts"], constants["deletes"], of, strict=True)
        log = [of + 1 if row else _LEVEL_ZERO if delete else 0 for row, delete, of in kinds]
        self._levels = int(str(instance.bounds["Level"]))
        self._scenario = CompactionScenario(
            log=tuple(log[1:]),
            keys=tuple(keys[1:]),
            compactions=0,
            rewrites=0,
            loads=(),
            crashes=0,
            late=False,
        )
        self._meta, self._store = MemoryMetaStore(), MemoryObjectStore()
        self._coordinator = Coordinator(meta=self._meta)
        self._compactor = CompactorSteps(coordinator=self._coordinator, store=self._store)
        self._node, self._load, self._session = NodeState(), LoadView(), 0
        self._delegator: ShardDelegator | None = None
        self._sent: list[SaveBinlogPaths] = []
        self._reports: list[int] = []
        self._saves: dict[str, SaveBinlogPaths] = {}
        self._now(self._coordinator.assign(CHANNEL, NODE))
        self._recover()

    def _recover(self) -> None:
        self._session += 1
        answer = self._now(self._coordinator.recover_channel(CHANNEL, NODE, self._session))
        self._owner = answer.owner
        self._told = {segment: place.ts for segment, place in answer.recorded_positions().items()}
        self._saves.clear()
        syncs = [sync._replace(state="none") for sync in self._node.syncs]
        self._node = NodeState(consumed=answer.seek.ts, syncs=syncs, report=self._node.report)

    def state(self) -> State:
        """See ``Adapter``."""
        records = self._coordinator.segments_of(CHANNEL)
        checkpoint = self._coordinator.channel(CHANNEL).checkpoint
        view = self._node.view()
        values = abstract(self._scenario, checkpoint, records, view, self._load, levels=self._levels)
        return self._checker.encode(values)

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        return bool(getattr(self, f"_may_{step.action}")(*step.args))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        getattr(self, f"_do_{step.action}")(*step.args)
        if chance and self._sent:
            self._now(self._coordinator.save_binlog_paths(self._sent[chance % len(self._sent)]))

    def close(self) -> None:
        """See ``Adapter``."""
        self._loop.close()

    def _now(self, work: Coroutine[Any, Any, T]) -> T:
        return self._loop.run_until_complete(work)

    # The data node: what it takes, writes out and reports.

    def _next(self) -> int:
        """The segment of what the log has next, 0 if nothing; below 0 for a delete."""
        return self._scenario.log[self._node.consumed]

    def _is_told(self) -> bool:
        return self._node.consumed + 1 <= self._told.get(self._next(), 0)

    def _may_take_row(self) -> bool:
        return self._next() >= 0

    def _do_take_row(self) -> None:
        takes = self._next() > 0 and not self._is_told()
        self._node.consumed += 1
        if takes:
            self._node.rows = (*self._node.rows, self._node.consumed)

    def _may_take_delete(self, z: int) -> bool:
        return self._next() < 0 and not self._is_told() and z == len(self._node.syncs)

    def _do_take_delete(self, z: int) -> None:
        del z
        self._node.consumed += 1
        self._node.deletes = (*self._node.deletes, self._node.consumed)

    def _may_leave_out(self) -> bool:
        return self._next() < 0 and self._is_told()

    def _do_leave_out(self) -> None:
        self._node.consumed += 1

    def _of(self, g: int, positions: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(p for p in positions if self._scenario.log[p - 1] == g + 1)

    def _may_sync_rows(self, g: int) -> bool:
        return bool(self._of(g, self._node.rows))

    def _do_sync_rows(self, g: int) -> None:
        found = self._of(g, self._node.rows)
        self._node.rows = tuple(p for p in self._node.rows if p not in found)
        self._node.writing = (*self._node.writing, *found)

    def _may_store_rows(self, g: int, upto: int) -> bool:
        return max(self._of(g, self._node.writing), default=0) == upto > 0

    def _do_store_rows(self, g: int, upto: int) -> None:
        found = self._of(g, self._node.writing)
        self._save(self._written(g + 1, found, upto))
        self._node.writing = tuple(p for p in self._node.writing if p not in found)

    def _written(self, segment: SegmentId, positions: tuple[int, ...], upto: int) -> SaveBinlogPaths:
        """Write an object; the request that makes it count."""
        path = f"{CHANNEL}/segment-{segment}/{self._owner.term}-{upto}"
        self._now(self._store.put(path, [self._scenario.row(position) for position in positions]))
        binlog = BinlogRecord(path, positions)
        return SaveBinlogPaths(CHANNEL, self._owner, segment, EndPosition(upto), binlog)

    def _save(self, request: SaveBinlogPaths) -> None:
        self._sent.append(request)
        self._now(self._coordinator.save_binlog_paths(request))

    def _may_sync_deletes(self, z: int) -> bool:
        return z == len(self._node.syncs) and bool(self._node.deletes)

    def _do_sync_deletes(self, z: int) -> None:
        del z
        found, self._node.deletes = self._node.deletes, ()
        request = self._written(_LEVEL_ZERO, found, found[-1])
        assert request.binlog is not None
        self._node.syncs.append(Sync(request.binlog.path, found, "syncing"))
        self._saves[request.binlog.path] = request

    def _may_record(self, z: int) -> bool:
        """A node sends the saves of a segment one after another; those of the dead are refused."""
        waiting = [place for place, sync in enumerate(self._node.syncs) if sync.state == "syncing"]
        return waiting[:1] == [z]

    def _do_record(self, z: int) -> None:
        self._save(self._saves[self._node.syncs[z].path])
        self._set(z, "answered")

    def _set(self, z: int, state: str) -> None:
        self._node.syncs[z] = self._node.syncs[z]._replace(state=state)

    def _is_answered(self, z: int) -> bool:
        return z < len(self._node.syncs) and self._node.syncs[z].state == "answered"

    def _may_lose_answer(self, z: int) -> bool:
        return self._is_answered(z)

    def _do_lose_answer(self, z: int) -> None:
        self._set(z, "syncing")

    def _may_finish(self, z: int) -> bool:
        return self._is_answered(z)

    def _do_finish(self, z: int) -> None:
        self._set(z, "none")

    def _earliest(self) -> int:
        node = self._node
        syncing = [p for sync in node.syncs if sync.state != "none" for p in sync.positions]
        return min((*node.rows, *node.writing, *node.deletes, *syncing), default=node.consumed + 1) - 1

    def _may_send_checkpoint(self, value: int) -> bool:
        return value == self._earliest()

    def _do_send_checkpoint(self, value: int) -> None:
        self._node.report = value
        self._reports.append(value)

    def _may_store_checkpoint(self, value: int) -> bool:
        return value in self._reports

    def _do_store_checkpoint(self, value: int) -> None:
        position = ChannelPosition(CHANNEL, EndPosition(value), self._owner)
        self._now(self._coordinator.update_channel_checkpoints(UpdateCheckpoints((position,))))

    def _may_restart(self, value: int) -> bool:
        return value == self._coordinator.channel(CHANNEL).checkpoint

    def _do_restart(self, value: int) -> None:
        del value
        self._recover()

    # Segments, and what is applied to them.

    def _may_end_segment(self, g: int) -> bool:
        """All rows of it are recorded: what was told, and what this node has stored since."""
        rows = {p + 1 for p, segment in enumerate(self._scenario.log) if segment == g + 1}
        record = self._coordinator.segments.get(g + 1)
        return record is not None and record.dml_position.ts >= max(rows, default=0)

    def _do_end_segment(self, g: int) -> None:
        upto = EndPosition(self._node.consumed)
        self._save(SaveBinlogPaths(CHANNEL, self._owner, g + 1, upto, None, flushed=True))

    def _waiting(self, z: int) -> tuple[BinlogRecord | None, list[SegmentId]]:
        path = self._node.syncs[z].path if z < len(self._node.syncs) else ""
        return self._compactor.waiting(path)

    def _may_apply(self, z: int, g: int) -> bool:
        return g + 1 in self._waiting(z)[1]

    def _do_apply(self, z: int, g: int) -> None:
        level, _ = self._waiting(z)
        assert level is not None
        self._now(self._compactor.apply_to(g + 1, level))

    def _may_drop(self, z: int) -> bool:
        level, waiting = self._waiting(z)
        return level is not None and not waiting

    def _do_drop(self, z: int) -> None:
        level, _ = self._waiting(z)
        assert level is not None
        self._now(self._compactor.drop(level))

    def _may_compact(self, g: int, missed: int) -> bool:
        record = self._coordinator.segments.get(g + 1)
        return not missed and record is not None and bool(record.compaction.deltas)

    def _do_compact(self, g: int, missed: int) -> None:
        del missed
        self._now(self._compactor.rewrite_one(g + 1))

    # Loads.

    def _do_begin_load(self, levels: int) -> None:
        given = describe(self._coordinator, CHANNEL, levels=bool(levels))
        stored = tuple(record for record in given.segments if record.segment_id < 0)
        lifted = tuple(p for record in stored for one in record.binlogs for p in one.row_positions)
        self._load = LoadView(given.seek.ts, lifted)
        self._delegator = ShardDelegator(
            replace(given, segments=stored),
            store=self._store,
            preemption=NoPreemption(),
            config=QueryNodeConfig(),
        )
        self._now(self._delegator.recover())

    def _may_begin_load(self, levels: int) -> bool:
        del levels
        return True

    def _may_read_segment(self, g: int) -> bool:
        record = self._coordinator.segments.get(g + 1)
        return self._delegator is not None and record is not None and record.flushed

    def _do_read_segment(self, g: int) -> None:
        """Load it, and compare what is there with what was given."""
        assert self._delegator is not None
        record = self._coordinator.segments[g + 1]
        found = found_in(self._scenario, record)
        self._load = self._load.with_segment(record.segment_id, found)
        self._now(self._delegator.load(LoadSegment(record, replay_from=0)))
        wanted = [p for p in found if not is_hit(self._scenario, p, self._load.lifted)]
        end = len(self._scenario.log)
        seen = sorted(row.ts for row in self._delegator.sealed[g + 1].visible(end))
        if seen != wanted:
            raise BrokenRunError(f"the rows {wanted} of segment {g + 1} are there, and the node has {seen}")
