"""The life of one root coordinator: it takes over, follows sessions, collects reports, ticks, and ends.

The real DDL source is part of it, with DDL tasks and background jobs that end well or do not. Each edge
answers as a script says; ``reckoning`` says what is right.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Hashable, Sequence
from functools import partial

from tidemark.impl.errors import RpcError, WatchCompactedError
from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.rootcoord.ddl_source import DdlSource
from tidemark.impl.rootcoord.direct import DirectRootCoordClient
from tidemark.impl.rootcoord.ports import RootCoordPorts, SessionEvent
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.values.report import SourceId, TimeTickReport
from tidemark.models.protocols.common.scripted import OK, Script, ScriptedProgram
from tidemark.models.protocols.timetick.reckoning import (
    BROKEN,
    DDL_REPORTS_IN_TIME,
    FAIL,
    IT_ENDS,
    SESSIONS_ARE_FOLLOWED,
    TICKS_FOLLOW_ROUNDS,
    Reckoning,
    Seen,
)
from tidemark.models.protocols.timetick.scripts import SCRIPTS
from tidemark.models.simulation.world.process import Process

_CHANNELS = ("x", "y")
_END = 9.5
_DEADLINE = 60.0
"""Of a report, in seconds: no report waits so long."""


class CoordinatorLife(ScriptedProgram):
    """One root coordinator.

    Scripts have the questions ``dummy``, ``minimum``, ``ddl`` and ``job`` of the oracle, ``take over``,
    ``fence``, ``tick x``, ``tick y`` and ``append`` of DDL work, and

    - ``live``: the proxies that have a session at first; ``ticked``: the last tick of each channel;
    - ``events``: (seconds, proxy, whether it comes) of each later change of the sessions; or (seconds,
      proxies): the store has forgotten the changes, and these are the live ones now; or (seconds, "broken");
    - ``reports``: (seconds, proxy, value of x, value of y) of each report; a channel of which the value is 0
      is not named, and has the default: a fifth item;
    - ``work``: (seconds, "ddl" or "job") of each DDL task and background job;
    - ``room``: how many rounds may wait;
    - ``stop``: when it is stopped.
    """

    claims = (TICKS_FOLLOW_ROUNDS, SESSIONS_ARE_FOLLOWED, DDL_REPORTS_IN_TIME, IT_ENDS)

    def __init__(self, scripts: Sequence[Script], *, timers: int) -> None:
        super().__init__(scripts, timers=timers)
        self.ended: list[str] = []

    async def live(self, process: Process) -> None:
        """Start the coordinator, and all that happens to it."""
        config = RootCoordConfig(
            ddl_tick_seconds=3.0, dummy_seconds=2.0, round_capacity=self.script.get("room", 1)
        )
        self.reckoning = Reckoning(config, _CHANNELS, process.now)
        edges = _Edges(self, process)
        ports = RootCoordPorts(oracle=edges, sessions=edges, ticks=edges, clock=edges)
        self.coordinator = RootCoord(channels=_CHANNELS, ports=ports, config=config)
        self.begun = True
        self.client = DirectRootCoordClient(self.coordinator)
        await self.coordinator.start()
        for place, (seconds, source, *values) in enumerate(self.script.get("reports", ())):
            named = {channel: ts for channel, ts in zip(_CHANNELS, values, strict=False) if ts}
            report = TimeTickReport(source, tuple(named.items()), sum(values[len(_CHANNELS) :]))
            process.spawn(self._report(seconds, report), f"report {place}")
        for place, (seconds, kind) in enumerate(self.script.get("work", ())):
            process.spawn(self._work(process, seconds, kind, place), f"{kind} {place}")
        process.spawn(self._stop(self.script.get("stop", _END)), "stop")

    async def _report(self, seconds: float, report: TimeTickReport) -> None:
        await asyncio.sleep(seconds)
        self.reckoning.reports(report)
        try:
            await self.client.update_channel_time_tick(report, deadline=_DEADLINE)
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            self.reckoning.is_told(report, type(failure).__name__)
        else:
            self.reckoning.is_told(report, "")

    async def _work(self, process: Process, seconds: float, kind: str, place: int) -> None:
        await asyncio.sleep(seconds)
        ddl = self.coordinator.ddl
        assert isinstance(ddl, DdlSource)
        part = ddl.scheduler if kind == "ddl" else ddl.lock_manager
        self.reckoning.work_comes(kind, place)
        try:
            ts = await part.run_task(partial(self._execute, process, kind, place))
        except Exception as failure:  # noqa: BLE001  likewise
            self.reckoning.work_ends(kind, place, type(failure).__name__)
        else:
            self.reckoning.work_ends(kind, place, "", ts)
        self.ended.append(f"{kind} {place}")

    async def _execute(self, process: Process, kind: str, place: int, ts: int) -> None:
        self.reckoning.executes(kind, place, ts)
        answer = await self.answer(process, "append")
        self.reckoning.has_executed(kind, place, answer)
        raise_answer(answer)

    async def _stop(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.reckoning.stopped = True
        await self.coordinator.stop()

    # What is looked at.

    def _failure(self) -> str:
        failure = self.coordinator.supervisor.failure
        return "" if failure is None else type(failure).__name__

    def look(self) -> Hashable:
        """Return what is ticked, who is known, and how it has ended."""
        sync, sender = self.coordinator.sync, self.coordinator.sender
        return (
            tuple(sync.entries),
            tuple(sender.synced.items()),
            self._failure(),
            tuple(self.ended),
            self.reckoning.wrong,
        )

    def wrong(self) -> str | None:
        """Return what the reckoning has found wrong."""
        return self.reckoning.wrong

    def wrong_after_a_step(self) -> str | None:
        """Return what the reckoning finds wrong."""
        reported = self.coordinator.reporting
        sync = self.coordinator.sync
        seen = Seen(
            failure=self._failure(),
            known={source: report is not None for source, report in sync.entries.items()},
            accepted=set(sync.accepted),
            dropped=sync.rounds.dropped,
            reported=0 if reported is None else reported.default,
        )
        return self.reckoning.left(seen)


def raise_answer(answer: str) -> None:
    """Raise what is answered."""
    if answer == BROKEN:
        raise RuntimeError("an edge is broken")
    if answer == FAIL:
        raise RpcError("an edge fails")


class _Edges:
    """The oracle, the sessions, the logs and the clock, which the reckoning is told of."""

    def __init__(self, program: CoordinatorLife, process: Process) -> None:
        self._program = program
        self._process = process
        self._reckoning = program.reckoning
        self._given = 100
        self._listed = (tuple(program.script.get("live", ())), 10)
        # A store counts other changes, too: revisions rise, and not by one.
        self._events = iter(zip(itertools.count(12, 2), program.script.get("events", ()), strict=False))

    async def sleep(self, seconds: float) -> None:
        """See tidemark.impl.ports.Clock."""
        await asyncio.sleep(seconds)
        if _task() == "ddl ticks":
            self._reckoning.looks_for_the_minimum()

    async def alloc(self, count: int) -> int:
        """See tidemark.impl.rootcoord.ports.Oracle."""
        name = _task()
        kind = {"ddl ticks": "minimum", "ddl dummies": "dummy"}.get(name, name.partition(" ")[0])
        self._reckoning.asks_for_a_timestamp(kind, name, count)
        answer = await self._program.answer(self._process, kind)
        self._given += 1
        if answer == BROKEN and kind in ("minimum", "dummy"):
            self._reckoning.broken = True
        self._reckoning.has_timestamp(kind, name, self._given if answer == OK else 0)
        raise_answer(answer)
        return self._given

    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        """See tidemark.impl.rootcoord.ports.SessionStore."""
        self._reckoning.asks_for_the_list()
        await self._program.answer(self._process, "take over")
        live, revision = self._listed
        self._reckoning.takes_over(live, revision)
        return live, revision

    async def next_event(self, after: int) -> SessionEvent:
        """See tidemark.impl.rootcoord.ports.SessionStore."""
        self._reckoning.watches(after)
        revision, event = next(self._events, (0, None))
        if event is None:
            await asyncio.get_running_loop().create_future()
            raise AssertionError
        seconds, *change = event
        await asyncio.sleep(max(0.0, seconds - self._process.now()))
        if len(change) == 1:
            self._has_no_events(change[0], revision)
        source, alive = change
        self._reckoning.hears(source, revision, alive=alive)
        return SessionEvent(revision, source, alive)

    def _has_no_events(self, live: str | Sequence[SourceId], revision: int) -> None:
        """There is no change to be told of: the store is broken, or has forgotten it."""
        if live == BROKEN:
            self._reckoning.broken = True
            raise_answer(BROKEN)
        self._listed = (tuple(map(int, live)), revision)
        self._reckoning.forgets()
        raise WatchCompactedError("the changes are forgotten")

    async def fence(self, source: SourceId) -> None:
        """See tidemark.impl.rootcoord.ports.SessionStore."""
        self._reckoning.asks_to_fence(source)
        answer = await self._program.answer(self._process, "fence")
        if answer == BROKEN:
            self._reckoning.broken = True
        raise_answer(answer)
        self._reckoning.has_fenced()

    async def send_tick(self, channel: str, ts: int) -> None:
        """See tidemark.impl.rootcoord.ports.TickStreams."""
        self._reckoning.sends(channel, ts)
        answer = await self._program.answer(self._process, f"tick {channel}")
        if answer == BROKEN:
            self._reckoning.broken = True
        else:
            self._reckoning.sent(channel, answer)
        raise_answer(answer)

    async def last_tick(self, channel: str) -> int:
        """See tidemark.impl.rootcoord.ports.TickStreams."""
        ts = int(self._program.script.get("ticked", {}).get(channel, 0))
        self._reckoning.loads(channel, ts)
        return ts


def _task() -> str:
    task = asyncio.current_task()
    return task.get_name() if task is not None else ""


def life() -> CoordinatorLife:
    """Return the program of all scripts."""
    return CoordinatorLife(SCRIPTS, timers=30)
