"""The life of a query node's channel on a steady clock: taken up, read, loaded, trimmed, released.

``program`` refines the specification within few steps; here durations are real, rows have several keys, and
files, the log and reads go wrong as a script says. ``reckoning`` says what is right.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from tidemark.impl.errors import ImplementationError, StoreError
from tidemark.impl.querynode.config import QueryNodeConfig
from tidemark.impl.querynode.delegator import ShardDelegator
from tidemark.impl.querynode.query_node import QueryNode, QueryNodePorts
from tidemark.impl.querynode.values import ChannelDescription, LoadSegment, ShardRead
from tidemark.impl.stream.node_dispatchers import NodeDispatchers
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.types import BinlogRecord, Compaction, EndPosition, Row, SegmentRecord
from tidemark.impl.values.messages import DeleteMessage, Entry, InsertMessage, LogMessage, Tick
from tidemark.impl.values.nearest import Nearest
from tidemark.models.protocols.common.scripted import OK, Script, ScriptedProgram
from tidemark.models.protocols.segments.ports import CHANNEL
from tidemark.models.protocols.segments.reckoning import (
    ANSWERS_ARE_RIGHT,
    CALLS_SAY_WHAT_IS,
    NOTHING_IS_LEFT,
    READS_END_IN_TIME,
    SEARCHES,
    Load,
    Reckoning,
    Seen,
    TakeUp,
)
from tidemark.models.protocols.segments.scripts import SCRIPTS
from tidemark.models.simulation.world.process import Process

_CONFIG = QueryNodeConfig(max_lag_ts=100, stall_seconds=5.0, replay_batch=2, load_attempts=2)
"""Boundaries that tell each other apart."""
_OFTEN = 60
"""No point of the node is reached more often."""
_BROKEN = "broken"
_WORK = ("pipeline ", "dispatcher")
"""How the names of a node's tasks begin."""


