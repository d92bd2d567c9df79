"""A trace of the time tick, written by a cluster: one line a step (docs/traces.md).

Every role runs in one event loop, and each step is noted in the section that makes it: their order is the
real one. There is one physical channel, so that a report is one number.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tidemark.impl.broker.channel_log import ChannelLog
from tidemark.impl.proxy.task_queue import DmlTaskQueue
from tidemark.impl.proxy.values import DmlTask
from tidemark.impl.proxy.writes import WriteTask
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler, DdlTask, Execute
from tidemark.impl.rootcoord.round_queue import Round
from tidemark.impl.rootcoord.tick_sender import TickSender
from tidemark.impl.rootcoord.time_tick_sync import Fence, TimeTickSync
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import Entry, Tick
from tidemark.impl.values.report import DDL_SOURCE, SourceId, TimeTickReport

DDL = "rootcoord"


class TimeTickTrace:
    """The steps of one process with this physical channel, from a new directory on."""

    def __init__(self, channel: ChannelName) -> None:
        self.channel = channel
        self._reports: dict[SourceId, TimeTickReport | None] = {}
        self._steps: list[dict[str, Any]] = []
        self._senders: dict[str, str] = {}
        self._issued: Timestamp = ZERO

    def note(self, action: str, see: dict[str, Any] | None = None, **arguments: Any) -> None:
        """Note a step."""
        step = {"n": "cluster", "s": len(self._steps), "t": time.monotonic_ns(), "k": self.channel}
        self._steps.append({**step, "a": action, "args": arguments, "see": see or {}})

    def note_message(self, ts: Timestamp, source: str = "") -> None:
        """A source has asked for the timestamp of a message and has it, in one step."""
        name = message_name(ts)
        self._senders.setdefault(name, source)
        self.note("ask", m=name)
        self.note("stamp", m=name, ts=ts)
        self._issued = max(self._issued, ts)

    def note_report(self, source: str, value: Timestamp) -> None:
        """A source reports a value, which the oracle has given to it before: no message has it."""
        if value > self._issued:
            self.note("others_allocate", ts=value)
            self._issued = value
        self.note("report", {f"promised[{source},{self.channel}]": value}, p=source, upto=value)

    def note_accepted(self, reports: dict[SourceId, TimeTickReport | None]) -> None:
        """Note the new ones. The promise of a report was true when it was made."""
        for source, report in reports.items():
            if report is not None and report is not self._reports.get(source):
                self.note_report(source_name(source), report.value(self.channel))
                self.note("accept", p=source_name(source))
        self._reports = dict(reports)

    def note_entry(self, entry: Entry) -> None:
        """The entry is in the log."""
        if isinstance(entry.message, Tick):
            highest = {f"highest[{self.channel}]": entry.message.ts}
            self.note("send_tick", highest, c=self.channel)
            return
        name = message_name(entry.message.ts)
        self._senders[name] = source_name(entry.source)
        self.note("append", m=name)

    def write(self, file: Path) -> int:
        """Write the trace. Returns the number of its steps.

        A message that has not come into the log by the end is left out: its sender is unknown.
        """
        unknown = {name for name, source in self._senders.items() if not source}
        steps = [step for step in self._steps if step["args"].get("m") not in unknown]
        senders = {name: source for name, source in self._senders.items() if source}
        begin = {
            "kind": "trace",
            "v": 1,
            "protocol": "timetick",
            "ranks": ["Ts"],
            "constants": {
                "ddl": DDL,
                "sender": senders,
                "channel_of": dict.fromkeys(senders, self.channel),
            },
            "bounds": {"Faults": 1},
        }
        numbered = [{**step, "s": place} for place, step in enumerate(steps)]
        file.write_text("".join(json.dumps(line) + "\n" for line in (begin, *numbered)), encoding="utf-8")
        return len(steps)


def traced(channel: ChannelName, patch: pytest.MonkeyPatch) -> TimeTickTrace:
    """The trace of the clusters of this process. Each function does the same as before, and notes it."""
    trace = TimeTickTrace(channel)
    for notes in (_log_and_proxy, _sessions, _rounds, _ddl):
        for owner, method in notes(trace):
            patch.setattr(owner, method.__name__, method)
    return trace


Notes = Iterator[tuple[type, Callable[..., Any]]]
"""Classes, and the methods that they get."""


def _log_and_proxy(trace: TimeTickTrace) -> Notes:
    add, append = ChannelLog._add, DmlTaskQueue._append

    def _add(log: ChannelLog, entries: Sequence[Entry]) -> None:
        add(log, entries)
        for entry in entries:
            trace.note_entry(entry)

    def _append(queue: DmlTaskQueue, task: DmlTask) -> None:
        if isinstance(task, WriteTask):
            trace.note_message(task.ts)
        append(queue, task)

    yield ChannelLog, _add
    yield DmlTaskQueue, _append


def _sessions(trace: TimeTickTrace) -> Notes:
    init, add, delete = TimeTickSync.init_sessions, TimeTickSync.add_session, TimeTickSync.del_session

    def init_sessions(sync: TimeTickSync, sources: Iterable[SourceId]) -> None:
        trace.note("restart")
        init(sync, sources)

    async def add_session(sync: TimeTickSync, source: SourceId) -> None:
        await add(sync, source)
        trace.note("register", p=source_name(source))
        trace.note("learn", {f"known[{source_name(source)}]": True}, p=source_name(source))

    async def del_session(sync: TimeTickSync, source: SourceId, fence: Fence) -> None:
        async def noting(source: SourceId) -> None:
            await fence(source)
            trace.note("forget", p=source_name(source))

        trace.note("expire", p=source_name(source))
        await delete(sync, source, noting)

    for method in (init_sessions, add_session, del_session):
        yield TimeTickSync, method


def _rounds(trace: TimeTickTrace) -> Notes:
    close, send, goes_on = TimeTickSync._close_if_complete, TickSender._send_round, TickSender._goes_on

    async def _close_if_complete(sync: TimeTickSync) -> None:
        """No await between the look, the round and its note."""
        trace.note_accepted(sync.entries)
        complete, dropped = None not in sync.entries.values(), sync.rounds.dropped
        await close(sync)
        if complete:
            trace.note("drop_round" if sync.rounds.dropped > dropped else "close_round")

    async def _send_round(sender: TickSender, complete: Round) -> None:
        trace.note("take_round")
        await send(sender, complete)
        trace.note("end_round")

    def _goes_on(sender: TickSender, channel: ChannelName, ts: Timestamp) -> bool:
        goes = goes_on(sender, channel, ts)
        if not goes:
            trace.note("send_tick", c=channel)
        return goes

    yield TimeTickSync, _close_if_complete
    yield TickSender, _send_round
    yield TickSender, _goes_on


def _ddl(trace: TimeTickTrace) -> Notes:
    run, start = DdlScheduler.run_task, DdlScheduler.begin
    with_messages: list[DdlTask] = []

    async def run_task(scheduler: DdlScheduler, execute: Execute, task: DdlTask | None = None) -> Timestamp:
        with_messages.append(task or DdlTask())
        return await run(scheduler, execute, with_messages[-1])

    async def begin(scheduler: DdlScheduler, task: DdlTask | None = None) -> DdlTask:
        begun = await start(scheduler, task)
        if any(begun is one for one in with_messages):
            trace.note_message(begun.ts, DDL)
        return begun

    yield DdlScheduler, run_task
    yield DdlScheduler, begin


def source_name(source: SourceId) -> str:
    """The name of a source in the trace: coordinators have numbers below 0 in the logs, too."""
    return DDL if source <= DDL_SOURCE else f"proxy-{source}"


def message_name(ts: Timestamp) -> str:
    """Each message has a timestamp of its own."""
    return f"m{ts}"
