"""The oracle and the clocks as programs that do not judge the oracle see them."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from tidemark.impl.errors import RpcError, RpcTimeoutError
from tidemark.impl.timestamp import Timestamp
from tidemark.models.protocols.common.calls import remote
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

ORACLE = "oracle"
ANSWERS = "cell answers"
"""The component of an observation that holds which timestamps were answered."""


class Answers:
    """The timestamps that were answered to anybody: the oracle as it is seen from outside."""

    def __init__(self, world: World) -> None:
        self.answered: tuple[Timestamp, ...] = ()
        self._world = world
        self._bit = world.interner.bit(ANSWERS)

    def latest(self) -> Timestamp:
        """Return the greatest of them; 0 before the first."""
        self._world.touch(reads=self._bit)
        return max(self.answered, default=0)

    def add(self, ts: Timestamp) -> None:
        """Note an answer."""
        self._world.touch(writes=self._bit)
        self.answered = tuple(sorted((*self.answered, ts)))


class OracleProcess:
    """A counter. What the oracle itself promises is judged elsewhere."""

    def __init__(self) -> None:
        self.given: Timestamp = 0

    async def run(self, process: Process) -> None:
        """Serve."""

        async def alloc(count: int, caller: str) -> Timestamp:
            del caller  # it tells calls apart
            return self.give(count)

        process.serve("alloc", alloc)

    def title(self, caller: str) -> str:
        """What a call of it is named in a run."""
        del caller
        return "allocate"

    def give(self, count: int, caller: str = "") -> Timestamp:
        """Return the last of so many new timestamps. ``caller``: name of the asking task."""
        del caller
        self.given += count
        return self.given


class OracleCalls:
    """The oracle as a caller sees it.

    Args:
        near: the oracle itself, if each call of it is one step.

    Attributes:
        floors: by name of the asking task, the greatest timestamp answered when it asked.
    """

    def __init__(
        self, process: Process, world: World, answers: Answers, *, near: OracleProcess | None = None
    ) -> None:
        self.floors: dict[str, Timestamp] = {}
        self._process = process
        self._world = world
        self._answers = answers
        self._near = near

    async def alloc(self, count: int) -> Timestamp:
        """Return the last of so many new timestamps."""
        task = asyncio.current_task()
        name = task.get_name() if task is not None else ""
        self.floors[name] = self._answers.latest()
        try:
            ts = await self._call(count, name)
        finally:
            del self.floors[name]
        self._answers.add(ts)
        return ts

    async def _call(self, count: int, name: str) -> Timestamp:
        if self._near is None:
            return int(await remote(self._process, ORACLE, "alloc", count, name))
        oracle, bit = self._near, self._world.interner.bit(ORACLE)

        def give() -> Timestamp:
            self._world.touch(writes=bit)
            return oracle.give(count, name)

        return await self._world.operation(oracle.title(name), give)


@dataclass(frozen=True, slots=True)
class Pause:
    """A pause of a loop.

    Attributes:
        name: of the point at which it ends.
        times: how often it ends. Then a sleeper sleeps on. ``math.inf``: it ends again and again.
        after: it first ends after the work that follows the first pause of this name.
    """

    name: str
    times: float
    after: str = ""


class CountedClock:
    """A clock by which each period ends so many times.

    Args:
        pauses: by length in seconds.
    """

    def __init__(self, process: Process, pauses: Mapping[float, Pause]) -> None:
        self.left = {pause.name: pause.times for pause in pauses.values()}
        self._pauses = dict(pauses)
        self._process = process
        self._worked = {pause.name: asyncio.Event() for pause in pauses.values()}
        self._begun: set[str] = set()

    async def sleep(self, seconds: float) -> None:
        """Return when the pause ends."""
        pause = self._pauses[seconds]
        if pause.name in self._begun:
            self._worked[pause.name].set()
        self._begun.add(pause.name)
        if pause.after:
            await self._worked[pause.after].wait()
        if not self.left[pause.name]:
            await _for_ever()
        await self._process.point(pause.name)
        self.left[pause.name] -= 1


async def _for_ever() -> None:
    await asyncio.get_running_loop().create_future()


async def ask_alone(process: Process, oracle: OracleCalls, times: int, name: str) -> None:
    """Ask the oracle now and then: another client that is given timestamps."""
    for _ in range(times):
        await process.point(name)
        with suppress(RpcError):
            await oracle.alloc(1)


class SparingOracle(OracleProcess):
    """Answers so many timestamps, and more only where one is needed; else it has no answer. So a loop that
    asks for ever goes round through finitely many states, and meets calls that fail.

    Args:
        most: timestamps that are given in any case.
        needed: whether something waits that only a further timestamp for this caller brings on.

    Attributes:
        silent: the last call had no answer.
    """

    def __init__(self, *, most: int, needed: Callable[[str], bool]) -> None:
        super().__init__()
        self.silent = False
        self._most = most
        self._needed = needed

    def title(self, caller: str) -> str:
        """Who asks is told apart: each of them has a right to its turn."""
        return f"allocate for {caller}"

    def give(self, count: int, caller: str = "") -> Timestamp:
        """Return the last of so many new timestamps."""
        self.silent = self.given + count > self._most and not self._needed(caller)
        if self.silent:
            raise RpcTimeoutError("the oracle does not answer")
        return super().give(count, caller)
