"""What these tests share: a clock that is wound by hand, scripted preemption and edges."""

import asyncio
import gc
import re
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

from tidemark.impl.errors import NotLeaderError, RpcError, StoreError
from tidemark.impl.types import EndPosition, Owner, Pack, Row, StartPosition

CHANNEL = "channel-1"
OWNER = Owner(node_id="node-1", term=1)


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose clock begins at 0 and jumps to the next timer: for work without files and sockets.

    It fails at rest without timers.
    """

    def __init__(self) -> None:
        self.now = 0.0
        selector = selectors.DefaultSelector()
        super().__init__(selector)
        look = selector.select

        def skip(timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
            assert timeout is not None, "everybody waits, and no timer is left"
            self.now += timeout
            return look(0)

        selector.select = skip  # type: ignore[method-assign]

    def time(self) -> float:
        return self.now


def run(
    work: Coroutine[Any, Any, None], *, loop: type[asyncio.AbstractEventLoop] = asyncio.SelectorEventLoop
) -> None:
    """Run a test's coroutine. A test that hangs for 10 s fails, and one whose loop reports an error."""
    reported: list[str] = []

    async def limited() -> None:
        running = asyncio.get_running_loop()
        running.set_exception_handler(lambda _, context: reported.append(str(context["message"])))
        async with asyncio.timeout(None if loop is VirtualLoop else 10.0):
            await work

    with asyncio.Runner(loop_factory=loop) as runner:
        runner.run(limited())
    gc.collect(1)  # an exception that nobody has retrieved is reported when its task goes
    assert reported == []


def pack(
    end: int, *rows: tuple[int, int], start: int | None = None, close: bool = False, drop: bool = False
) -> Pack:
    """The pack that ends at a tick. Rows are (segment, key) and get the pack's end as their timestamp."""
    return Pack(
        StartPosition(end - 1 if start is None else start),
        EndPosition(end),
        tuple(Row(end, segment, key) for segment, key in rows),
        close=close,
        drop=drop,
    )


async def settle() -> None:
    """Let every task that can go on do so."""
    for _ in range(50):
        await asyncio.sleep(0)


class HandClock:
    """Time passes only in ``advance``."""

    def __init__(self) -> None:
        self.now = 0.0
        self.waiting: list[tuple[float, asyncio.Future[None]]] = []

    async def sleep(self, seconds: float) -> None:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((self.now + seconds, future))
        await future

    async def advance(self, seconds: float) -> None:
        await settle()
        self.now += seconds
        due = [item for item in self.waiting if item[0] <= self.now]
        self.waiting = [item for item in self.waiting if item[0] > self.now]
        for _, future in due:
            if not future.done():
                future.set_result(None)
        await settle()

    async def run_to(self, end: float) -> None:
        """Let time pass, with a halt at each moment for which somebody waits."""
        await settle()
        while (moment := min((at for at, _ in self.waiting), default=end + 1)) <= end:
            await self.advance(moment - self.now)
        await self.advance(end - self.now)


ERRORS = {"fail": StoreError, "drop": RpcError, "lost": NotLeaderError, "broken": RuntimeError}


MANY = 100
"""More calls are too many."""


class Scene:
    """Edges that answer as a script says, and what was seen at them, with the time.

    script: ``name=answer,answer`` ...: by operation what it answers, the last one again and again: a word, or
        the error of that name, after a number of seconds if there is one (``1.5:ok``). Tests read other
        names in their own way.
    """

    def __init__(self, script: str) -> None:
        self.hand = HandClock()
        self.seen: list[str] = []
        self.script: dict[str, list[str]] = {
            name: given.split(",") for name, given in re.findall(r"(\w+)=(\S+)", script)
        }

    def note(self, words: str) -> None:
        """Raise RuntimeError for what has no end."""
        if len(self.seen) > MANY:
            raise RuntimeError(f"more than {MANY} calls, the last one {words!r}")
        self.seen.append(f"{self.hand.now:g} {words}")

    async def sleep(self, seconds: float) -> None:
        await self.hand.sleep(seconds)

    async def ask(self, name: str, words: str = "") -> str:
        self.note(f"{name}{words}")
        given = self.script.get(name, ["ok"])
        later, _, answer = (given.pop(0) if len(given) > 1 else given[0]).rpartition(":")
        if later:
            await self.sleep(float(later))
        if answer in ERRORS:
            raise ERRORS[answer](f"{name}: {answer}")
        return answer

    async def played(self, until: float, *works: Coroutine[Any, Any, None]) -> str:
        """Run the works up to a time; return what was seen."""
        tasks = [asyncio.create_task(work) for work in works]
        await self.hand.run_to(until)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return "; ".join(self.seen)


class Script:
    """Preemption that records the points and runs what a test has planned for one of them, once."""

    def __init__(self, plan: dict[str, Callable[[], object]] | None = None) -> None:
        self.plan = dict(plan or {})
        self.seen: list[str] = []

    async def point(self, name: str) -> None:
        self.seen.append(name)
        planned = self.plan.pop(name, None)
        if planned is not None:
            planned()
        await asyncio.sleep(0)
