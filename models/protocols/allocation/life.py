"""Segments for rows, and flushes of collections that end them, with writers and clients side by side.

The real allocator and the real flush of a collection; the oracle and the flush of a channel answer as a
script says. What is right is reckoned here from the calls alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from tidemark.impl.datacoord.collection_flush import CollectionFlush
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.segment_allocation import SegmentAllocator
from tidemark.impl.errors import ImplementationError, RpcError
from tidemark.impl.storage.memory import MemoryMetaStore
from tidemark.impl.types import SegmentRecord
from tidemark.models.protocols.common.scripted import Script, ScriptedProgram
from tidemark.models.simulation.world.process import Process

ROWS_GO = "rows_go_to_the_segment_that_grows"
"""Claim id: a message gets the growing segment of its channel and kind while it has room, else a new one, and
never one that a flush has ended."""
ENDED = "a_flush_ends_what_has_rows_before_its_timestamp"
"""Claim id: when the oracle is asked no segment of the collection is given rows any more, and each channel is
flushed once, up to that timestamp, with every segment that has rows and that no flush has stored, or that is
left open."""
TOLD = "a_flush_is_over_when_each_channel_is"
"""Claim id: a client is told the timestamp when all channels are flushed, or the error of one that is not."""
MAX_ROWS = 4
_FIRST_TS = 50

SCRIPTS: tuple[Script, ...] = (
    # One writer: a segment is filled, overfull, of deletes, of another channel.
    {"clients": [[("rows", "a", 1), ("rows", "a", 3), ("rows", "a", 1), ("rows", "a", 9), ("rows", "a", 1),
                  ("deletes", "a", 2), ("rows", "b", 4), ("deletes", "a", 2), ("deletes", "a", 1),
                  ("flush", "a"), ("rows", "a", 1), ("rows", "b", 1), ("flush", "a", "b"), ("flush", "b")]]},
    # What an earlier process has left.
    {"stored": [(101, "a", "open"), (102, "a", "flushed"), (-103, "a", "open"), (104, "b", "open"),
                (105, "a", "dropped")],
     "clients": [[("rows", "a", 1), ("flush", "a"), ("flush", "b")]]},
    # A writer beside a flush that waits for the oracle, or for its channels.
    {"clients": [[("rows", "a", 2), ("flush", "a", "b")],
                 [("rows", "a", 1), ("rows", "b", 1), ("rows", "a", 1)]],
     "alloc": ["late ok"], "flush a": ["late ok"]},
    # Two flushes, and errors.
    {"clients": [[("rows", "a", 1), ("flush", "a")], [("rows", "a", 4), ("rows", "a", 2), ("flush", "a")]],
     "alloc": ["late ok", "ok"], "flush a": ["late ok"]},
    {"clients": [[("rows", "a", 1), ("flush", "a"), ("rows", "a", 1), ("flush", "a", "b"), ("flush", "b")]],
     "alloc": ["fail", "ok"], "flush a": ["late fail", "ok"], "flush b": ["late ok"]},
)  # fmt: skip


@dataclass(eq=False)
class Flush:
    """A client's flush. ``wanted``: by channel what it has to end. ``done``: by channel how that was."""

    wanted: dict[str, tuple[int, ...]]
    ts: int = 0
    asked: list[str] = field(default_factory=list)
    done: dict[str, str] = field(default_factory=dict)


