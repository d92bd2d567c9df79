"""What the code of a simulated process is given: its door to the world."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Protocol

from tidemark.models.simulation.loop.event_loop import ControlledLoop
from tidemark.models.simulation.loop.lane import Lane
from tidemark.models.simulation.world.network import Network
from tidemark.models.simulation.world.storage import Disk, Store


class Surroundings(Protocol):
    """What a process reaches of the world."""

    loop: ControlledLoop

    @property
    def network(self) -> Network:
        """The messages of this execution."""

    @property
    def caller(self) -> Lane:
        """The lane whose code runs now."""

    def store(self, name: str) -> Store:
        """The shared durable store of that name."""

    def disk(self, process: str) -> Disk:
        """The local disk of a process."""

    async def operation(self, title: str, effect: Callable[[], Any]) -> Any:
        """Wait until the operation is picked, perform its effect, return the result."""

    async def draw(self, count: int, title: str) -> int:
        """Wait until one of the numbers below ``count`` is picked, and return it."""


class Process:
    """One incarnation of a process, as its own code sees it; tasks, sleeps, locks and queues are those of
    asyncio.
    """

    __slots__ = ("_lane", "_world")

    def __init__(self, world: Surroundings, lane: Lane) -> None:
        self._world = world
        self._lane = lane

    @property
    def name(self) -> str:
        """Name of the process; also its address."""
        return self._lane.name

    @property
    def incarnation(self) -> int:
        """1 for the first life, 2 after the first restart, and so on."""
        return self._lane.incarnation

    @property
    def alive(self) -> bool:
        """Whether this incarnation has not crashed."""
        return self._lane.alive

    @property
    def disk(self) -> Disk:
        """The local disk. What was synced outlives a crash."""
        return self._world.disk(self._lane.name)

    def store(self, name: str) -> Store:
        """Return a store that several processes share."""
        return self._world.store(name)

    def now(self) -> float:
        """Return the virtual time of this process in seconds."""
        return self._world.loop.time()

    def serve(self, method: str, handler: Callable[..., Awaitable[Any]]) -> None:
        """Answer calls of a method with a coroutine function. Lasts until this incarnation ends."""
        self._world.network.serve(self._lane, method, handler)

    async def call(self, destination: str, method: str, *arguments: Any) -> Any:
        """Call a method of another process and wait for the answer. Raises CallTimeoutError: request or reply
        was lost or delayed, and may take effect all the same; CallUnavailableError: the destination is or
        went down.
        """
        return await self._world.network.call(self._world.caller, destination, method, arguments)

    def post(self, destination: str, method: str, *arguments: Any) -> None:
        """Send a message for which there is no answer."""
        self._world.network.post(self._world.caller, destination, method, arguments)

    def spawn(self, work: Coroutine[Any, Any, None], name: str) -> None:
        """Start a task that lasts as long as this incarnation. Its failure is an error of the program."""
        self._world.loop.create_task(work, name=name)

    async def point(self, name: str) -> None:
        """Let anything else happen here: a named preemption point."""
        await self._world.operation(f"resume {name}", _nothing)

    async def choose(self, count: int, name: str) -> int:
        """Return any number in 0..count-1: a random draw, all outcomes of which are explored."""
        return await self._world.draw(count, name)


def _nothing() -> None:
    """Do nothing: the point of a preemption point is that others may run before it ends."""
