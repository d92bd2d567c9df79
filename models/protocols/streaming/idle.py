"""The ticks of one streaming node on a steady clock: how long may they be held back?

Ticks of an idle channel are filtered: while nothing is appended, so many rounds of the tick operator pass
without one. Who waits for a tick at or above a timestamp, as a flush does, waits meanwhile. In ``program`` no
time passes; here it does, oracle and log take time, and each wait is compared with a bound that follows from
the configuration.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass

from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.node import StreamingNode
from tidemark.impl.streaming.ports import StreamingPorts, Summary
from tidemark.impl.streaming.transaction_messages import DataMessage, StreamingMessage
from tidemark.impl.streaming.values import Append, Checkpoints, Opening, Record, Term
from tidemark.impl.values.messages import Tick
from tidemark.models.protocols.common.scripted import Script, ScriptedProgram
from tidemark.models.simulation.world.process import Process

IDLE_IN_TIME = "a_tick_of_an_idle_channel_comes_in_time"
"""Claim id: a timestamp that is given to somebody else is passed by a tick within
``(idle_rounds + 1) * tick_seconds``, and the time of one call of the oracle and of two appends."""
IDLE_IS_REACHED = "the_longest_wait_is_reached"
"""Claim id: where a script says so, somebody waits as long as that, and no less."""
APPENDS_IN_TIME = "a_tick_passes_an_append_in_time"
"""Claim id: an append is passed by a tick within ``tick_seconds`` after its answer, and the time of two calls
of the oracle and of two appends: nothing is held back."""
_EXACT = 1e-9

SCRIPTS: Sequence[Script] = (
    # Somebody is given a timestamp just after one was drawn for a tick: the longest wait. By the defaults.
    {"asks_after_draw": 2, "longest": True},
    {"asks_after_draw": 2, "longest": True, "idle_rounds": 2, "oracle": 0.05, "log": 0.5},
    {"asks_after_draw": 1, "longest": True, "idle_rounds": 0, "log": 0.25},
    # At some other time.
    {"asks": (0.05, 0.45, 0.6, 0.61, 0.8), "idle_rounds": 2, "log": 0.01},
    # An append ends the silence.
    {"appends": (0.3,), "asks": (0.31,), "idle_rounds": 4, "log": 0.03},
    {"appends": (0.2, 0.5), "idle_rounds": 3, "oracle": 0.02},
)


@dataclass
class Wait:
    """Somebody waits for a tick at or above a timestamp. begun: since when; most: how long at most."""

    claim: str
    ts: int
    begun: float
    most: float
    ended: float | None = None


class IdleProgram(ScriptedProgram):
    """One node, clients of it, and others that are given timestamps by the same oracle.

    Scripts have

    - ``asks``: when somebody else is given a timestamp; ``asks_after_draw``: likewise, just after so many
      timestamps were given to the node;
    - ``appends``: when a client appends;
    - ``idle_rounds``; ``oracle``, ``log``: how long a call of them takes;
    - ``longest``: somebody waits as long as possible.
    """

    claims = (IDLE_IN_TIME, IDLE_IS_REACHED, APPENDS_IN_TIME)

    def __init__(self, *, timers: int) -> None:
        super().__init__(SCRIPTS, timers=timers)
        self.waits: list[Wait] = []

    async def live(self, process: Process) -> None:
        """Run the node, and all who wait."""
        rounds = self.script.get("idle_rounds", StreamingConfig().idle_rounds)
        self.config = StreamingConfig(idle_rounds=rounds, persist_seconds=1000.0)
        self.edges = _Edges(self, process)
        ports = StreamingPorts(
            oracle=self.edges,
            log=self.edges,
            messages=self.edges,
            checkpoints=self.edges,
            clock=self.edges,
        )
        self.node = StreamingNode(ports=ports, config=self.config)
        self.begun = True
        for place, seconds in enumerate(self.script.get("asks", ())):
            process.spawn(self._ask(seconds), f"ask {place}")
        for place, seconds in enumerate(self.script.get("appends", ())):
            process.spawn(self._append(seconds), f"append {place}")
        await self.node.run()

    async def _ask(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.edges.ask()

    async def _append(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        append = Append("log_1v0", ((1, 1, ""),))
        await self.node.append(append)
        most = self.config.tick_seconds + 2 * self.edges.oracle + 2 * self.edges.log
        self.edges.wait(APPENDS_IN_TIME, append.ts, most)

    # What is looked at.

    def look(self) -> Hashable:
        """Return who waits, and for how long others have waited."""
        return tuple((wait.claim, wait.ts, wait.ended) for wait in self.waits)

    def wrong(self) -> str | None:
        """Return who has waited too long."""
        for wait in self.waits:
            until = self.edges.now() if wait.ended is None else wait.ended
            if until - wait.begun > wait.most + _EXACT:
                waited = f"{until - wait.begun:.3f} s, and at most {wait.most:.3f} s"
                return f"{wait.claim}: timestamp {wait.ts} waits for a tick since {waited}"
        return None

    def wrong_after_a_step(self) -> str | None:
        """Return the same: time may have passed."""
        return self.wrong()

    def final(self) -> Hashable:
        """Return the script, and how long each has waited."""
        return (
            self.script,
            tuple(None if w.ended is None else round(w.ended - w.begun, 6) for w in self.waits),
        )

    def check_final(self) -> str | None:
        """Somebody has waited, each is through, and one as long as possible if a script says so."""
        if not self.begun:
            return None
        if not self.waits or any(wait.ended is None for wait in self.waits):
            return f"{IDLE_IN_TIME}: somebody waits at the end, or nobody has come"
        slack = min(wait.most - (wait.ended or 0.0) + wait.begun for wait in self.waits)
        if self.script.get("longest") and slack > _EXACT:
            return f"{IDLE_IS_REACHED}: the longest wait is {slack:.3f} s shorter than the bound"
        return self.wrong()


class _Edges:
    """Oracle, log, stores and clock, each of which takes its time."""

    def __init__(self, program: IdleProgram, process: Process) -> None:
        self._program = program
        self._process = process
        self.oracle = float(program.script.get("oracle", 0.0))
        self.log = float(program.script.get("log", 0.0))
        self._given = self._draws = self._places = 0
        self._rest = 0

    def now(self) -> float:
        """Seconds since the beginning."""
        return self._process.now()

    def ask(self) -> None:
        """Somebody else is given a timestamp, and waits for a tick."""
        self._given += 1
        config = self._program.config
        most = (config.idle_rounds + 1) * config.tick_seconds + self.oracle + 2 * self.log
        self.wait(IDLE_IN_TIME, self._given, most)

    def wait(self, claim: str, ts: int, most: float) -> None:
        """Somebody waits for a tick at or above a timestamp."""
        self._program.waits.append(Wait(claim, ts, self.now(), most))

    async def alloc(self, count: int) -> int:
        """See Oracle. The timestamp is given when the call ends."""
        await asyncio.sleep(self.oracle)
        self._given += count
        given = self._given
        self._draws += 1
        if self._draws == self._program.script.get("asks_after_draw"):
            self.ask()
        return given

    async def sleep(self, seconds: float) -> None:
        """See Clock. Once all who wait are through, the node rests."""
        if self._program.waits and all(wait.ended is not None for wait in self._program.waits):
            self._rest += 1
        if self._rest > _RESTS:
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(seconds)

    async def begin_term(self) -> Opening:
        """See TermLog."""
        return Opening(1, 0)

    async def append(self, term: Term, since: int, message: StreamingMessage) -> int:
        """See TermLog. What is appended is there when the call ends."""
        del term, since
        await asyncio.sleep(self.log)
        self._places += 1
        for wait in self._program.waits if isinstance(message, Tick) else ():
            if wait.ended is None and message.ts >= wait.ts:
                wait.ended = self.now()
        return self._places

    async def read(self, place: int) -> Sequence[Record]:
        """See TermLog. The flusher is not part of this."""
        del place
        await asyncio.get_running_loop().create_future()
        raise AssertionError

    async def scan(self, above: int) -> Sequence[Record]:
        """See TermLog."""
        del above
        return ()

    async def truncate(self, upto: int) -> None:
        """See TermLog."""

    async def put(self, place: int, messages: Sequence[DataMessage]) -> None:
        """See MessageStore."""

    async def places(self, above: int) -> Collection[int]:
        """See MessageStore."""
        del above
        return ()

    async def load(self) -> tuple[Checkpoints, Summary]:
        """See CheckpointStore."""
        return Checkpoints(), Summary()

    async def save_flusher(self, upto: int) -> None:
        """See CheckpointStore."""

    async def save_recovery(self, summary: Summary) -> None:
        """See CheckpointStore."""


_RESTS = 3


def idle() -> IdleProgram:
    """Return the program of all scripts."""
    return IdleProgram(timers=80)
