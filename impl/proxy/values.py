"""The proxy's tasks: their messages and stages."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, TypeVar

from tidemark.impl.errors import ImplementationError, RpcError
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName


class TaskPhase(Enum):
    """Stage of a task."""

    NEW = "new"
    ASKED = "asked"
    STAMPED = "stamped"
    QUEUED = "queued"
    RUNNING = "running"
    FINISHED = "finished"
    POPPED = "popped"


class AppendOutcome(Enum):
    """The outcome of the append of one message."""

    UNDER_WAY = "under way"
    APPENDED = "appended"
    REFUSED = "refused"
    """It is not in the log and never will be."""
    UNKNOWN = "unknown"
    """No answer in time: it may be in the log, or come to be there later."""


@dataclass(frozen=True)
class Message:
    """One message of a task for one physical channel. ``ts`` and ``channel`` identify it."""

    channel: ChannelName
    ts: Timestamp
    payload: str = ""


class Notice(asyncio.Event):
    """Wakes the caller of a task. ``times``: how often it was given; once is right.

    Milvus: WaitToFinish
    """

    def __init__(self) -> None:
        super().__init__()
        self.times = 0

    def set(self) -> None:
        """Wake the caller, if it still waits."""
        self.times += 1
        super().set()


@dataclass(eq=False)
class DmlTask:
    """An insert or a delete; in the other queues of a proxy a call, whose channel names the component.

    Milvus: DmRequest, dmlTask, PreExecute

    channels: the physical channels that it writes, found before it is queued and kept to its end: a second
        lookup may fail or find others (B8).
    error: the caller's answer instead of an outcome. left: the caller no longer waits.
    number: of the request at its proxy. place: in the order of entry into the queue.
    id: no other task has it, of whichever proxy; 0 before it is given.
    """

    channels: tuple[ChannelName, ...]
    payload: str = ""
    ts: Timestamp = 0
    phase: TaskPhase = TaskPhase.NEW
    committed: bool = False
    outcomes: dict[ChannelName, AppendOutcome] = field(default_factory=dict)
    answered: Notice = field(default_factory=Notice)
    """Set when the client is answered. The timestamp leaves the statistics later."""
    error: Exception | None = None
    left: bool = False
    number: int = 0
    place: int = 0
    id: int = 0

    @property
    def carried_out(self) -> bool:
        """No call of it is under way or still to be begun."""
        known = [self.outcomes.get(channel, AppendOutcome.UNDER_WAY) for channel in self.channels]
        return AppendOutcome.UNDER_WAY not in known

    async def prepare(self) -> None:
        """Work between timestamp and first append. It may ``drop``."""

    def drop(self, error: ImplementationError) -> None:
        """The task is not begun."""
        self.error = error
        self.outcomes = dict.fromkeys(self.channels, AppendOutcome.REFUSED)

    @property
    def succeeded(self) -> bool:
        """Every message is known to be in the log."""
        known = [self.outcomes.get(channel) for channel in self.channels]
        return all(outcome is AppendOutcome.APPENDED for outcome in known)

    def unknown(self) -> tuple[ChannelName, ...]:
        """The channels whose append has an unknown outcome."""
        return tuple(c for c in self.channels if self.outcomes.get(c) is AppendOutcome.UNKNOWN)

    def message(self, channel: ChannelName) -> Message:
        """The task's message for a channel."""
        return Message(channel, self.ts, self.payload)


Answer = TypeVar("Answer")


@dataclass(eq=False)
class CallTask(DmlTask, Generic[Answer]):
    """A change of metadata, a read or a flush: a call of the component that its one channel names.

    Milvus: DdRequest, DqRequest

    call: the request, with the timestamp of the task. answer, failure: its result or error.
    """

    call: Callable[[Timestamp], Awaitable[Answer]] | None = None
    answer: Answer | None = None
    failure: ImplementationError | None = None

    def message(self, channel: ChannelName) -> CallMessage:
        """The call as a message."""
        return CallMessage(channel, self.ts, self.payload, task=self)

    async def carry_out(self) -> None:
        """Call. Raises RpcError when the call has failed."""
        assert self.call is not None
        try:
            self.answer = await self.call(self.ts)
        except ImplementationError as failure:
            self.failure = failure
            raise RpcError(f"{self.channels[0]}: {failure}") from failure


@dataclass(frozen=True)
class CallMessage(Message):
    """A call of another component."""

    task: CallTask[Any] = field(kw_only=True)