class NodeLife(ScriptedProgram):
    """One query node with one channel.

    Scripts have the questions ``read`` of the log and ``rows G``, ``deletes G`` of files, and

    - ``log``: (seconds, "rows", ts, (segment, key) ...), (seconds, "delete", ts, keys ...) and
      (seconds, "tick", ts);
    - ``seek``: where the stream goes on; ``stored``: (segment, kind, timestamp up to which its files go) of
      each segment of the description: ``growing``, ``flushed``, ``dropped``, or ``deletes`` for level zero,
      and perhaps above which;
    - ``deltas``: by segment the timestamp up to which files with its deletes go;
    - ``does``: (seconds, call, arguments ...): ``watch``, ``cancel``, ``release``, ``stop``, ``trim UPTO``,
      ``load SEGMENT UPTO LEVEL_ZERO [growing]``, ``read GUARANTEE MVCC KEYS DEADLINE``;
    - ``slow``: the point of preemption after which anything else may happen;
    - ``dispatchers``: the node has them.
    """

    claims = (ANSWERS_ARE_RIGHT, READS_END_IN_TIME, CALLS_SAY_WHAT_IS, NOTHING_IS_LEFT)

    def __init__(self, scripts: Sequence[Script], *, timers: int) -> None:
        super().__init__(scripts, timers=timers)
        self.done: list[str] = []
        self.last = 0
        self.calls: dict[str, TakeUp | Load] = {}
        self.under_way: dict[str, asyncio.Task[None] | None] = {}

    async def live(self, process: Process) -> None:
        """Start the node, and all that happens to it."""
        stored = self.script.get("stored", ())
        self.reckoning = Reckoning(
            _CONFIG,
            process.now,
            seek=self.script.get("seek", 0),
            listed=[segment for segment, kind, *_ in stored if kind == "flushed"],
            dropped=[segment for segment, kind, *_ in stored if kind == "dropped"],
            steady="slow" not in self.script,
        )
        self.edges = _Edges(self, process)
        dispatchers = NodeDispatchers(self.edges) if self.script.get("dispatchers") else None
        ports = QueryNodePorts(
            log=self.edges, store=self.edges, preemption=self.edges, dispatchers=dispatchers
        )
        self.node = QueryNode(node_id="a", ports=ports, config=_CONFIG)
        self.begun = True
        process.spawn(self._happens(process), "script")

    async def _happens(self, process: Process) -> None:
        """One thing after the other. At one time the log grows first."""
        happens: list[tuple[float, LogMessage | None, str, tuple[Any, ...]]] = [
            (seconds, _message(kind, ts, given), "", ())
            for seconds, kind, ts, *given in self.script.get("log", ())
        ]
        happens += [
            (seconds, None, f"{kind} {place}", (kind, *given))
            for place, (seconds, kind, *given) in enumerate(self.script["does"])
        ]
        for seconds, message, name, call in sorted(happens, key=lambda one: one[0]):
            if seconds > process.now():
                await asyncio.sleep(seconds - process.now())
            if message is None:
                process.spawn(self._call(name, *call), name)
            else:
                self.reckoning.grows(message)
                self.edges.grow(message)

    async def _call(self, name: str, kind: str, *given: Any) -> None:
        task = self.under_way[name] = asyncio.current_task()
        assert task is not None
        await getattr(self, f"_{kind}")(name, *given)
        self.done.append(name)

    # What the node is told.

    async def _watch(self, name: str) -> None:
        taken = self.calls[name] = self.reckoning.takes_up()
        position = StreamPosition(0, self.script.get("seek", 0))
        records = tuple(self._record(*one) for one in self.script.get("stored", ()))
        error = "CancelledError"
        try:
            await self.node.watch(ChannelDescription(CHANNEL, position, records))
            error = ""
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            error = type(failure).__name__
        finally:
            self.reckoning.taken_up(taken, error)

    async def _cancel(self, name: str) -> None:
        del name
        for told, task in self.under_way.items():
            call = self.calls.get(told)
            if task is not None and isinstance(call, TakeUp) and not task.done():
                call.cancelled = True
                task.cancel()

    async def _release(self, name: str) -> None:
        del name
        self.reckoning.releases()
        await self.node.release(CHANNEL)
        if self.node.dispatchers is None:
            self.reckoning.released(self.edges.streams)

    async def _stop(self, name: str) -> None:
        del name
        self.reckoning.releases()
        await self.node.stop()
        names = [task.get_name() for task in asyncio.all_tasks()]
        if self.edges.streams or any(name.startswith(_WORK) for name in names):
            self.reckoning.wrong = f"{NOTHING_IS_LEFT}: the node is stopped, and works"

    async def _trim(self, name: str, upto: int) -> None:
        del name
        error = ""
        try:
            self.node.trim_deletes(CHANNEL, upto)
        except ImplementationError as failure:
            error = type(failure).__name__
        delegator = self.node.delegators.get(CHANNEL)
        kept = () if delegator is None else tuple(delete.ts for delete in delegator.deletes.kept)
        self.reckoning.trims(upto, error, kept)

    async def _load(self, name: str, segment: int, upto: int, zero: int, kind: str = "flushed") -> None:
        load = self.calls[name] = self.reckoning.load_begins(segment, zero, flushed=kind == "flushed")
        level_zero = (self._record(-1, "deletes", zero),) if zero else ()
        try:
            await self.node.load_segment(
                CHANNEL, LoadSegment(self._record(segment, kind, upto), level_zero, zero)
            )
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            self.reckoning.load_ends(load, type(failure).__name__)
        else:
            self.reckoning.load_ends(load, "")

    async def _read(
        self,
        name: str,
        guarantee: int,
        mvcc: int | None = None,
        keys: tuple[int, ...] | None = None,
        deadline: float | None = None,
    ) -> None:
        del name
        ask = self.reckoning.asked(guarantee, mvcc, keys, deadline, service=self._service())
        try:
            answer = await self.node.query(
                CHANNEL, guarantee=guarantee, mvcc=mvcc, keys=keys, deadline=deadline
            )
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            self.reckoning.refuses(ask, type(failure).__name__, self._service())
        else:
            self.reckoning.answers(ask, answer, self._service())

    def _service(self) -> int:
        """The service time now; what it has come to if the channel was released."""
        delegator = self.node.delegators.get(CHANNEL)
        if delegator is not None:
            self.last = delegator.service_time.value
        return self.last

    def _record(self, segment: int, kind: str, upto: int, above: int = 0) -> SegmentRecord:
        delta = self.script.get("deltas", {}).get(str(segment), 0)
        return SegmentRecord(
            segment,
            CHANNEL,
            EndPosition(upto),
            flushed=kind in ("flushed", "dropped"),
            dropped=kind == "dropped",
            binlogs=(
                BinlogRecord(f"{kind if kind == 'deletes' else 'rows'} {segment} {upto} {above}", (upto,)),
            ),
            compaction=Compaction(
                deltas=(BinlogRecord(f"deletes {segment} {delta} 0", (delta,)),) if delta else ()
            ),
        )

    # What is looked at.

    def look(self) -> Hashable:
        """Return what is served, what has ended, and what is wrong."""
        return (self._seen(), tuple(self.done), self.reckoning.wrong)

    def _seen(self) -> Seen:
        node, failure = self.node, self.node.supervisor.failure
        dispatchers = node.dispatchers
        targets = 0 if dispatchers is None else sum(len(m.channels()) for m in dispatchers.managers.values())
        parts = len(node.delegators) + len(node.pipelines) + targets
        failed = "" if failure is None else type(failure).__name__
        streams = self.edges.streams
        delegator = node.delegators.get(CHANNEL)
        if delegator is None:
            return Seen(parts=parts, streams=streams, failure=failed)
        service = node.service_time(CHANNEL)
        return Seen(
            service=service,
            found=_found(delegator, service),
            nearest=tuple(_found(delegator, service, Nearest(*asked)) for asked in SEARCHES),
            sealed=frozenset(g for g in range(9) if node.serves_sealed(CHANNEL, g)),
            growing=frozenset(delegator.growing),
            strange=sum(key not in one.rows for one in delegator.segments() for key in one.deletes),
            floor=delegator.deletes.floor,
            excluded=tuple(delegator.excluded.upto.values()),
            sleepers=len(delegator.service_time.sleepers),
            parts=parts,
            streams=streams,
            failure=failed,
        )

    def wrong(self) -> str | None:
        """Return what the reckoning has found wrong."""
        return self.reckoning.wrong if self.begun else None

    def wrong_after_a_step(self) -> str | None:
        """Return what the reckoning finds wrong."""
        return self.reckoning.left(self._seen())

    def _is_cancelled(self, name: str) -> bool:
        call = self.calls.get(name)
        return isinstance(call, TakeUp) and call.cancelled

    def wrong_at_the_end(self) -> str | None:
        """All calls have ended, and the service time is the last tick."""
        late = [name for name in self.under_way if name not in self.done and not self._is_cancelled(name)]
        if late:
            return f"{CALLS_SAY_WHAT_IS}: {', '.join(late)} does not end"
        seen, reckoning = self._seen(), self.reckoning
        if reckoning.served and not reckoning.broken and seen.service != reckoning.tick():
            return f"{READS_END_IN_TIME}: the service time stays at {seen.service}"
        return None


