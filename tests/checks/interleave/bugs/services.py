"""Asyncio services of public kinds, most with a task that polls, each with a race that can be left out.

Each function runs its service once. ``repaired``: the same code without the race.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import Any


@contextlib.asynccontextmanager
async def in_background(*loops: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(loop) for loop in loops]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()


async def heartbeat(repaired: bool) -> None:
    """A node writes while it holds the lease. It looks at the lease, and writes a moment later."""
    owner, renewed, written = "a", True, list[str]()

    async def beat() -> None:
        nonlocal renewed
        while owner == "a":
            renewed = True
            await asyncio.sleep(1)

    async def watch() -> None:
        nonlocal owner, renewed
        while owner == "a":
            owner, renewed = "a" if renewed else "b", False
            await asyncio.sleep(3)

    async with in_background(beat(), watch()):
        for _ in range(2):
            if not repaired and owner != "a":
                return
            await asyncio.sleep(0.01)  # the row is encoded
            if repaired and owner != "a":
                return
            written.append(owner)
        assert written == ["a", "a"]


async def retry_loop(repaired: bool) -> None:
    """A request whose time is over is sent again. The first one may still be carried out."""
    paid: list[str] = []
    sent: list[asyncio.Task[None]] = []

    async def server(key: str) -> None:
        await asyncio.sleep(0.5)
        if not (repaired and key in paid):
            paid.append(key)

    for _ in range(3):
        sent.append(asyncio.create_task(server("order 1")))
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(sent[-1]), 1)
            break
        await asyncio.sleep(0.2)
    await asyncio.gather(*sent)
    assert paid == ["order 1"]


async def cache(repaired: bool) -> None:
    """A value that was read before an update enters the cache after it."""
    database, known, version = {"key": 1}, dict[str, int](), 0

    async def expire() -> None:
        while True:
            await asyncio.sleep(60)
            known.clear()

    async def get() -> int:
        began, value = version, known.get("key")
        if value is None:
            value = database["key"]
            await asyncio.sleep(0.01)  # the answer comes
            if not repaired or version == began:
                known["key"] = value
        return value

    async def update() -> None:
        nonlocal version
        await asyncio.sleep(0.02)
        database["key"], version = 2, version + 1
        known.clear()

    async with in_background(expire()):
        await asyncio.gather(get(), update(), get())
        assert await get() == 2


SERVICES: tuple[Callable[[bool], Coroutine[Any, Any, None]], ...] = (heartbeat, retry_loop, cache)
