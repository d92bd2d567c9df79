"""The life of one proxy: it begins to serve, takes writes, ticks and reports, and is stopped or breaks.

The explored programs of the proxy serve from the start, have room for every task, and edges that fail within
a budget; here each edge answers as a script says. ``reckoning`` says what is right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import partial

from tidemark.impl.errors import CollectionError, RpcError, RpcTimeoutError, WriteFailedError
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.proxy.ports import ProxyPorts
from tidemark.impl.proxy.proxy import Proxy, ProxyParts
from tidemark.impl.proxy.queues import QueueKind
from tidemark.impl.proxy.statistics import HeapStatistics, ScanStatistics
from tidemark.impl.proxy.values import AppendOutcome, CallTask, DmlTask, Message
from tidemark.impl.timestamp import Batch
from tidemark.impl.values.report import TimeTickReport
from tidemark.models.protocols.common.scripted import OK, ScriptedProgram
from tidemark.models.protocols.proxy.calls import CALLS_ARE_ANSWERED, Call, Heard
from tidemark.models.protocols.proxy.reckoning import (
    BROKEN,
    FAIL,
    IT_ENDS,
    TAKES_IN_TURN,
    TICKS_IN_TIME,
    TIMEOUT,
    WRITES_ARE_TOLD,
    Reckoning,
)
from tidemark.models.protocols.proxy.scripts import SCRIPTS
from tidemark.models.protocols.proxy.writes import APPENDED, Write
from tidemark.models.simulation.world.process import Process

_SOURCE = 7
_END = 7.5
_IDS = 3
"""How many ids are asked for at a time."""
_UNKNOWN_COLLECTION = "unknown collection"
"""What a component answers that is reached and refuses."""


class ProxyLife(ScriptedProgram):
    """One proxy and its clients.

    Scripts have the questions ``tick`` and ``alloc`` of the oracle, ``report``, ``append``, ``settle``, and

    - ``writes``: (seconds, channels) of each write; with "plain" beside them the client makes no task itself;
      with "checked" the task looks once more, with its timestamp, and is told what ``check`` says;
    - ``calls``: (seconds, queue) of each call of another component, which says what ``call`` says;
    - ``room``, ``workers``: how many tasks may wait, and how many run side by side;
    - ``interval``: how far the gate of a channel lies above a tick;
    - ``scan``: the least timestamp is found by a look at all of them;
    - ``close``, ``stop``: when it is closed and stopped.
    """

    claims = (TAKES_IN_TURN, WRITES_ARE_TOLD, CALLS_ARE_ANSWERED, TICKS_IN_TIME, IT_ENDS)

    async def live(self, process: Process) -> None:
        """Start the proxy, and its clients."""
        config = ProxyConfig(
            max_tasks=self.script.get("room", 8),
            parallel_tasks=self.script.get("workers", 8),
            tick_seconds=2.0,
            report_seconds=3.0,
            tick_interval_ts=self.script.get("interval", 1),
            produce_timeout=11.0,
            report_timeout=13.0,
            id_batch=_IDS,
        )
        self.reckoning = Reckoning(config, _SOURCE, process.now)
        edges = _Edges(self, process)
        ports = ProxyPorts(oracle=edges, streams=edges, root_coord=edges, clock=edges, ids=edges)
        parts = ProxyParts(statistics=ScanStatistics if self.script.get("scan") else HeapStatistics)
        self.proxy = Proxy(source=_SOURCE, ports=ports, config=config, parts=parts)
        self.order: list[str] = []
        self.begun = True
        self.reckoning.begins()
        self.proxy.start()
        for place, (seconds, channels, *how) in enumerate(self.script.get("writes", ())):
            name = f"client {place}"
            process.spawn(self._write(process, seconds, tuple(channels), name, how), name)
        for place, (seconds, queue) in enumerate(self.script.get("calls", ())):
            process.spawn(self._call(process, seconds, queue, f"caller {place}"), f"caller {place}")
        if "close" in self.script:
            process.spawn(self._close(self.script["close"]), "close")
        process.spawn(self._stop(self.script.get("stop", _END)), "stop")

    async def _write(
        self, process: Process, seconds: float, channels: tuple[str, ...], name: str, how: Sequence[str]
    ) -> None:
        task = None if "plain" in how else DmlTask(channels, name)
        if "checked" in how:
            task = _Checked(channels, name, check=partial(self._check, process, name))
        write = Write(task, channels, name, check="checked" in how)
        self.reckoning.writes[name] = write
        await asyncio.sleep(seconds)
        self.reckoning.comes(name)
        self.order.append(name)
        try:
            if task is None:
                write.task = await self.proxy.write(channels, name)
            else:
                await self.proxy.submit(task)
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            self.reckoning.is_told(name, type(failure).__name__)
        else:
            self.reckoning.is_told(name, "")
        if write.task is not None:
            self.reckoning.has_id(name, self.order.index(name) + 1, write.task.id)

    async def _check(self, process: Process, name: str) -> bool:
        fails = await self.answer(process, "check") == FAIL
        self.reckoning.checks(name, fails=fails)
        return not fails

    async def _call(self, process: Process, seconds: float, queue: str, name: str) -> None:
        call = self.reckoning.calls.calls[name] = Call(queue)
        task = CallTask[str]((f"for {queue}",), call=partial(self._component, process, name))
        await asyncio.sleep(seconds)
        call.came = True
        self.order.append(name)
        try:
            await self.proxy.submit(task, QueueKind(queue))
        except Exception as failure:  # noqa: BLE001  likewise
            heard = Heard(type(failure).__name__, succeeded=task.succeeded)
        else:
            heard = Heard("", task.answer or "", _name_of(task.failure), task.succeeded)
        self.reckoning.calls.is_told(name, heard)
        self.reckoning.has_id(name, self.order.index(name) + 1, task.id)

    async def _component(self, process: Process, name: str, ts: int) -> str:
        """Another component is called."""
        self.reckoning.asks("a call")
        self.reckoning.calls.begins(name, ts)
        answer = await self.answer(process, "call")
        if answer == BROKEN:
            self.reckoning.breaks()
        failure = _failure_of(answer)
        self.reckoning.calls.ends(name, OK if failure is None else type(failure).__name__)
        if failure is not None:
            raise failure
        return f"{name} {ts}"

    async def _close(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.reckoning.closes()
        await self.proxy.close()
        self.reckoning.has_closed()

    async def _stop(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.reckoning.stopped = True
        await self.proxy.stop()
        self.reckoning.ended = True

    def client_of(self, entry: str) -> str:
        """Return the client whose request is entered: they are numbered in the order in which they come."""
        return self.order[int(entry.removeprefix("enter ")) - 1]

    # What is looked at.

    def _failure(self) -> str:
        return _name_of(self.proxy.supervisor.failure)

    def look(self) -> Hashable:
        """Return what became of each write, and how it has ended."""
        writes, calls = self.reckoning.writes.items(), self.reckoning.calls.calls.items()
        told = (*((name, one.told) for name, one in writes), *((name, one.told) for name, one in calls))
        return (told, self._failure(), self.reckoning.wrong, self.proxy.serving.is_set())

    def wrong(self) -> str | None:
        """Return what the reckoning has found wrong."""
        return self.reckoning.wrong

    def wrong_after_a_step(self) -> str | None:
        """Return what the reckoning finds wrong."""
        return self.reckoning.left(
            failure=self._failure(),
            active=set(self.proxy.queue.active),
            open_cache=not self.proxy.meta.closed,
        )


@dataclass(eq=False, kw_only=True)
class _Checked(DmlTask):
    """A write that looks once more, with its timestamp, whether it is to be carried out."""

    check: Callable[[], Awaitable[bool]]

    async def prepare(self) -> None:
        """See DmlTask."""
        if not await self.check():
            self.drop(WriteFailedError("it is not to be carried out any more"))


class _Edges:
    """The oracle, the logs, the root coordinator and the clock of a proxy, which the reckoning is told of."""

    def __init__(self, program: ProxyLife, process: Process) -> None:
        self._program = program
        self._process = process
        self._reckoning = program.reckoning
        self._given = 0
        self._ids = 0

    async def sleep(self, seconds: float) -> None:
        """See tidemark.impl.ports.Clock."""
        await asyncio.sleep(seconds)
        if _task().endswith(" reports"):
            self._reckoning.looks_for_a_report()

    async def alloc(self, count: int) -> int:
        """See tidemark.impl.values.oracle.Oracle."""
        ticks = _task().endswith(" ticker")
        name = "" if ticks else self._program.client_of(_task())
        whose = self._reckoning.calls if name in self._reckoning.calls.calls else self._reckoning
        if ticks:
            self._reckoning.ticks()
        else:
            whose.asks_for_a_timestamp(name)
        answer = await self._program.answer(self._process, "tick" if ticks else "alloc")
        if answer == OK:
            self._given += count
        if not ticks:
            whose.stamps(name, self._given if answer == OK else 0)
        elif answer == FAIL:
            self._reckoning.fails_to_tick()
        self._raise(answer, worker=ticks)
        if ticks:
            self._reckoning.ticks_at(self._given)
        if count != 1:
            raise ValueError(f"{count} timestamps are asked for")
        return self._given

    async def allocate(self, count: int, *, deadline: float) -> Batch:
        """See tidemark.impl.proxy.ports.IdSource."""
        del deadline
        first, self._ids = self._ids + 1, self._ids + count
        return Batch(first, self._ids)

    def _raise(self, answer: str, *, worker: bool) -> None:
        """Raise what is answered. ``worker``: the error is that of the proxy itself, not of a client."""
        if answer == BROKEN and worker:
            self._reckoning.breaks()
        failure = _failure_of(answer)
        if failure is not None:
            raise failure

    async def append(self, message: Message, *, deadline: float) -> None:
        """See tidemark.impl.proxy.ports.MessageStream."""
        self._reckoning.appends(message, deadline)
        answer = await self._program.answer(self._process, "append")
        if answer != BROKEN:
            self._reckoning.appended(message, answer)
        self._raise(answer, worker=True)

    async def settle(self, message: Message) -> AppendOutcome:
        """See tidemark.impl.proxy.ports.MessageStream."""
        self._reckoning.settles(message)
        answer = await self._program.answer(self._process, "settle")
        outcome = AppendOutcome.APPENDED if answer in (OK, APPENDED) else AppendOutcome.REFUSED
        self._reckoning.has_settled(message, outcome.value)
        return outcome

    async def update_channel_time_tick(self, report: TimeTickReport, *, deadline: float) -> None:
        """See tidemark.impl.proxy.ports.RootCoordClient."""
        self._reckoning.reports(report, deadline)
        answer = await self._program.answer(self._process, "report")
        if answer != BROKEN:
            self._reckoning.reported(accepted=answer == OK)
        self._raise(answer, worker=True)


def _failure_of(answer: str) -> Exception | None:
    """What is raised for an answer of a script; None for nothing."""
    failures = {
        BROKEN: RuntimeError("an edge is broken"),
        FAIL: RpcError("an edge fails"),
        TIMEOUT: RpcTimeoutError("an edge does not answer"),
        _UNKNOWN_COLLECTION: CollectionError("there is no such collection"),
    }
    return failures.get(answer)


def _name_of(failure: BaseException | None) -> str:
    return "" if failure is None else type(failure).__name__


def _task() -> str:
    task = asyncio.current_task()
    return task.get_name() if task is not None else ""


def life() -> ProxyLife:
    """Return the program of all scripts."""
    return ProxyLife(SCRIPTS, timers=30)
