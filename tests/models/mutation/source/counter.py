"""A small module for tests of mutants: it is changed in memory, and run."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Span:
    """Two numbers of one type."""

    low: int
    high: int


class Base:
    """What a counter begins with."""

    def begin(self) -> int:
        """One."""
        return 1


class Counter(Base):
    """Counts under a lock."""

    def __init__(self) -> None:
        self.value = 0
        self.lock = asyncio.Lock()

    def begin(self) -> int:
        """As the base, from below."""
        self.value = super().begin()
        return self.value

    @property
    def even(self) -> bool:
        """Is the value even?"""
        return self.value % 2 == 0 and self.value >= 0

    @asynccontextmanager
    async def held(self) -> AsyncIterator[int]:
        """The value, with the lock."""
        async with self.lock:
            yield self.value

    async def add(self, amount: int, limit: int) -> int:
        """Add, at most up to the limit."""
        async with self.lock:
            before = self.value
            await asyncio.sleep(0)
            self.value = min(before + amount, limit)
        if self.value > 100:
            text = "large"
            raise ValueError(f"{self.value} is {text}")
        return self.value


def narrowed(span: Span, least: int, most: int) -> Span:
    """The part of the span between two numbers."""
    try:
        low = max(span.low, least)
    except TypeError:
        low = least
    return replace(span, low=low, high=min(span.high, most))
