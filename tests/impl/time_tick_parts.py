"""What the tests of the proxy share: an oracle, logs and a root coordinator that are moved by hand."""

import asyncio
from dataclasses import dataclass, field

from tidemark.impl.errors import RpcError, RpcTimeoutError, UnknownSessionError
from tidemark.impl.proxy.values import AppendOutcome, Message
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.report import TimeTickReport


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
    known: bool = True
    reports: list[TimeTickReport] = field(default_factory=list)

    async def update_channel_time_tick(self, report: TimeTickReport, *, deadline: float) -> None:
        del deadline
        await asyncio.sleep(0)
        if not self.known:
            raise UnknownSessionError("who is that?")
        self.reports.append(report)