def _found(delegator: ShardDelegator, service: int, nearest: Nearest | None = None) -> tuple[Row, ...] | str:
    """What a read or a search at the service time would find, or how it would fail."""
    try:
        return delegator.collect(ShardRead(service, nearest=nearest, moment=service))
    except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
        return repr(failure)


def _message(kind: str, ts: int, given: Sequence[object]) -> LogMessage:
    match kind:
        case "tick":
            return Tick(ts)
        case "delete":
            return DeleteMessage(ts, CHANNEL, -1, tuple(int(str(key)) for key in given))
        case _:
            pairs: Sequence[tuple[int, int]] = given  # type: ignore[assignment]  # as the script has them
            return InsertMessage(ts, CHANNEL, tuple(Row(ts, segment, key, str(ts)) for segment, key in pairs))


class _Edges:
    """The log and the files, and the points at which the script lets others go first.

    streams: how many wait for the log.
    """

    def __init__(self, program: NodeLife, process: Process) -> None:
        self.entries: list[Entry] = []
        self.streams = 0
        self._points: Counter[str] = Counter()
        self._grown = asyncio.Event()
        self._program = program
        self._process = process

    def grow(self, message: LogMessage) -> None:
        """The log grows."""
        self.entries.append(Entry(len(self.entries) + 1, 0, message))
        self._grown.set()
        self._grown = asyncio.Event()

    async def point(self, name: str) -> None:
        """See tidemark.impl.ports.Preemption."""
        self._points[name] += 1
        if self._points[name] > _OFTEN:
            self._program.reckoning.goes_round(name)
        await self._program.halt_if_wrong()
        if name == self._program.script.get("slow"):
            await self._process.point(name)

    async def read(self, channel: str, place: int) -> Sequence[Entry]:
        """See EntryLog. One entry at a time."""
        del channel
        self.streams += 1
        try:
            if await self._program.answer(self._process, "read") == _BROKEN:
                self._program.reckoning.broken = True
                raise RuntimeError("the log is broken")
            while place > len(self.entries):
                await self._grown.wait()
        finally:
            self.streams -= 1
        return (self.entries[place - 1],)

    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """See ObjectStore. Query nodes write nothing."""
        raise NotImplementedError(f"{path} {rows}")

    async def get(self, path: str) -> tuple[Row, ...]:
        """See ObjectStore."""
        kind, segment, upto, above = path.split()
        task = asyncio.current_task()
        assert task is not None
        caller = self._program.calls[task.get_name()]
        answer = await self._program.answer(self._process, f"{kind} {segment}")
        error = {OK: "", _BROKEN: "RuntimeError"}.get(answer, "StoreError")
        self._program.reckoning.file_answers(caller, int(segment), path, error)
        if error:
            raise RuntimeError(path) if error == "RuntimeError" else StoreError(path)
        rows = self._rows(kind, int(segment), int(upto))
        return tuple(row for row in rows if row.ts > int(above))

    def _rows(self, kind: str, segment: int, upto: int) -> tuple[Row, ...]:
        """Rows of the segment, or all deletes, up to a timestamp."""
        log = [message for message in self._program.reckoning.log if message.ts <= upto]
        if kind == "deletes":
            return tuple(Row(m.ts, -1, key) for m in log if isinstance(m, DeleteMessage) for key in m.keys)
        rows = [row for m in log if isinstance(m, InsertMessage) for row in m.rows]
        return tuple(row for row in rows if row.segment_id == segment)


def life() -> NodeLife:
    """Return the program of all scripts."""
    return NodeLife(SCRIPTS, timers=60)
