"""The life of a host: one proxy after the other, each with a session of its own.

Sessions and proxies are played here; ``session_reckoning`` says what is right.
"""

from __future__ import annotations

import asyncio
from collections.abc import Hashable
from typing import Literal

from tidemark.impl.errors import SessionEndedError
from tidemark.impl.proxy.host import ProxyHost
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.runtime import Supervisor
from tidemark.models.protocols.common.scripted import OK, Script, ScriptedProgram
from tidemark.models.protocols.proxy.edge.session_reckoning import (
    BROKEN,
    CALLERS_GET_THE_PRESENT_ONE,
    IT_FAILS,
    ONE_AFTER_THE_OTHER,
    RENEWED_IN_TIME,
    SessionReckoning,
)
from tidemark.models.simulation.world.process import Process

_NAME = "p"
_LEASE = 12.0
_FOR_EVER = 1000.0
_OFTEN = 20
"""So many callers do not come."""
_ENDED = "ended"
"""How a session store answers whose session has run out."""

SCRIPTS: tuple[Script, ...] = (
    # A session is renewed until it ends; callers come before, between and after.
    {"renew": ["ok", "late ok", "ok"], "callers": [0, 4, 10], "stop": 14},
    {"renew": ["ok", "ended", "ok"], "callers": [0, 5.5, 7], "stop": 10},
    {"renew": ["late ended", "ok"], "register": ["late ok", "late ok"], "callers": [0, 3.5], "stop": 8},
    # A proxy that takes its time, to serve and to stop; one that never serves in its session.
    {"serves": [1, 2], "renew": ["ended", "ok"], "callers": [0, 2, 3.5], "stop": 7},
    {"serves": [9, 1], "renew": ["ended", "ok"], "callers": [0, 2, 3.5], "stop": 5.5},
    {"serves": [9, 9], "renew": ["ended", "ok"], "leaving": ["late ok"], "callers": [0, 3.5], "stop": 5.5},
    {"renew": ["ended", "ok"], "leaving": [4, 0], "callers": [3.5, 6], "stop": 9},
    # What fails ends the host: the session store, the proxy. Nothing is renewed after that.
    {"register": ["broken"], "callers": [0]},
    {"renew": ["ok", "broken"], "callers": [0, 7]},
    {"fails": [4], "leaving": [9], "callers": [0, 5]},
    {"fails": [4], "renew": ["ok", "ended"], "leaving": [9], "callers": [0, 5]},
    {"fails": [5], "renew": ["never"], "letting go": ["late ok"], "callers": [0, 5.5]},
    # It is stopped while a renewal is under way, or given up, and before its first session.
    {"fails": [5], "renew": ["never"], "letting go": ["late ok"], "callers": [0], "stop": 6},
    {"renew": ["never"], "letting go": ["late ok"], "callers": [0, 3.5], "stop": 4},
    {"register": ["never"], "callers": [0], "stop": 4},
)
"""Each is explored by itself."""


