"""The ticks of one term on a steady clock: how long may they be held back?

Ticks of an idle channel are filtered: while nothing is appended, so many rounds of the tick operator pass
without one. A flush that waits for a tick at or above a timestamp waits meanwhile. In ``program`` no
time passes; here it does, oracle and log take time, and each wait is compared with a bound that follows from
the configuration.
"""

import asyncio
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

from tidemark.impl.runtime import NoPreemption
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.term import OpenTerm
from tidemark.impl.streaming.transaction_messages import StreamingMessage
from tidemark.impl.streaming.values import Append, Opening, Term
from tidemark.impl.values.messages import Tick
from tidemark.models.protocols.common.scripted import Script, ScriptedProgram
from tidemark.models.simulation.world.process import Process

IDLE_IN_TIME = "a_tick_of_an_idle_channel_comes_in_time"
"""Claim id: a timestamp that is given to another client of the oracle is passed by a tick within
``(idle_rounds + 1) * tick_seconds``, and the time of one call of the oracle and of two appends."""
IDLE_IS_REACHED = "the_longest_wait_is_reached"
"""Claim id: where a script says so, one waits as long as that, and no less."""
APPENDS_IN_TIME = "a_tick_passes_an_append_in_time"
"""Claim id: an append is passed by a tick within ``tick_seconds`` after its answer, and the time of two calls
of the oracle and of two appends: nothing is held back."""
_EXACT = 1e-9
_RESTS = 3
"""Rounds of the operator after the last wait has ended."""

SCRIPTS: Sequence[Script] = (
    # A timestamp is given just after one was drawn for a tick: the longest wait. By the defaults.
    {"asks_after_draw": 2, "longest": True},
    {"asks_after_draw": 2, "longest": True, "idle_rounds": 2, "oracle": 0.05, "log": 0.5},
    {"asks_after_draw": 1, "longest": True, "idle_rounds": 0, "log": 0.25},
    # At another time.
    {"asks": (0.05, 0.45, 0.6, 0.61, 0.8), "idle_rounds": 2, "log": 0.01},
    # An append ends the silence.
    {"appends": (0.3,), "asks": (0.31,), "idle_rounds": 4, "log": 0.03},
    {"appends": (0.2, 0.5), "idle_rounds": 3, "oracle": 0.02},
)


@dataclass
class Wait:
    """A wait for a tick at or above a timestamp. begun: since when; most: its bound."""

    claim: str
    ts: int
    begun: float
    most: float
    ended: float | None = None


class IdleProgram(ScriptedProgram):
    """The appends and ticks of a term; oracle, log and clock are the program itself.

    Scripts have

    - ``asks``: when another client is given a timestamp; ``asks_after_draw``: likewise, just after so many
      timestamps were given to the node;
    - ``appends``: when a client appends;
    - ``idle_rounds``; ``oracle``, ``log``: how long a call of them takes;
    - ``longest``: one waits as long as possible.
    """

    claims = (IDLE_IN_TIME, IDLE_IS_REACHED, APPENDS_IN_TIME)

    def __init__(self) -> None:
        super().__init__(SCRIPTS, timers=80)
        self.waits: list[Wait] = []
        self._given = self._draws = self._places = self._rests = 0

    async def live(self, process: Process) -> None:
        """Run the ticks of a term, and the waits."""
        self._process = process
        rounds = self.script.get("idle_rounds", StreamingConfig().idle_rounds)
        self._config = StreamingConfig(idle_rounds=rounds)
        self._oracle, self._log = (float(self.script.get(edge, 0.0)) for edge in ("oracle", "log"))
        edges: Any = SimpleNamespace(
            oracle=self, log=self, messages=self, clock=self, preemption=NoPreemption()
        )
        self._term = OpenTerm(
            opening=Opening(1, 0),
            first=await self.alloc(1),
            recovery=RecoveryStorage(store=edges, log=edges),
            stored=(),
            records=(),
            ports=edges,
            config=self._config,
        )
        self.begun = True
        for place, seconds in enumerate(self.script.get("asks", ())):
            process.spawn(self._ask_later(seconds), f"ask {place}")
        for place, seconds in enumerate(self.script.get("appends", ())):
            process.spawn(self._append_later(seconds), f"append {place}")
        await self._term.operator.run()

    async def _ask_later(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self._ask()

    def _ask(self) -> None:
        self._given += 1
        config = self._config
        most = (config.idle_rounds + 1) * config.tick_seconds + self._oracle + 2 * self._log
        self._wait(IDLE_IN_TIME, self._given, most)

    async def _append_later(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        append = Append("log_1v0", ((1, 1, ""),))
        await self._term.append(append)
        most = self._config.tick_seconds + 2 * self._oracle + 2 * self._log
        self._wait(APPENDS_IN_TIME, append.ts, most)

    def _wait(self, claim: str, ts: int, most: float) -> None:
        self.waits.append(Wait(claim, ts, self._process.now(), most))

    # The edges.

    async def alloc(self, count: int) -> int:
        """See Oracle. The timestamp is given when the call ends."""
        await asyncio.sleep(self._oracle)
        self._given += count
        given = self._given
        self._draws += 1
        if self._draws == self.script.get("asks_after_draw"):
            self._ask()
        return given

    async def append(self, term: Term, since: int, message: StreamingMessage) -> int:
        """See TermLog. What is appended is there when the call ends."""
        del term, since
        await asyncio.sleep(self._log)
        self._places += 1
        for wait in self.waits if isinstance(message, Tick) else ():
            if wait.ended is None and message.ts >= wait.ts:
                wait.ended = self._process.now()
        return self._places

    async def sleep(self, seconds: float) -> None:
        """See Clock. The operator stops some rounds after the last wait."""
        self._rests += bool(self.waits) and all(wait.ended is not None for wait in self.waits)
        if self._rests > _RESTS:
            await asyncio.get_running_loop().create_future()
        await asyncio.sleep(seconds)

    # What is looked at.

    def look(self) -> Hashable:
        """The waits, and how long the ended ones were."""
        return tuple((wait.claim, wait.ts, wait.ended) for wait in self.waits)

    def wrong(self) -> str | None:
        """A wait above its bound."""
        for wait in self.waits:
            until = self._process.now() if wait.ended is None else wait.ended
            if until - wait.begun > wait.most + _EXACT:
                waited = f"{until - wait.begun:.3f} s, and at most {wait.most:.3f} s"
                return f"{wait.claim}: timestamp {wait.ts} waits for a tick since {waited}"
        return None

    def wrong_after_a_step(self) -> str | None:
        """The same: time may have passed."""
        return self.wrong()

    def final(self) -> Hashable:
        """Return the script, and how long each wait was."""
        lengths = (None if w.ended is None else round(w.ended - w.begun, 6) for w in self.waits)
        return (self.script, tuple(lengths))

    def check_final(self) -> str | None:
        """There were waits, each has ended, and one was as long as possible if a script says so."""
        if not self.begun:
            return None
        if not self.waits or any(wait.ended is None for wait in self.waits):
            return f"{IDLE_IN_TIME}: a wait has no end, or there is none"
        slack = min(wait.most - (cast("float", wait.ended) - wait.begun) for wait in self.waits)
        if self.script.get("longest") and slack > _EXACT:
            return f"{IDLE_IS_REACHED}: the longest wait is {slack:.3f} s shorter than the bound"
        return self.wrong()
