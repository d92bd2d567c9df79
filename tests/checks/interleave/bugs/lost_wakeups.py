"""Public bugs that need a cancellation at an unlucky await, rewritten small: each beside its correction.

Each function takes ``fixed``. None of them cancels anything by itself.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import Any


def future() -> "asyncio.Future[Any]":
    return asyncio.get_running_loop().create_future()


def wake_one(waiters: "deque[asyncio.Future[Any]]") -> None:
    for waiter in waiters:
        if not waiter.done():
            waiter.set_result(None)
            return


class Permits:
    """A semaphore that wakes one waiter (gh-90155), or with one permit a lock (bpo-27585).

    A waiter that was woken and is cancelled before it runs takes the wake-up with it.
    """

    def __init__(self, free: int, *, fixed: bool) -> None:
        self.free = free
        self._fixed = fixed
        self._waiters: deque[asyncio.Future[Any]] = deque()

    async def acquire(self) -> None:
        while self.free <= 0:
            waiter = future()
            self._waiters.append(waiter)
            try:
                await waiter
            except asyncio.CancelledError:
                if self._fixed and self.free > 0:
                    wake_one(self._waiters)
                raise
            finally:
                self._waiters.remove(waiter)
        self.free -= 1

    def release(self) -> None:
        self.free += 1
        wake_one(self._waiters)


async def semaphore(*, fixed: bool) -> None:
    """gh-90155: a waiter of a semaphore is cancelled after it was woken, and no other one is woken."""
    permits = Permits(0, fixed=fixed)
    tasks = [asyncio.create_task(permits.acquire()) for _ in range(2)]
    await asyncio.sleep(1)
    permits.release()
    done, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    if not any(task.cancelled() for task in done):
        permits.release()
    if waiting:
        await asyncio.wait(waiting)


async def lock(*, fixed: bool) -> None:
    """bpo-27585: the same in a lock: it is free, and tasks wait for it."""
    mutex = Permits(1, fixed=fixed)

    async def work() -> None:
        await mutex.acquire()
        try:
            await asyncio.sleep(1)
        finally:
            mutex.release()

    await asyncio.wait([asyncio.create_task(work()) for _ in range(3)])


async def condition(*, fixed: bool) -> None:
    """gh-112202: a task that was notified is cancelled while it waits for the lock."""
    mutex, waiters, items = asyncio.Lock(), deque[asyncio.Future[Any]](), list[int]()

    async def wait() -> None:
        mutex.release()
        waiter = future()
        waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            waiters.remove(waiter)
            if waiter.done() and not waiter.cancelled():
                wake_one(waiters)
            await mutex.acquire()
            raise
        waiters.remove(waiter)
        try:
            await mutex.acquire()
        except asyncio.CancelledError:
            if fixed:
                wake_one(waiters)
            await mutex.acquire()
            raise

    async def consume() -> None:
        async with mutex:
            while not items:
                await wait()
            items.pop()

    consumers = [asyncio.create_task(consume()) for _ in range(2)]
    await asyncio.sleep(1)
    async with mutex:
        items.append(1)
        wake_one(waiters)
        await asyncio.sleep(1)
    await asyncio.wait(consumers, return_when=asyncio.FIRST_COMPLETED)
    if items:
        await asyncio.wait(consumers)
    for consumer in consumers:
        consumer.cancel()


async def queue(*, fixed: bool) -> None:
    """bpo-23812: the item is handed to a task that is cancelled before it can take it."""
    items, getters = deque[int](), deque[asyncio.Future[Any]]()

    async def get() -> int:
        if items:
            return items.popleft()
        getter = future()
        getters.append(getter)
        try:
            return int(await getter)
        except asyncio.CancelledError:
            if fixed and getter.done() and not getter.cancelled():
                items.appendleft(getter.result())
            raise

    def put(item: int) -> None:
        while getters:
            getter = getters.popleft()
            if not getter.done():
                getter.set_result(item)
                return
        items.append(item)

    got: list[int] = []

    async def consume() -> None:
        got.append(await get())

    consumer = asyncio.create_task(consume())
    await asyncio.sleep(1)
    put(1)
    await asyncio.wait([consumer])
    assert got or list(items) == [1], "the item is lost"


async def wait_for(work: Awaitable[None], *, hides: bool) -> None:
    inner = asyncio.ensure_future(work)
    try:
        await asyncio.wait([inner])
    except asyncio.CancelledError:
        if hides and inner.done():
            return
        inner.cancel()
        raise


async def hidden_cancellation(*, fixed: bool) -> None:
    """gh-86296: the work ends just when its task is cancelled, and the task goes on."""

    async def serve() -> None:
        await wait_for(asyncio.sleep(1), hides=not fixed)
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling(), "the task goes on although it was cancelled"

    server = asyncio.create_task(serve())
    await asyncio.wait([server])
    if not server.cancelled():
        server.result()


async def lost_result(*, fixed: bool) -> None:
    """bpo-37658: the lock was got by a task of its own, whose result is dropped: it is never released."""
    mutex = asyncio.Lock()

    async def take() -> None:
        inner = asyncio.ensure_future(mutex.acquire())
        try:
            await asyncio.wait([inner])
        except asyncio.CancelledError:
            if fixed and inner.done() and not inner.cancelled():
                mutex.release()
            inner.cancel()
            raise

    async def work() -> None:
        await take()
        mutex.release()

    worker = asyncio.create_task(work())
    await asyncio.wait([worker])
    await asyncio.sleep(1)
    async with mutex:
        pass


class Connection:
    """Answers in the order of the requests."""

    def __init__(self) -> None:
        self.sent: deque[str] = deque()

    async def read(self) -> str:
        await asyncio.sleep(1)
        return f"answer to {self.sent.popleft()}"


async def reply_of_another(*, fixed: bool) -> None:
    """redis-py #2624: a cancelled request leaves its answer behind, and the next one reads that."""
    pool = [Connection()]

    async def ask(request: str) -> str:
        connection = pool.pop() if pool else Connection()
        connection.sent.append(request)
        try:
            return await connection.read()
        except asyncio.CancelledError:
            if fixed:
                connection = Connection()
            raise
        finally:
            pool.append(connection)

    first = asyncio.create_task(ask("one"))
    await asyncio.wait([first])
    assert await ask("two") == "answer to two", "the answer to another request"


async def leaked_slot(*, fixed: bool) -> None:
    """httpcore #1093: the request is cancelled after it was given a connection, and before it has it."""
    slots, waiting = 1, deque[asyncio.Future[Any]]()

    def assign() -> None:
        nonlocal slots
        while waiting and slots:
            request = waiting.popleft()
            if not request.done():
                slots -= 1
                request.set_result("connection")

    async def request() -> None:
        nonlocal slots
        turn = future()
        waiting.append(turn)
        assign()
        try:
            await turn
        except asyncio.CancelledError:
            if fixed and turn.done() and not turn.cancelled():
                slots += 1
                assign()
            raise
        try:
            await asyncio.sleep(1)
        finally:
            slots += 1
            assign()

    requests = [asyncio.create_task(request()) for _ in range(2)]
    await asyncio.wait(requests)
    assert slots == 1, "a slot of the pool is lost"
