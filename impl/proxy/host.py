"""Keeps one proxy running: its session, the renewal, and a new proxy under a new session when that ends."""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import Protocol

from tidemark.impl.errors import SessionEndedError
from tidemark.impl.ports import Clock
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.runtime import Supervisor
from tidemark.impl.values.report import SourceId


class ProxySessions(Protocol):
    """The session store as a proxy sees it."""

    async def register(self, name: str, *, lease: float) -> SourceId:
        """Begin a session."""

    async def renew(self, source: SourceId) -> None:
        """Begin its lease anew. Raise SessionEndedError if it has run out."""

    async def end(self, source: SourceId) -> None:
        """Leave."""


class ProxyHost:
    """One proxy after the other, under one name.

    proxy: the present one; None before the first session and between two.
    """

    def __init__(
        self,
        *,
        name: str,
        sessions: ProxySessions,
        clock: Clock,
        make: Callable[[SourceId], Proxy],
        lease: float,
    ) -> None:
        self.name = name
        self.proxy: Proxy | None = None
        self._sessions = sessions
        self._clock = clock
        self._make = make
        self._lease = lease
        self._there = asyncio.Event()

    async def run(self) -> None:
        """Serve until cancelled. Callers that wait for a proxy whose session ends get an error."""
        while True:
            source = await self._sessions.register(self.name, lease=self._lease)
            proxy = self.proxy = self._make(source)
            proxy.start()
            self._there.set()
            renewing = Supervisor()
            renewing.spawn(partial(self._renew, source), f"{self.name} session")
            renewing.spawn(proxy.supervisor.wait_failed, f"{self.name} failures")
            try:
                await renewing.wait_failed()
            except SessionEndedError:
                continue
            finally:
                self._there.clear()
                self.proxy = None
                try:
                    await renewing.stop()
                finally:  # a cancellation meanwhile does not spare the proxy
                    await proxy.stop()

    async def serving(self) -> Proxy:
        """The proxy, once it takes writes."""
        while True:
            await self._there.wait()
            proxy = self.proxy
            if proxy is not None:
                await proxy.serving.wait()
                if proxy is self.proxy:
                    return proxy

    async def _renew(self, source: SourceId) -> None:
        while True:
            await self._clock.sleep(self._lease / 4)
            await self._sessions.renew(source)
