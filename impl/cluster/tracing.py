"""A trace of the time tick, written by a cluster: one line a step (docs/traces.md).

Every role runs in one event loop, and each step is noted in the section that makes it: their order is the
real one. There is one physical channel, so that a report is one number. The classes of this file do the same
as their bases, and note it.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from tidemark.impl.broker.channel_log import ChannelLog
from tidemark.impl.cluster.cluster import ClusterParts
from tidemark.impl.proxy.proxy import ProxyParts
from tidemark.impl.proxy.task_queue import DmlTaskQueue
from tidemark.impl.proxy.ticker import ChannelsTimeTicker
from tidemark.impl.proxy.values import DmlTask
from tidemark.impl.proxy.writes import WriteTask
from tidemark.impl.rootcoord.ddl_scheduler import DdlScheduler, DdlTask, Execute
from tidemark.impl.rootcoord.ddl_source import DdlSource
from tidemark.impl.rootcoord.root_coord import RootCoordParts
from tidemark.impl.rootcoord.round_queue import Round
from tidemark.impl.rootcoord.tick_sender import TickSender
from tidemark.impl.rootcoord.time_tick_sync import Fence, TimeTickSync
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import Entry, Tick
from tidemark.impl.values.report import DDL_SOURCE, SourceId, TimeTickReport

DDL = "rootcoord"


class TimeTickTrace:
    """The steps of one process, from a new directory on.

    Args:
        channel: the physical channel.
        ticker: the class of the proxies' tickers.
    """

    def __init__(
        self, channel: ChannelName, *, ticker: type[ChannelsTimeTicker] = ChannelsTimeTicker
    ) -> None:
        self.channel = channel
        self._ticker = ticker
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

    # The parts.

    def parts(self) -> ClusterParts:
        """The parts of a cluster that note their steps."""
        return ClusterParts(proxy=self._proxy(), root_coord=self._root_coord(), log=self._log())

    def _log(self) -> type[ChannelLog]:
        trace = self

        class TracedLog(ChannelLog):
            def _take_in(self, entry: Entry) -> None:
                super()._take_in(entry)
                trace.note_entry(entry)

        return TracedLog

    def _proxy(self) -> ProxyParts:
        trace = self

        class TracedQueue(DmlTaskQueue):
            def _append(self, task: DmlTask) -> None:
                if isinstance(task, WriteTask):
                    trace.note_message(task.ts)
                super()._append(task)

        return ProxyParts(queue=TracedQueue, ticker=self._ticker)

    def _root_coord(self) -> RootCoordParts:
        trace = self

        class TracedSync(_TracedSync):
            _trace = trace

        class TracedSender(_TracedSender):
            _trace = trace

        class TracedScheduler(_TracedScheduler):
            _trace = trace

        class TracedSource(DdlSource):
            scheduler_class = TracedScheduler

        return RootCoordParts(sync=TracedSync, sender=TracedSender, ddl=TracedSource)


class _TracedSync(TimeTickSync):
    _trace: TimeTickTrace

    def init_sessions(self, sources: Any) -> None:
        self._trace.note("restart")
        super().init_sessions(sources)

    async def add_session(self, source: SourceId) -> None:
        await super().add_session(source)
        self._trace.note("register", p=source_name(source))
        self._trace.note("learn", {f"known[{source_name(source)}]": True}, p=source_name(source))

    async def del_session(self, source: SourceId, fence: Fence) -> None:
        self._trace.note("expire", p=source_name(source))
        await super().del_session(source, fence)

    async def _fence(self, source: SourceId, fence: Fence) -> None:
        await super()._fence(source, fence)
        self._trace.note("forget", p=source_name(source))

    def _key(self, report: TimeTickReport) -> SourceId:
        """Runs in the section that accepts the report. Its promise was true when it was made."""
        source = super()._key(report)
        if source in self.entries:
            name, value = source_name(source), report.value(self._trace.channel)
            self._trace.note_report(name, value)
            self._trace.note("accept", p=name)
        return source

    async def _close_if_complete(self) -> None:
        """No await between the look, the round and its note."""
        complete, dropped = self._is_complete(), self.rounds.dropped
        await super()._close_if_complete()
        if complete:
            self._trace.note("drop_round" if self.rounds.dropped > dropped else "close_round")


class _TracedSender(TickSender):
    _trace: TimeTickTrace

    async def _send_round(self, complete: Round) -> None:
        self._trace.note("take_round")
        await super()._send_round(complete)
        self._trace.note("end_round")

    def _goes_on(self, channel: ChannelName, ts: Timestamp) -> bool:
        goes_on = super()._goes_on(channel, ts)
        if not goes_on:
            self._trace.note("send_tick", c=channel)
        return goes_on


class _TracedScheduler(DdlScheduler):
    _trace: TimeTickTrace

    def __init__(self, **ports: Any) -> None:
        super().__init__(**ports)
        self._with_messages: list[DdlTask] = []

    async def run_task(self, execute: Execute, task: DdlTask | None = None) -> Timestamp:
        task = DdlTask() if task is None else task
        self._with_messages.append(task)
        return await super().run_task(execute, task)

    async def begin(self, task: DdlTask | None = None) -> DdlTask:
        begun = await super().begin(task)
        if any(begun is one for one in self._with_messages):
            self._trace.note_message(begun.ts, DDL)
        return begun


def source_name(source: SourceId) -> str:
    """The name of a source in the trace: coordinators have numbers below 0 in the logs, too."""
    return DDL if source <= DDL_SOURCE else f"proxy-{source}"


def message_name(ts: Timestamp) -> str:
    """Each message has a timestamp of its own."""
    return f"m{ts}"