class HostLife(ScriptedProgram):
    """One host, the store of its sessions, its proxies, and callers that want the one that serves.

    Scripts have the questions ``register`` and ``renew`` of the session store; "letting go" says that a
    renewal lasts on when it is cancelled. They have

    - ``serves``, ``fails``, ``leaving``: by proxy, after how many seconds it serves, and fails, and how long
      its stop takes (a word: it may end at any time);
    - ``callers``: when each caller comes;
    - ``stop``: when the host is cancelled.
    """

    claims = (ONE_AFTER_THE_OTHER, RENEWED_IN_TIME, CALLERS_GET_THE_PRESENT_ONE, IT_FAILS)

    async def live(self, process: Process) -> None:
        """Run the host, and its callers."""
        self.process = process
        self.reckoning = SessionReckoning(
            _NAME, _LEASE, process.now, callers=len(self.script.get("callers", ()))
        )
        self.host = ProxyHost(
            name=_NAME, sessions=_Sessions(self), clock=_Clock(), make=self._make, lease=_LEASE
        )
        self.begun = True
        running = asyncio.create_task(self._run_host(), name="host")
        for number, seconds in enumerate(self.script.get("callers", ())):
            process.spawn(self._call(number, seconds), f"caller {number}")
        if "stop" in self.script:
            await asyncio.sleep(self.script["stop"])
            self.reckoning.is_stopped()
            running.cancel()

    async def _run_host(self) -> None:
        try:
            await self.host.run()
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            self.reckoning.has_ended(type(failure).__name__)
        except asyncio.CancelledError:
            self.reckoning.has_ended("")
            raise

    async def _call(self, number: int, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.reckoning.callers[number] = 0
        proxy = await self.host.serving()
        self.reckoning.is_told(number, proxy.source)

    def _make(self, source: int) -> Proxy:
        self.reckoning.makes(source)
        return _Proxy(self, source)

    def of_proxy(self, what: str, source: int, other: float) -> float | str:
        """What the script says of a proxy; ``other``: if it says nothing."""
        found = self.script.get(what, ())
        value: float | str = found[min(source, len(found)) - 1] if found else other
        return value

    # What is looked at.

    def look(self) -> Hashable:
        """Return which proxy is there, what callers were told, and how the host has ended."""
        present = None if self.host.proxy is None else self.host.proxy.source
        return (present, tuple(self.reckoning.callers.items()), self.reckoning.ended, self.reckoning.wrong)

    def wrong(self) -> str | None:
        """Return what the reckoning has found wrong."""
        return self.reckoning.wrong

    def wrong_after_a_step(self) -> str | None:
        """Return what the reckoning finds wrong."""
        return self.reckoning.left(None if self.host.proxy is None else self.host.proxy.source)

    def wrong_at_the_end(self) -> str | None:
        """Return what is not done."""
        return self.reckoning.left_at_the_end()


class _Proxy(Proxy):
    """A proxy that serves, fails and stops as the script says."""

    def __init__(self, program: HostLife, source: int) -> None:
        self.source = source
        self.serving = _Serving(program)
        self.supervisor = Supervisor()
        self._program = program

    def start(self) -> None:
        """See Proxy."""
        self._program.reckoning.starts(self.source)
        self.supervisor.spawn(self._serve, "serving")
        self.supervisor.spawn(self._fail, "failing")

    async def _serve(self) -> None:
        await asyncio.sleep(float(self._program.of_proxy("serves", self.source, 0)))
        self._program.reckoning.serves(self.source)
        self.serving.set()

    async def _fail(self) -> None:
        await asyncio.sleep(float(self._program.of_proxy("fails", self.source, _FOR_EVER)))
        self._program.reckoning.fails()
        raise RuntimeError("a loop of the proxy is broken")

    async def stop(self) -> None:
        """See Proxy."""
        self._program.reckoning.stops(self.source)
        await self.supervisor.stop()
        self.serving.set()
        leaving = self._program.of_proxy("leaving", self.source, 0)
        if isinstance(leaving, str):
            await self._program.process.point("leaving")
        else:
            await asyncio.sleep(leaving)
        self._program.reckoning.has_stopped()


class _Serving(asyncio.Event):
    """Set when a proxy serves. Nobody looks at it again and again."""

    def __init__(self, program: HostLife) -> None:
        super().__init__()
        self._program = program
        self._looks = 0

    async def wait(self) -> Literal[True]:
        """See Event."""
        self._looks += 1
        if self._looks > _OFTEN:
            self._program.reckoning.goes_round()
        await self._program.halt_if_wrong()
        return await super().wait()


class _Sessions:
    """The session store, which the reckoning is told of."""

    def __init__(self, program: HostLife) -> None:
        self._program = program
        self._reckoning = program.reckoning

    async def register(self, name: str, *, lease: float) -> int:
        """See ProxySessions."""
        self._reckoning.asks_for_a_session(name, lease)
        if await self._program.answer(self._program.process, "register") == BROKEN:
            self._reckoning.fails()
            raise RuntimeError("the session store is broken")
        return self._reckoning.gets_a_session()

    async def renew(self, source: int) -> None:
        """See ProxySessions."""
        self._reckoning.renews(source)
        try:
            answer = await self._program.answer(self._program.process, "renew")
        except asyncio.CancelledError:
            if "letting go" in self._program.script:
                await self._program.process.point("letting go")
            raise
        if answer == OK:
            self._reckoning.renewed()
        elif answer == _ENDED:
            self._reckoning.session_ends()
            raise SessionEndedError("the lease has run out")
        else:
            self._reckoning.fails()
            raise RuntimeError("the session store is broken")

    async def end(self, source: int) -> None:
        """See ProxySessions. Nobody leaves here."""
        raise NotImplementedError(f"session {source} is not left")


class _Clock:
    """See tidemark.impl.ports.Clock."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)


def life() -> HostLife:
    """Return the program of all scripts."""
    return HostLife(SCRIPTS, timers=40)
