"""Ten asyncio services of public kinds, most with a task that polls, each with a race that can be left out.

Each function runs its service once. ``repaired``: the same code without the race.
"""
# ruff: noqa: ASYNC110

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


async def poller(repaired: bool) -> None:
    """Looks for a new configuration. Its version is shown before its values are there."""
    remote, local = {"version": 1, "limit": 10}, {"version": 0, "limit": 0}

    async def poll() -> None:
        while True:
            if local["version"] != remote["version"]:
                if not repaired:
                    local["version"] = remote["version"]
                await asyncio.sleep(0.01)  # the values are fetched
                local.update(remote)
            await asyncio.sleep(1)

    async with in_background(poll()):
        while not local["version"]:
            await asyncio.sleep(0.1)
        assert local["limit"] == 10


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


async def connection_pool(repaired: bool) -> None:
    """At most two connections. They are counted when they are open, not when they are begun."""
    idle: list[str] = []
    size = 0

    async def acquire() -> str:
        nonlocal size
        while not idle:
            if size < 2:
                size += repaired
                await asyncio.sleep(0.1)  # connects
                size += not repaired
                assert size <= 2, "too many connections"
                return "connection"
            await asyncio.sleep(0.01)
        return idle.pop()

    async def client() -> None:
        connection = await acquire()
        await asyncio.sleep(0.05)  # asks
        idle.append(connection)

    await asyncio.gather(client(), client(), client())


async def batcher(repaired: bool) -> None:
    """Writes what was collected. What comes meanwhile is thrown away with it."""
    buffer: list[int] = []
    stored: list[int] = []
    writing = False

    async def flush() -> None:
        nonlocal writing
        while True:
            if buffer:
                batch, writing = list(buffer), True
                if repaired:
                    buffer.clear()
                await asyncio.sleep(0.1)  # is written
                stored.extend(batch)
                buffer.clear() if not repaired else None
                writing = False
            await asyncio.sleep(1)

    async with in_background(flush()):
        for row in range(3):
            buffer.append(row)
            await asyncio.sleep(0.3)
        while buffer or writing:
            await asyncio.sleep(0.5)
        assert stored == [0, 1, 2]


async def rate_limiter(repaired: bool) -> None:
    """Two calls in a second. A call is counted when it was made."""
    used = 0

    async def refill() -> None:
        nonlocal used
        while True:
            await asyncio.sleep(1)
            used = 0

    async def call() -> None:
        nonlocal used
        while used >= 2:
            await asyncio.sleep(0.1)
        used += repaired
        await asyncio.sleep(0.02)  # the call
        used += not repaired
        assert used <= 2, "too many calls"

    async with in_background(refill()):
        await asyncio.gather(call(), call(), call())


async def publish_subscribe(repaired: bool) -> None:
    """A subscriber reads what was published, and enters its queue a moment later."""
    log: list[int] = []
    queues: set[asyncio.Queue[int]] = set()

    async def keep_alive() -> None:
        while True:
            await asyncio.sleep(5)

    async def subscribe() -> None:
        queue = asyncio.Queue[int]()
        seen = list(log)
        if not repaired:
            await asyncio.sleep(0.05)  # the old messages are sent
        queues.add(queue)
        while len(seen) < 2:
            seen.append(await queue.get())
        assert seen == [0, 1]

    async def publish() -> None:
        for message in range(2):
            log.append(message)
            for queue in queues:
                queue.put_nowait(message)
            await asyncio.sleep(0.1)

    async with in_background(keep_alive()):
        await asyncio.gather(subscribe(), publish())


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


async def supervisor(repaired: bool) -> None:
    """Starts a worker again that has failed, after a while. It does not ask again whether to go on."""
    stopping, late = False, False

    async def work() -> None:
        await asyncio.sleep(0.1)
        raise ConnectionError

    async def supervise() -> None:
        nonlocal late
        goes_on = True
        while goes_on:
            late = late or stopping
            worker = asyncio.create_task(work())
            while not worker.done():
                await asyncio.sleep(0.05)
            assert isinstance(worker.exception(), ConnectionError)
            goes_on = not stopping
            await asyncio.sleep(1)  # before the next attempt
            goes_on = not stopping if repaired else goes_on

    task = asyncio.create_task(supervise())
    await asyncio.sleep(3)
    stopping = True
    await task
    assert not late, "a worker was started after the stop"


async def graceful_shutdown(repaired: bool) -> None:
    """Waits for the requests that run. A request counts when its body was read."""
    active, closing, closed = 0, False, False

    async def request() -> None:
        nonlocal active
        if closing:
            return
        active += repaired
        await asyncio.sleep(0.01)  # the body is read
        active += not repaired
        await asyncio.sleep(0.1)
        assert not closed, "the store is closed under a request"
        active -= 1

    async def shut_down() -> None:
        nonlocal closing, closed
        await asyncio.sleep(0.05)
        closing = True
        while active:
            await asyncio.sleep(0.05)
        closed = True

    await asyncio.gather(request(), request(), shut_down())


SERVICES: tuple[Callable[[bool], Coroutine[Any, Any, None]], ...] = (
    poller,
    heartbeat,
    retry_loop,
    connection_pool,
    batcher,
    rate_limiter,
    publish_subscribe,
    cache,
    supervisor,
    graceful_shutdown,
)
