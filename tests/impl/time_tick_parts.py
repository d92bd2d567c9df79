"""What the tests of proxy and root coordinator share: an oracle, logs and sessions that are moved by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from tidemark.impl.errors import RpcError, RpcTimeoutError, UnknownSessionError
from tidemark.impl.proxy.values import AppendOutcome, Message
from tidemark.impl.rootcoord.ports import SessionEvent
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.report import SourceId, TimeTickReport


def _open() -> asyncio.Event:
    """An event that is set: nobody waits."""
    event = asyncio.Event()
    event.set()
    return event


@dataclass
class Oracle:
    """Counts. ``held``: calls wait until it is set. ``fails``: calls that get no answer."""

    given: Timestamp = 0
    fails: int = 0
    held: asyncio.Event = field(default_factory=_open)

    async def alloc(self, count: int) -> Timestamp:
        await asyncio.sleep(0)
        if self.fails:
            self.fails -= 1
            raise RpcTimeoutError("no answer from the oracle")
        self.given += count
        answer = self.given
        await self.held.wait()
        return answer


@dataclass
class Streams:
    """Logs of messages. ``gates``: by channel an event for which its appends wait."""

    appended: list[Message] = field(default_factory=list)
    gates: dict[str, asyncio.Event] = field(default_factory=dict)
    late: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    settled: list[Message] = field(default_factory=list)
    settle_gate: asyncio.Event = field(default_factory=_open)
    running: int = 0
    most: int = 0

    async def append(self, message: Message, *, deadline: float) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            if message.channel in self.gates:
                await self.gates[message.channel].wait()
            if message.channel in self.late:
                raise RpcTimeoutError(f"no answer within {deadline} s")
            if message.channel in self.refused:
                raise RpcError("refused")
            self.appended.append(message)
        finally:
            self.running -= 1

    async def settle(self, message: Message) -> AppendOutcome:
        await self.settle_gate.wait()
        self.settled.append(message)
        return AppendOutcome.APPENDED if message in self.appended else AppendOutcome.REFUSED


@dataclass
class RootCoordStub:
    """Takes reports, unless it does not know the proxy."""

    known: bool = True
    reports: list[TimeTickReport] = field(default_factory=list)

    async def update_channel_time_tick(self, report: TimeTickReport, *, deadline: float) -> None:
        del deadline
        await asyncio.sleep(0)
        if not self.known:
            raise UnknownSessionError("who is that?")
        self.reports.append(report)


@dataclass
class SessionsStub:
    """Sessions of proxies. ``fenced``: in the order of the fences."""

    live: list[SourceId] = field(default_factory=list)
    events: list[SessionEvent] = field(default_factory=list)
    fenced: list[SourceId] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def change(self, source: SourceId, *, alive: bool) -> None:
        (self.live.append if alive else self.live.remove)(source)
        self.events.append(SessionEvent(len(self.events) + 1, source, alive))
        self.changed.set()

    async def take_over(self) -> tuple[Sequence[SourceId], int]:
        return list(self.live), len(self.events)

    async def next_event(self, after: int) -> SessionEvent:
        while len(self.events) <= after:
            self.changed.clear()
            await self.changed.wait()
        return self.events[after]

    async def fence(self, source: SourceId) -> None:
        self.fenced.append(source)


@dataclass
class Ticks:
    """Logs of ticks. ``fails``: channels whose next send fails. ``gate``: sends wait for it."""

    sent: list[tuple[str, Timestamp]] = field(default_factory=list)
    fails: set[str] = field(default_factory=set)
    gate: asyncio.Event = field(default_factory=_open)

    async def send_tick(self, channel: str, ts: Timestamp) -> None:
        await self.gate.wait()
        if channel in self.fails:
            self.fails.discard(channel)
            raise RpcError("not sent")
        self.sent.append((channel, ts))

    async def last_tick(self, channel: str) -> Timestamp:
        return max((ts for name, ts in self.sent if name == channel), default=0)
