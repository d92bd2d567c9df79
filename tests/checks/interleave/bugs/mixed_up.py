"""Public bugs of queues, locks, groups, time-outs and caches, rewritten small: each beside its correction.

Each function takes ``fixed``. None of them cancels anything by itself.
"""

import asyncio
import time
from collections import deque
from collections.abc import Coroutine
from types import TracebackType
from typing import Any, Self

from tests.checks.interleave.bugs.lost_wakeups import future

Future = asyncio.Future[Any]


async def unfair_semaphore(*, fixed: bool) -> None:
    """bpo-45997: a task that releases the permit and asks again gets it before those that wait."""
    free, waiters, got = 1, deque[Future](), list[str]()

    async def acquire() -> None:
        nonlocal free
        if free and not (fixed and waiters):
            free -= 1
            return
        while True:
            waiter = future()
            waiters.append(waiter)
            await waiter
            if fixed:
                return
            if free:
                free -= 1
                return

    def release() -> None:
        nonlocal free
        if fixed and waiters:
            waiters.popleft().set_result(None)
            return
        free += 1
        if waiters:
            waiters.popleft().set_result(None)

    async def use(name: str, times: int) -> None:
        for _ in range(times):
            await acquire()
            got.append(name)
            await asyncio.sleep(1)
            release()

    await asyncio.gather(use("first", 2), use("second", 1))
    assert got == ["first", "second", "first"], f"out of turn: {got}"


class Group:
    """Tasks that live as long as a block. One that fails cancels the others, and the block."""

    def __init__(self, *, fixed: bool) -> None:
        self._fixed = fixed
        self._tasks: set[asyncio.Task[None]] = set()
        self._asked = False
        self._failed = False

    async def __aenter__(self) -> Self:
        task = asyncio.current_task()
        assert task is not None
        self._block = task
        return self

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if task.cancelled() or task.exception() is None or self._failed:
            return
        self._failed = self._asked = True
        self._block.cancel()
        self._cancel_all()

    def _cancel_all(self) -> None:
        for task in self._tasks:
            task.cancel()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> bool:
        if error is not None:
            self._cancel_all()
        while self._tasks:
            try:
                await asyncio.wait(self._tasks)
            except asyncio.CancelledError:
                self._cancel_all()
        if not self._asked:
            return False
        if self._block.uncancel() and self._fixed:  # another block around this one has asked, too
            self._block.cancel()
        return kind is asyncio.CancelledError


async def nested_groups(*, fixed: bool) -> None:
    """gh-116720: the inner group takes the cancellation of the outer one for its own."""

    async def fail() -> None:
        await asyncio.sleep(1)
        raise ValueError

    async with Group(fixed=fixed) as outer:
        outer.start(fail())
        async with Group(fixed=fixed) as inner:
            inner.start(fail())
            await future()
        await future()  # not reached, or cancelled by the outer group


async def lock_without_owner(*, fixed: bool) -> None:
    """aiorwlock #400: a waiter that is cancelled gives back what it never had, and two are inside."""
    held, waiting, inside, most = 0, list[Future](), 0, 0

    def wake() -> None:
        nonlocal held
        if held <= 0:
            for waiter in waiting:
                if not waiter.done():
                    waiter.set_result(None)
                    held += 1
                    return

    async def acquire() -> None:
        nonlocal held
        if held <= 0:
            held += 1
            return
        waiter = future()
        waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if not fixed or (waiter.done() and not waiter.cancelled()):
                held -= 1
            wake()
            raise
        finally:
            waiting.remove(waiter)

    async def write() -> None:
        nonlocal held, inside, most
        await acquire()
        inside += 1
        most = max(most, inside)
        try:
            await asyncio.sleep(1)
        finally:
            inside -= 1
            held -= 1
            wake()

    await asyncio.wait([asyncio.create_task(write()) for _ in range(3)])
    assert most == 1, "two writers are inside"


async def cleared_cache(*, fixed: bool) -> None:
    """async-lru #503: the cache is cleared while a value is being loaded, whose callback then misses it."""
    loading = set[asyncio.Task[None]]()

    async def get() -> None:
        task = asyncio.create_task(asyncio.sleep(1))
        loading.add(task)
        task.add_done_callback(loading.discard if fixed else loading.remove)
        await asyncio.shield(task)

    async def clear() -> None:
        await asyncio.sleep(2)
        loading.clear()

    await asyncio.gather(get(), clear())


class HandedLock:
    """A lock that is handed to the next waiter (anyio), in three versions.

    Args:
        gives_back: a waiter that is cancelled when it was handed the lock releases it.
        forgets: a release takes waiters out of the queue that were cancelled and have not run since.
    """

    def __init__(self, *, gives_back: bool, forgets: bool) -> None:
        self._gives_back, self._forgets = gives_back, forgets
        self._held = False
        self._waiters: deque[Future] = deque()

    async def acquire(self) -> None:
        if not self._held and not self._waiters:
            self._held = True
            return
        waiter = future()
        self._waiters.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter in self._waiters:
                self._waiters.remove(waiter)
            elif self._gives_back and not waiter.cancelled():
                self.release()
            raise

    def release(self) -> None:
        for waiter in list(self._waiters):
            if waiter.done():
                if self._forgets:
                    self._waiters.remove(waiter)
                continue
            self._waiters.remove(waiter)
            waiter.set_result(None)
            return
        self._held = False


