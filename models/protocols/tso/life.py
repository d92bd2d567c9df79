"""The life of one oracle server on a steady clock, over a store that answers as a script says.

In ``program`` no time passes until all of it has; here it does, and leases are renewed, in time or not.
``reckoning`` says what is right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable, Mapping, Sequence

from tidemark.impl.errors import NotLeaderError, StoreError
from tidemark.impl.timestamp import NANOSECONDS
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.oracle import Published
from tidemark.impl.tso.ports import NEVER_SAVED, Leadership, OraclePorts
from tidemark.impl.tso.server import OracleParts, OracleServer
from tidemark.models.protocols.common.scripted import NAME, OK, Script, ScriptedProgram
from tidemark.models.protocols.tso.reckoning import (
    ASKS_IN_TIME,
    BROKEN,
    ENDS_IN_TIME,
    FAIL,
    GOES_ON,
    LOST,
    REFUSALS_SAY_WHY,
    TAKEN,
    Reckoning,
)
from tidemark.models.protocols.tso.scripts import SCRIPTS
from tidemark.models.simulation.world.process import Process

_BEGIN = -1000.0
"""What the steady clock shows at first: where it starts means nothing."""
_WALL = 10**9 * NANOSECONDS
_CONFIG: Mapping[str, float] = {
    "lease": 12.0,
    "lease_margin": 2.0,
    "renew_pause": 4.0,
    "update_pause": 7.0,
    "campaign_pause": 3.0,
    "unready_pause": 0.25,
    "overflow_pause": 0.125,
    "tries": 4,
}
"""Pauses that tell each other apart."""


class LifeProgram(ScriptedProgram):
    """One server, its store, and a client that asks at given times.

    Scripts have the questions ``campaign``, ``wait``, ``load``, ``save``, ``renew`` and ``resign``, and

    - ``asks``: (seconds, how many) of each who asks;
    - ``stop``: when the server is stopped;
    - ``slow``: the point of preemption after which anything else may happen;
    - ``base``: how far the saved window lies above the wall clock, in milliseconds;
    - ``jumps``: by how much the wall clock moves before each update, in milliseconds.
    """

    claims = (ENDS_IN_TIME, GOES_ON, ASKS_IN_TIME, REFUSALS_SAY_WHY)

    def __init__(self, scripts: Sequence[Script], *, timers: int) -> None:
        super().__init__(scripts, timers=timers)
        self.ended: str | None = None
        self.answers = 0

    async def live(self, process: Process) -> None:
        """Campaign and serve."""
        config = OracleConfig(**_CONFIG)  # type: ignore[arg-type]  # numbers by name
        edges = _Edges(self, process)
        self.reckoning = Reckoning(config, edges.monotonic)
        ports = OraclePorts(store=edges, wall=edges, steady=edges, clock=edges, preemption=edges)
        parts = OracleParts(published=self._make)
        self.server = OracleServer(name=NAME, ports=ports, config=config, parts=parts)
        self.begun = True
        for place, (seconds, count) in enumerate(self.script.get("asks", ())):
            process.spawn(self._ask(seconds, count), f"ask {place}")
        if "stop" in self.script:
            process.spawn(self._stop(self.script["stop"]), "stop")
        try:
            await self.server.run()
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            self.ended = type(failure).__name__
        else:
            self.ended = ""

    def _make(self, physical: int) -> Published:
        made = Published(physical)
        self.reckoning.publishes(made)
        return made

    async def _ask(self, seconds: float, count: int) -> None:
        await asyncio.sleep(seconds)
        ask = self.reckoning.asks(count)
        try:
            batch = await self.server.allocate(count)
        except Exception as failure:  # noqa: BLE001  likewise
            self.reckoning.refuses(ask, type(failure).__name__)
        else:
            self.reckoning.gives(ask, batch)
        self.answers += 1

    async def _stop(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.reckoning.stops_by_order("an order")
        self.server.stop("an order")

    # What is looked at.

    def _publishes(self) -> bool:
        return self.server.oracle is not None and self.server.oracle.published is not None

    def look(self) -> Hashable:
        """Return what the server says of itself, and how it has ended."""
        return (self.server.stopped, self._publishes(), self.reckoning.wrong, self.ended, self.answers)

    def wrong(self) -> str | None:
        """Return what the reckoning has found wrong."""
        return self.reckoning.wrong

    def wrong_after_a_step(self) -> str | None:
        """Return what the reckoning finds wrong."""
        return self.reckoning.left(stopped=self.server.stopped, publishes=self._publishes(), ended=self.ended)

    def wrong_at_the_end(self) -> str | None:
        """Everybody who has asked has an answer."""
        late = self.answers < len(self.script.get("asks", ()))
        return f"{REFUSALS_SAY_WHY}: somebody has no answer" if late else None


class _Edges:
    """The store, the clocks and the waits of a server, which the reckoning is told of."""

    def __init__(self, program: LifeProgram, process: Process) -> None:
        self._program = program
        self._process = process
        self._wall = _WALL
        self._jumps = iter(program.script.get("jumps", ()))
        self.saved = _WALL + program.script["base"] * NANOSECONDS if "base" in program.script else NEVER_SAVED

    @property
    def _reckoning(self) -> Reckoning:
        return self._program.reckoning

    def monotonic(self) -> float:
        """See tidemark.impl.tso.ports.SteadyClock."""
        return _BEGIN + self._process.now()

    def now(self) -> int:
        """See tidemark.impl.tso.ports.WallClock."""
        if self._reckoning.published is not None:
            self._wall += next(self._jumps, 0) * NANOSECONDS
        self._reckoning.reads(self._wall)
        return self._wall

    async def point(self, name: str) -> None:
        """See tidemark.impl.ports.Preemption."""
        await self._program.halt_if_wrong()
        if name == self._program.script.get("slow"):
            await self._process.point(name)
        if name == "update.decide":
            self._reckoning.decides()

    async def sleep(self, seconds: float) -> None:
        """See tidemark.impl.ports.Clock."""
        task = asyncio.current_task()
        name = task.get_name() if task is not None else ""
        if name.endswith(" watch"):
            self._reckoning.watch_sleeps(seconds)
        await asyncio.sleep(seconds)
        if name.endswith(" watch"):
            self._reckoning.watch_wakes()
        elif " update " in name:
            self._reckoning.look()

    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        """See tidemark.impl.tso.ports.LeaderElection."""
        self._reckoning.called("campaign")
        answer = await self._answer("campaign")
        return None if answer == TAKEN else Leadership(server=server, term=1, lease=lease)

    async def wait_vacant(self) -> None:
        """See tidemark.impl.tso.ports.LeaderElection."""
        self._reckoning.called("wait")
        await self._answer("wait")

    async def renew(self, leadership: Leadership) -> None:
        """See tidemark.impl.tso.ports.LeaderElection."""
        del leadership
        self._reckoning.called("renew")
        await self._answer("renew")

    async def resign(self, leadership: Leadership) -> None:
        """See tidemark.impl.tso.ports.LeaderElection."""
        del leadership
        self._reckoning.called("resign")
        await self._answer("resign")

    async def load(self) -> int:
        """See tidemark.impl.tso.ports.WindowStore."""
        self._reckoning.called("load")
        await self._answer("load")
        self._reckoning.loaded(self.saved)
        return self.saved

    async def save(self, end: int, leadership: Leadership) -> None:
        """See tidemark.impl.tso.ports.WindowStore."""
        del leadership
        self._reckoning.saves(end)
        await self._answer("save")

    async def close(self) -> None:
        """Nothing to let go of."""

    async def _answer(self, question: str) -> str:
        """Return what is answered, or raise it. A cancelled question has no answer."""
        answer = await self._program.answer(self._process, question)
        failure = _failure(question, answer)
        if answer != OK or question != "load":
            words = type(failure).__name__ if answer == BROKEN else str(failure or "")
            self._reckoning.answered(question, answer, words)
        if failure is not None:
            raise failure
        return answer


def _failure(question: str, answer: str) -> Exception | None:
    words = f"{question}: {answer}"
    failures = {FAIL: StoreError(words), LOST: NotLeaderError(words), BROKEN: RuntimeError(words)}
    return failures.get(answer)


def life() -> LifeProgram:
    """Return the program of all scripts."""
    return LifeProgram(SCRIPTS, timers=24)
