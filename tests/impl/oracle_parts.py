"""What the oracle's tests share: clocks that are wound by hand, a store that fails on demand."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.impl.parts import HandClock, Script
from tidemark.impl.errors import StoreError
from tidemark.impl.storage.memory_oracle import MemoryOracleStore
from tidemark.impl.timestamp import NANOSECONDS
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.oracle import TimestampOracle
from tidemark.impl.tso.ports import Leadership, OraclePorts, OracleStore
from tidemark.impl.tso.server import OracleServer
from tidemark.impl.tso.term import Term

MS = NANOSECONDS
START = 1_700_000_000_000 * MS


class Clocks:
    """One clock wound by hand, as a wall clock that may jump and as one that may not."""

    def __init__(self) -> None:
        self.hand = HandClock()
        self.jumped = 0

    def now(self) -> int:
        return START + round(self.hand.now * 1000 * MS) + self.jumped

    def monotonic(self) -> float:
        return self.hand.now

    async def sleep(self, seconds: float) -> None:
        await self.hand.sleep(seconds)

    async def advance(self, seconds: float) -> None:
        """In small parts: what wakes up may sleep again."""
        parts = max(1, round(seconds / 0.05))
        for _ in range(parts):
            await self.hand.advance(seconds / parts)


class WindingStore(MemoryOracleStore):
    """Fails the next operations; its standbys wait by the hand clock."""

    def __init__(self, clocks: Clocks) -> None:
        super().__init__(steady=clocks)
        self.clocks = clocks
        self.failing: list[str] = []
        self.gate: asyncio.Event | None = None

    def _fail(self, name: str) -> None:
        if name in self.failing:
            self.failing.remove(name)
            raise StoreError(f"{name} failed as planned")

    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        self._fail("campaign")
        return await super().campaign(server, lease=lease)

    async def renew(self, leadership: Leadership) -> None:
        self._fail("renew")
        await super().renew(leadership)

    async def wait_vacant(self) -> None:
        self._fail("wait_vacant")
        await self.clocks.sleep(0.05)

    async def load(self) -> int:
        self._fail("load")
        return await super().load()

    async def save(self, end: int, leadership: Leadership) -> None:
        self._fail("save")
        if self.gate is not None:
            await self.gate.wait()
        await super().save(end, leadership)
        self._fail("save, answer")


@dataclass
class Stage:
    """The world of one test."""

    clocks: Clocks = field(default_factory=Clocks)
    script: Script = field(default_factory=Script)
    config: OracleConfig = field(default_factory=OracleConfig)
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.store = WindingStore(self.clocks)

    def ports(self, store: OracleStore | None = None) -> OraclePorts:
        return OraclePorts(
            store=store or self.store,
            wall=self.clocks,
            steady=self.clocks,
            clock=self.clocks,
            preemption=self.script,
        )

    def server(self, name: str = "a", store: OracleStore | None = None) -> OracleServer:
        return OracleServer(name=name, ports=self.ports(store), config=self.config, log=self.lines.append)

    async def oracle(self, name: str = "a") -> TimestampOracle:
        """An oracle whose server has been elected; it has not started."""
        leadership = await self.store.campaign(name, lease=self.config.lease)
        assert leadership is not None
        term = Term(
            leadership,
            steady=self.clocks,
            asked_at=self.clocks.monotonic(),
            margin=self.config.lease_margin,
        )
        return TimestampOracle(ports=self.ports(), term=term, config=self.config)


def jump(clocks: Clocks, milliseconds: float) -> Callable[[], None]:
    def act() -> None:
        clocks.jumped += round(milliseconds * MS)

    return act
