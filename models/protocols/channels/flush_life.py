"""The flush of a channel on a plan: what coordinator and node are asked, one question after the other.

The real flush service; coordinator, node and clock answer as a script says. What is to be asked next follows
from the answers alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from tidemark.impl.datacoord.flush_service import FlushService, FlushServiceConfig
from tidemark.impl.errors import ImplementationError, RpcError, StoreError
from tidemark.models.protocols.common.scripted import Script, ScriptedProgram
from tidemark.models.simulation.world.process import Process

ASKED = "the_next_question_is_asked"
"""Claim id: a flush is recorded, and then its state is asked for until it is confirmed; the node is told once
for each of its terms, and again if it has not taken it; the pauses are as configured."""
OVER = "a_flush_ends_with_its_confirmation"
"""Claim id: a client, or who resumes, waits until every flush is confirmed, and hears of a failing store."""
_CONFIG = FlushServiceConfig(poll_seconds=0.25, rpc_deadline=3.0)

SCRIPTS: tuple[Script, ...] = (
    {"flush": ("a", 9, ()), "confirm a 9": ["no", "no", "late yes"]},
    {"flush": ("a", 9, (4, 5)), "confirm a 9": ["no", "no", "yes"]},
    {"flush": ("a", 9, (4, 5)), "confirm a 9": ["yes"], "request a 9": ["late ok"]},
    # What the node does not take, and a node that comes again under another term.
    {"flush": ("a", 9, (4,)), "confirm a 9": ["no"] * 5 + ["yes"], "tell a 9": ["fail", "ok"],
     "seal a 9": ["no", "fail", "late yes"]},
    {"flush": ("a", 9, ()), "confirm a 9": ["no"] * 4 + ["yes"], "terms": [1, 1, 2, 2, 2]},
    {"flush": ("a", 9, (4,)), "confirm a 9": ["no"] * 4 + ["yes"], "terms": [1, 3, 3, 2, 2],
     "seal a 9": ["no", "yes"]},
    {"flush": ("a", 9, ()), "confirm a 9": ["no", "yes"], "terms": [1, 2], "tell a 9": ["late ok"],
     "comes": 5},
    # The store fails.
    {"flush": ("a", 9, ()), "request a 9": ["fail"]},
    {"flush": ("a", 9, ()), "confirm a 9": ["no", "fail"]},
    # A coordinator that begins anew, with requests of two channels.
    {"requests": {"b": [(7, (3,)), (8, ())], "a": [(9, ())], "c": []},
     "confirm a 9": ["no", "late yes"], "confirm b 7": ["no", "yes"], "confirm b 8": ["yes"]},
    {"requests": {}},
)  # fmt: skip


@dataclass(eq=False)
class Flush:
    """One flush. ``due``: what is to be asked next. ``told``: the term of the node that has taken it."""

    channel: str
    ts: int
    segments: tuple[int, ...]
    due: str
    told: int | None = None
    term: int = 0


class FlushLife(ScriptedProgram):
    """One flush service. Scripts have the questions ``request C T``, ``confirm C T``, ``tell C T`` and
    ``seal C T`` of the flush of a channel up to a timestamp, and

    - ``flush``: the channel, the timestamp and the segments of a client's flush; or
    - ``requests``: by channel the timestamps and segments of those that an earlier coordinator has recorded;
    - ``terms``: the node's term at each confirmation; ``comes``: the term while it is told.
    """

    claims = (ASKED, OVER)

    def __init__(self, scripts: Sequence[Script]) -> None:
        super().__init__(scripts, timers=0)
        self.objection: str | None = None
        self.told: list[str] = []
        self.flushes: dict[tuple[str, int], Flush] = {}
        self._of_task: dict[asyncio.Task[Any] | None, Flush] = {}
        self._confirmed = 0
        self._term = 1

    async def live(self, process: Process) -> None:
        """Start the service, and who asks it."""
        self.process = process
        requests: Mapping[str, Any] = self.script.get("requests", {})
        self.channels = {
            name: SimpleNamespace(flush_requests=[SimpleNamespace(flush_ts=ts, segments=s) for ts, s in some])
            for name, some in requests.items()
        }
        for name, some in requests.items():
            for ts, segments in some:
                self.flushes[name, ts] = Flush(name, ts, tuple(segments), "confirm")
        edges: Any = self
        self.service = FlushService(coordinator=edges, node=edges, clock=edges, config=_CONFIG)
        self.begun = True
        process.spawn(self._client(), "client")

    async def _client(self) -> None:
        given = self.script.get("flush")
        try:
            if given is None:
                await self.service.resume()
            else:
                channel, ts, segments = given
                self.flushes[channel, ts] = Flush(channel, ts, tuple(segments), "request")
                await self.service.flush(channel, ts, tuple(segments))
        except ImplementationError as error:
            self.told.append(type(error).__name__)
        else:
            self.told.append("done")
        due = "failed" if self.told == ["StoreError"] else "over"
        if any(flush.due != due for flush in self.flushes.values()):
            self._is(OVER, f"{self.told[0]} is told, and {[one.due for one in self.flushes.values()]} is due")

    def _is(self, claim: str, words: str) -> None:
        self.objection = self.objection or f"{claim}: {words}"

    async def _question(
        self, what: str, channel: str, ts: int, *given: object, right: Sequence[object]
    ) -> str:
        """A question comes. Returns the answer, or raises the failure."""
        flush = self.flushes.get((channel, ts))
        if flush is None or flush.due != what or list(given) != list(right):
            self._is(ASKED, f"{what} of {channel} up to {ts} with {given}; due is {flush and flush.due}")
            await self.halt_if_wrong()
        assert flush is not None
        self._of_task[asyncio.current_task()] = flush
        return await self.answer(self.process, f"{what} {channel} {ts}")

    # What the service asks of the coordinator, the node and the clock.

    def channel(self, name: str) -> SimpleNamespace:
        """The record of a channel."""
        known = self.channels.get(name, SimpleNamespace(flush_requests=[]))
        return SimpleNamespace(term=self._term, flush_requests=known.flush_requests)

    async def request_flush(self, channel: str, ts: int, segments: Sequence[int]) -> None:
        """See Coordinator."""
        flush = self.flushes[channel, ts]
        if await self._question("request", channel, ts, tuple(segments), right=[flush.segments]) == "fail":
            flush.due = "failed"
            raise StoreError("the store fails")
        flush.due = "confirm"

    async def confirm_flush(self, channel: str, ts: int, segments: Sequence[int]) -> bool:
        """See Coordinator."""
        flush = self.flushes.get((channel, ts))
        right = [flush.segments if flush else None]
        answer = await self._question("confirm", channel, ts, tuple(segments), right=right)
        assert flush is not None
        if answer == "fail":
            flush.due = "failed"
            raise StoreError("the store fails")
        terms = self.script.get("terms", (1,))
        flush.term = self._term = terms[min(self._confirmed, len(terms) - 1)]
        self._confirmed += 1
        flush.due = "over" if answer == "yes" else "sleep" if flush.told == flush.term else "tell"
        return answer == "yes"

    async def flush_channel(self, channel: str, ts: int, *, deadline: float) -> None:
        """See DataNodeClient."""
        flush = self.flushes[channel, ts]
        answer = await self._question("tell", channel, ts, deadline, right=[_CONFIG.rpc_deadline])
        self._term = self.script.get("comes", self._term)
        if answer == "fail":
            flush.due = "sleep"
            raise RpcError("the node does not answer")
        flush.due = "seal" if flush.segments else "sleep"
        flush.told = flush.told if flush.segments else flush.term

    async def seal_segments(
        self, channel: str, segments: Sequence[int], *, expires: int, deadline: float
    ) -> bool:
        """See DataNodeClient."""
        flush = self.flushes[channel, expires]
        right = [flush.segments, _CONFIG.rpc_deadline]
        answer = await self._question("seal", channel, expires, tuple(segments), deadline, right=right)
        flush.due = "sleep"
        if answer == "fail":
            raise RpcError("the node does not answer")
        if answer != "no":
            flush.told = flush.term
        return answer != "no"

    async def sleep(self, seconds: float) -> None:
        """See Clock. The pause is over at once."""
        flush = self._of_task.get(asyncio.current_task())
        if flush is None or flush.due != "sleep" or seconds != _CONFIG.poll_seconds:
            self._is(ASKED, f"a pause of {seconds} s; due is {flush and flush.due}")
        await self.halt_if_wrong()
        assert flush is not None
        flush.due = "confirm"

    # What is looked at.

    def look(self) -> Hashable:
        """Return what was told, and what is due."""
        return (tuple(self.told), tuple(flush.due for flush in self.flushes.values()), self.objection)

    def wrong(self) -> str | None:
        """Return what was seen to be wrong."""
        return self.objection

    def wrong_after_a_step(self) -> str | None:
        """Return what was seen to be wrong."""
        return self.objection

    def wrong_at_the_end(self) -> str | None:
        """Somebody was told."""
        return None if self.told else f"{OVER}: nobody was told"


def life() -> FlushLife:
    """Return the program of all scripts."""
    return FlushLife(SCRIPTS)