async def handed_to_the_cancelled(*, fixed: bool) -> None:
    """anyio #387: the lock belongs to a task that was cancelled when it was handed over."""
    mutex = HandedLock(gives_back=fixed, forgets=True)

    async def use() -> None:
        await mutex.acquire()
        mutex.release()

    await mutex.acquire()
    waiter = asyncio.create_task(use())
    await asyncio.sleep(1)
    mutex.release()
    await asyncio.wait([waiter])
    await mutex.acquire()


async def stranded_behind_the_cancelled(*, fixed: bool) -> None:
    """anyio PR 1145: a cancelled waiter is still in the queue when the lock is released, then asked for."""
    mutex = HandedLock(gives_back=True, forgets=fixed)

    async def use(arrives: float) -> None:
        await asyncio.sleep(arrives)
        await mutex.acquire()
        mutex.release()

    await mutex.acquire()
    tasks = [asyncio.create_task(use(0)), asyncio.create_task(use(1))]
    await asyncio.sleep(2)
    mutex.release()
    await asyncio.wait(tasks)


async def dropped_by_the_receiver(*, fixed: bool) -> None:
    """anyio #728: the item goes to a receiver that is being cancelled, and is lost."""
    waiting, buffer, got = deque[tuple[Future, list[int]]](), deque[int](), list[int]()

    def send(item: int) -> None:
        while waiting:
            waiter, hands = waiting.popleft()
            if fixed and waiter.done():
                continue
            hands.append(item)
            if not waiter.done():
                waiter.set_result(None)
            return
        buffer.append(item)

    async def receive() -> int:
        if buffer:
            return buffer.popleft()
        waiter, hands = future(), list[int]()
        waiting.append((waiter, hands))
        try:
            await waiter
        except asyncio.CancelledError:
            if fixed:
                buffer.extend(hands)
            raise
        return hands[0]

    async def take() -> None:
        got.append(await receive())

    receiver = asyncio.create_task(take())
    await asyncio.sleep(1)
    send(1)
    await asyncio.wait([receiver])
    assert [*got, *buffer] == [1], "the item is lost"


async def queue_of_futures(*, fixed: bool) -> None:
    """tornado #2826: `get` returns a future, and no code is left that could put its item back."""
    items, getters, got = deque[int](), deque[Future](), list[int]()

    def get() -> Future:
        getter = future()
        if items:
            getter.set_result(items.popleft())
        else:
            getters.append(getter)
        return getter

    def put(item: int) -> None:
        while getters and getters[0].done():
            getters.popleft()
        if getters:
            getters.popleft().set_result(item)
        else:
            items.append(item)

    async def consume() -> None:
        getter = get()
        try:
            got.append(await getter)
        except asyncio.CancelledError:
            if fixed and getter.done() and not getter.cancelled():
                items.appendleft(getter.result())
            raise

    consumer = asyncio.create_task(consume())
    await asyncio.sleep(1)
    put(1)
    await asyncio.wait([consumer])
    assert [*got, *items] == [1], "the item is lost"


class Deadline:
    """A block that is cancelled when its time is over."""

    def __init__(self, seconds: float, *, fixed: bool) -> None:
        self._seconds, self._fixed = seconds, fixed
        self._over = False

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task = task
        self._timer = asyncio.get_running_loop().call_later(self._seconds, self._end)

    def _end(self) -> None:
        self._over = True
        self._task.cancel()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._timer.cancel()
        if not self._over:
            return
        others = self._task.uncancel()
        if kind is asyncio.CancelledError and not (self._fixed and others):
            raise TimeoutError


async def time_out_or_cancelled(*, fixed: bool) -> None:
    """async-timeout #229: cancelled from outside when its time is just over: only the time-out is seen."""
    going_on = []

    async def serve() -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            async with Deadline(1, fixed=fixed):
                await asyncio.sleep(2)
        except TimeoutError:
            going_on.append(task.cancelling())

    server = asyncio.create_task(serve())
    await asyncio.wait([server])
    assert going_on in ([], [0]), "the task goes on although it was cancelled"


async def moving_window(*, fixed: bool) -> None:
    """limits #277: how many entries to keep is counted before the lock is there; then a new one comes."""
    day, entries, mutex = 86_400, list[float](), asyncio.Lock()

    def young() -> int:
        return sum(entry > time.time() - day for entry in entries)

    async def hit() -> None:
        await asyncio.sleep(1)
        async with mutex:
            await asyncio.to_thread(entries.insert, 0, time.time())

    async def expire() -> None:
        await asyncio.sleep(1)
        kept = young()
        async with mutex:
            del entries[young() if fixed else kept :]

    await asyncio.gather(hit(), expire(), hit())
    assert len(entries) == 2, "an entry of today is gone"