class AllocationLife(ScriptedProgram):
    """One data coordinator. Scripts have the questions ``alloc`` and ``flush CHANNEL``, and

    - ``stored``: segments of an earlier process: number, channel, ``open``, ``flushed`` or ``dropped``;
    - ``clients``: of each its calls one after another: ``rows`` and ``deletes`` with a channel and how many,
      ``flush`` with channels.
    """

    claims = (ROWS_GO, ENDED, TOLD)

    def __init__(self, scripts: Sequence[Script]) -> None:
        super().__init__(scripts, timers=0)
        self.objection: str | None = None
        self.told: list[str] = []
        self.flushes: list[Flush] = []
        self.growing: dict[tuple[str, str], tuple[int, int]] = {}
        self.given: dict[str, list[int]] = {}
        self._numbers = 0

    async def live(self, process: Process) -> None:
        """Start the coordinator and its clients."""
        self.process = process
        coordinator = Coordinator(meta=MemoryMetaStore())
        for number, channel, state in self.script.get("stored", ()):
            coordinator.segments[number] = SegmentRecord(
                segment_id=number, channel=channel, flushed=state == "flushed", dropped=state == "dropped"
            )
            if state == "open":
                self.given.setdefault(channel, []).append(number)
        self.left = {channel: tuple(numbers) for channel, numbers in self.given.items()}
        self.allocator = SegmentAllocator(
            coordinator=coordinator, take_number=itertools.count(1).__next__, max_rows=MAX_ROWS
        )
        self.collections = CollectionFlush(
            oracle=self,
            allocator=self.allocator,
            service=_Service(self),  # type: ignore[arg-type]  # what it asks of a flush service
        )
        self.begun = True
        for number, calls in enumerate(self.script["clients"]):
            process.spawn(self._client(calls), f"client {number}")

    async def _client(self, calls: Sequence[tuple[str, ...]]) -> None:
        for kind, *given in calls:
            await self.process.point("client.call")
            if kind == "flush":
                await self._flush(tuple(given))
            else:
                channel, rows = given
                self._allocate(kind, channel, int(rows))

    def _allocate(self, kind: str, channel: str, rows: int) -> None:
        known, held = self.growing.get((channel, kind), (0, 0))
        if not known or held + rows > MAX_ROWS:
            self._numbers += 1
            known, held = -self._numbers if kind == "deletes" else self._numbers, 0
            self.given.setdefault(channel, []).append(known)
        self.growing[channel, kind] = (known, held + rows)
        found = self.allocator.allocate(channel, rows, deletes=kind == "deletes")
        if found != known:
            self._is(ROWS_GO, f"{rows} {kind} of {channel} go to {found}, and not to {known}")

    async def _flush(self, channels: tuple[str, ...]) -> None:
        flush = Flush({channel: tuple(sorted(self.given.get(channel, ()))) for channel in channels})
        self.growing = {key: held for key, held in self.growing.items() if key[0] not in channels}
        self.flushes.append(flush)
        try:
            answer = await self.collections.flush(channels)
        except ImplementationError as error:
            self.told.append(type(error).__name__)
            if flush.ts and "fail" not in flush.done.values():
                self._is(TOLD, f"a flush of {channels} fails, and no channel has")
        else:
            self.told.append(str(answer))
            if answer != flush.ts or list(flush.done.values()) != ["ok"] * len(channels):
                self._is(TOLD, f"a flush of {channels} is over at {answer}, and {flush.done} is done")

    def _is(self, claim: str, words: str) -> None:
        self.objection = self.objection or f"{claim}: {words}"

    # What the coordinator asks.

    async def alloc(self, count: int) -> int:
        """See Oracle. It is asked once by each flush, in their order."""
        flush = next((one for one in self.flushes if "alloc" not in one.asked), None)
        if flush is None or count != 1:
            self._is(ENDED, f"{count} timestamps are asked for")
            return 0
        flush.asked.append("alloc")
        if await self.answer(self.process, "alloc") == "fail":
            raise RpcError("the oracle fails")
        flush.ts = _FIRST_TS + self.flushes.index(flush)
        return flush.ts

    async def flush_of(self, channel: str, ts: int, segments: tuple[int, ...]) -> None:
        """A channel is flushed."""
        flush = next((one for one in self.flushes if one.ts == ts and ts), None)
        if flush is None or channel in flush.asked or flush.wanted.get(channel) != tuple(segments):
            self._is(
                ENDED, f"{channel} is flushed up to {ts} with {segments}; due is {flush and flush.wanted}"
            )
            return
        flush.asked.append(channel)
        answer = flush.done[channel] = await self.answer(self.process, f"flush {channel}")
        if answer == "fail":
            raise RpcError(f"the flush of {channel} fails")
        left = self.left.get(channel, ())
        self.given[channel] = [
            known for known in self.given.get(channel, ()) if known not in segments or known in left
        ]

    # What is looked at.

    def look(self) -> Hashable:
        """Return what clients were told, and what is asked."""
        return (tuple(self.told), tuple(tuple(one.asked) for one in self.flushes), self.objection)

    def wrong(self) -> str | None:
        """Return what was seen to be wrong."""
        return self.objection

    def wrong_after_a_step(self) -> str | None:
        """Return what was seen to be wrong."""
        return self.objection

    def wrong_at_the_end(self) -> str | None:
        """Every flush is over."""
        if len(self.told) != sum(call[0] == "flush" for calls in self.script["clients"] for call in calls):
            return f"{TOLD}: {self.told} were told"
        return None


class _Service:
    """The flush of a channel."""

    def __init__(self, program: AllocationLife) -> None:
        self._program = program

    async def flush(self, channel: str, flush_ts: int, segments: Sequence[int] = ()) -> None:
        """See FlushService."""
        await self._program.flush_of(channel, flush_ts, tuple(segments))


def life() -> AllocationLife:
    """Return the program of all scripts."""
    return AllocationLife(SCRIPTS)
