"""The life of one data node: it takes channels up, syncs, reports, flushes, seals, drops, and ends.

Its log, its store and its coordinator answer as a script says; ``reckoning`` says what is right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datanode.data_node import DataNode, DataNodeParts, DataNodePorts
from tidemark.impl.datanode.policies import default_policies
from tidemark.impl.datanode.write_buffer import WriteBuffer
from tidemark.impl.errors import RpcError, StoreError
from tidemark.impl.types import (
    BinlogRecord,
    EndPosition,
    Owner,
    Pack,
    Position,
    RecoveryAnswer,
    Row,
    SaveBinlogPaths,
    SaveOutcome,
    SegmentRecord,
    StartPosition,
    UpdateCheckpoints,
)
from tidemark.models.protocols.common.scripted import OK, Script, ScriptedProgram
from tidemark.models.protocols.node.channel import ROW_BYTES, jitter
from tidemark.models.protocols.node.reckoning import (
    ALREADY,
    BROKEN,
    CALLS_ARE_ANSWERED_RIGHT,
    DUE_IS_ASKED,
    FAIL,
    IT_ENDS,
    REFUSED,
    SESSION,
    Reckoning,
)
from tidemark.models.protocols.node.rounds import NODE
from tidemark.models.protocols.node.scripts import SCRIPTS
from tidemark.models.simulation.world.process import Process

_TERM = 6
_END = 12
_OUTCOMES = {
    OK: SaveOutcome.RECORDED,
    ALREADY: SaveOutcome.ALREADY_RECORDED,
    REFUSED: SaveOutcome.NOT_OWNER,
}
_CONFIG: dict[str, Any] = {
    "full_buffer_bytes": 3 * ROW_BYTES,
    "stale_after_ts": 40,
    "memory_watermark_bytes": 100 * ROW_BYTES,
    "memory_check_seconds": 1000.0,
    "checkpoint_interval_ts": 100,
    "checkpoint_tick_seconds": 1000.0,
    "max_positions_per_rpc": 1,
    "max_parallel_rpcs": 1,
    "checkpoint_rpc_timeout": 17.0,
    "save_rpc_timeout": 13.0,
    "retry_initial_seconds": 1.0,
    "retry_max_seconds": 3.0,
}


class NodeLife(ScriptedProgram):
    """One data node.

    Scripts have the questions ``recover``, ``put``, ``save``, ``update`` and ``drop``, and

    - ``packs``: by channel (seconds, timestamp of the end, rows as (timestamp, segment), how it ends) of each
      pack; it ends with "", "close" or "drop";
    - ``calls``: (seconds, what, arguments) of what the node is asked to do: "recover", "flush", "seal";
    - ``points``: the points of preemption at which it may be held up; at the others it goes on at once;
    - ``end``: when it is stopped;
    - ``seek``: where channels are taken up; ``stored``: (segment, position, phase) of what was stored before;
    - ``config``: what differs in the configuration.
    """

    claims = (DUE_IS_ASKED, CALLS_ARE_ANSWERED_RIGHT, IT_ENDS)
    right: str | bool = ""
    """What the present call of the node must answer, or the error that must come."""

    def __init__(self, scripts: Sequence[Script], *, timers: int) -> None:
        super().__init__(scripts, timers=timers)
        self.sealing: dict[str, _Sealing] = {}
        """By task the seals that have begun."""

    parts: Mapping[str, Any] = MappingProxyType({})
    """Classes of the node that differ."""

    async def live(self, process: Process) -> None:
        """Start the node, and all that happens to it."""
        config = DataNodeConfig(**{**_CONFIG, **self.script.get("config", {})})
        self.reckoning = Reckoning(config, process.now)
        edges = _Edges(self, process)
        ports = DataNodePorts(clock=edges, log=edges, store=edges, coordinator=edges, preemption=edges)
        parts = DataNodeParts(policies=partial(default_policies, jitter=jitter), **self.parts)
        self.node = DataNode(node_id=NODE, session=SESSION, ports=ports, config=config, parts=parts)
        self.begun = True
        self.reckoning.begins()
        self.node.start()
        calls = self.script.get("calls", ())
        every: list[Sequence[Any]] = [(0, "recover", name) for name in self.script.get("packs", {})]
        every += [*calls, (self.script.get("end", _END), "stop")]
        for place, (seconds, what, *arguments) in enumerate(every):
            name = f"recover {arguments[0]}" if what == "recover" else f"{what} {place}"
            process.spawn(self._call(seconds, what, arguments), name)

    async def _call(self, seconds: float, what: str, arguments: Sequence[Any]) -> None:
        await asyncio.sleep(seconds)
        try:
            right, found = await getattr(self, f"_call_{what}")(*arguments)
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            right, found = self.right, type(failure).__name__
        if right != found:
            self.reckoning.complain(CALLS_ARE_ANSWERED_RIGHT, f"{what} {arguments}: {found!r}, not {right!r}")

    async def _call_recover(self, channel: str) -> tuple[Any, Any]:
        self.reckoning.due.append(self.reckoning.recovery(channel))
        self.right = "ValueError" if channel in self.reckoning.channels else ""
        await self.node.recover_channel(channel)
        return self.right, ""

    async def _call_flush(self, channel: str, ts: int) -> tuple[Any, Any]:
        self.right = self.reckoning.asks_to_flush(channel, ts)
        self.node.flush_channel(channel, ts)
        return self.right, ""

    async def _call_seal(self, channel: str, segments: Sequence[int], expires: int) -> tuple[Any, Any]:
        first, *rest = sorted(segments)
        self.right = self.reckoning.asks_to_seal(channel, [first], expires)
        sealing = self.sealing[_task()] = _Sealing(channel, rest, expires, self.right)
        found = await self.node.seal_segments(channel, segments, expires=expires)
        return sealing.right, found

    async def _call_stop(self) -> tuple[Any, Any]:
        self.reckoning.stopped = True
        await self.node.stop()
        return "", ""

    # What is looked at.

    def _failure(self) -> str:
        failure = self.node.supervisor.failure
        return "" if failure is None else type(failure).__name__

    def _seen(self) -> dict[str, Hashable]:
        found: dict[str, Hashable] = {
            name: (
                one.consumed.ts,
                one.flush_ts,
                tuple(sorted(one.buffers)),
                _checkpoint(one),
                tuple(sorted((*key, task.stage.value) for key, task in one.tasks.items())),
                tuple(sorted((number, info.phase.value) for number, info in one.metacache.segments.items())),
            )
            for name, one in self.node.buffers.buffers.items()
        }
        return found if set(found) == set(self.node.pipelines) else {"served": tuple(self.node.pipelines)}

    def look(self) -> Hashable:
        """Return what the node holds, and how it has ended."""
        return (tuple(sorted(self._seen().items())), self._failure(), self.reckoning.wrong)

    def wrong(self) -> str | None:
        """Return what the reckoning has found wrong."""
        return self.reckoning.wrong

    def wrong_after_a_step(self) -> str | None:
        """Return what the reckoning finds wrong."""
        queues = [key for key in self.node.sync_manager.queues if isinstance(key, tuple)]
        sending = [(task.channel, task.position.ts) for task in self.node.updater.sending]
        return self.reckoning.left(failure=self._failure(), seen=self._seen(), queues=queues, sending=sending)


@dataclass
class _Sealing:
    """A call that seals segments, one after the other. right: what it must answer, so far."""

    channel: str
    rest: list[int]
    expires: int
    right: str | bool


def _task() -> str:
    task = asyncio.current_task()
    return task.get_name() if task is not None else ""


def _checkpoint(buffer: WriteBuffer) -> int | str:
    """What the node would report of a channel, or how it fails to."""
    try:
        return buffer.get_checkpoint().ts
    except Exception as failure:  # noqa: BLE001  whatever it is, it is no checkpoint
        return type(failure).__name__


class _Edges:
    """The log, the store, the coordinator and the clock, which the reckoning is told of."""

    def __init__(self, program: NodeLife, process: Process) -> None:
        self._program = program
        self._process = process
        self._reckoning = program.reckoning

    async def point(self, name: str) -> None:
        """See tidemark.impl.ports.Preemption. Between two segments of a seal the next one is looked at."""
        if name in self._program.script.get("points", ()):
            await self._process.point(name)
        sealing = self._program.sealing.get(_task())
        if name == "node.seal" and sealing is not None and sealing.rest:
            ripe = self._reckoning.asks_to_seal(sealing.channel, [sealing.rest.pop(0)], sealing.expires)
            sealing.right = ripe and sealing.right

    async def sleep(self, seconds: float) -> None:
        """See tidemark.impl.ports.Clock."""
        name = _task()
        self._reckoning.asks("sleep", name, seconds)
        await self._program.halt_if_wrong()
        await asyncio.sleep(seconds)
        self._reckoning.wakes(name, seconds)

    async def next_pack(self, channel: str, after: Position) -> Pack:
        """See tidemark.impl.ports.WriteAheadLog."""
        self._reckoning.asks("next", channel, after.ts)
        start = 0
        for seconds, end, rows, how in self._program.script["packs"][channel]:
            if end > after.ts:
                await asyncio.sleep(max(0.0, seconds - self._process.now()))
                pack = Pack(
                    StartPosition(start),
                    EndPosition(end),
                    tuple(Row(ts, segment, ts) for ts, segment in rows),
                    close=how == "close",
                    drop=how == "drop",
                )
                self._reckoning.takes(channel, pack)
                return pack
            start = end
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """See tidemark.impl.ports.ObjectStore."""
        task = self._reckoning.puts(path, tuple(row.ts for row in rows), rows[0].segment_id if rows else 0)
        answer = await self._program.answer(self._process, "put")
        if answer == BROKEN:
            self._reckoning.failure = "RuntimeError"
        else:
            self._reckoning.has_put(task, answer)
        _raise(answer, StoreError)

    async def get(self, path: str) -> tuple[Row, ...]:
        """See tidemark.impl.ports.ObjectStore. A node only writes."""
        raise NotImplementedError(path)

    async def save_binlog_paths(self, request: SaveBinlogPaths, *, deadline: float) -> SaveOutcome:
        """See tidemark.impl.ports.CoordinatorClient."""
        binlog = request.binlog or BinlogRecord("", ())
        end = "flush" if request.flushed else "drop" if request.dropped else ""
        term, position = request.owner.term, request.position.ts
        asked = (request.channel, request.segment_id, term, position, binlog.row_positions, end, deadline)
        self._reckoning.asks("save", *asked)
        task = self._reckoning.saves(request.channel, request.segment_id, binlog.path or None)
        answer = await self._program.answer(self._process, "save")
        if answer == BROKEN:
            self._reckoning.failure = "RuntimeError"
        else:
            self._reckoning.has_saved(task, answer)
        _raise(answer, RpcError)
        return _OUTCOMES[answer]

    async def update_channel_checkpoints(self, request: UpdateCheckpoints, *, deadline: float) -> None:
        """See tidemark.impl.ports.CoordinatorClient."""
        batch = tuple((one.channel, one.position.ts, one.owner.term) for one in request.positions)
        self._reckoning.asks("update", batch, deadline)
        answer = await self._program.answer(self._process, "update")
        if answer == BROKEN:
            self._reckoning.failure = "RuntimeError"
        else:
            self._reckoning.rounds.answered(batch, answer)
        _raise(answer, RpcError)

    async def recover_channel(
        self, channel: str, node_id: str, session: int, *, deadline: float
    ) -> RecoveryAnswer:
        """See tidemark.impl.ports.CoordinatorClient."""
        self._reckoning.asks("recover", channel, node_id, session, deadline)
        answer = await self._program.answer(self._process, "recover")
        if answer == FAIL:
            self._reckoning.fails_to_recover(channel)
        if answer == BROKEN:
            self._program.right = "RuntimeError"
        _raise(answer, RpcError)
        script = self._program.script
        stored = {segment: (position, phase) for segment, position, phase in script.get("stored", ())}
        self._reckoning.recovers(channel, script.get("seek", 0), stored, _TERM)
        records = tuple(
            SegmentRecord(
                segment,
                channel,
                EndPosition(position),
                flushed=phase == "flushed",
                dropped=phase == "dropped",
            )
            for segment, (position, phase) in stored.items()
        )
        owner = Owner(NODE, _TERM)
        return RecoveryAnswer(channel, owner, EndPosition(script.get("seek", 0)), records)

    async def drop_channel(self, channel: str, owner: Owner, *, deadline: float) -> None:
        """See tidemark.impl.ports.CoordinatorClient."""
        self._reckoning.asks("drop", channel, owner.node_id, deadline)
        answer = await self._program.answer(self._process, "drop")
        if answer == BROKEN:
            self._reckoning.failure = "RuntimeError"
        else:
            self._reckoning.has_dropped(channel, answer)
        _raise(answer, RpcError)


def _raise(answer: str, failure: type[Exception]) -> None:
    """Raise what is answered."""
    if answer == BROKEN:
        raise RuntimeError("an edge is broken")
    if answer == FAIL:
        raise failure("an edge fails")


def life(**parts: Any) -> NodeLife:
    """Return the program of all scripts. ``parts``: classes of the node, see ``DataNodeParts``."""
    program = NodeLife(SCRIPTS, timers=40)
    program.parts = parts
    return program
