"""The edges of a streaming node, made of objects of the controlled world: the real log, stores, a clock."""

from collections.abc import Awaitable, Callable, Collection, Coroutine, Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tidemark.impl.errors import StoreError
from tidemark.impl.storage.fenced_log import FencedLog
from tidemark.impl.streaming.ports import Summary
from tidemark.impl.streaming.transaction_messages import DataMessage, StreamingMessage
from tidemark.impl.streaming.values import Checkpoints, Opening, Record, Term
from tidemark.impl.values.messages import InsertMessage
from tidemark.models.protocols.common.calls import remote
from tidemark.models.protocols.common.gate import Gate
from tidemark.models.protocols.common.memory_files import MemoryFiles
from tidemark.models.protocols.common.oracle import CountedClock, Pause
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

LOG = "log"
FLUSHER, RECOVERY, STORED = "flusher", "recovery", "stored"
T = TypeVar("T")


class _Files(MemoryFiles):
    """Files that are forced at once: an append is one step of the log's process."""

    async def sync(self, path: Path) -> None:
        """See Files."""


def number_of(message: StreamingMessage) -> int | None:
    """The number of a message; None for a tick."""
    return message.rows[0].key if isinstance(message, InsertMessage) else None


class Place(NamedTuple):
    """What came to a place of the log. ``number``: of the message; None for a tick."""

    number: int | None
    ts: int
    term: Term


class LogProcess:
    """The real log of a channel, as a process of its own: it outlives the node.

    Attributes:
        log: the log, once its process runs.
        places: what came to each place, cut off or not.
    """

    def __init__(self, *, most_bytes: int) -> None:
        self.log: FencedLog | None = None
        self.places: list[Place] = []
        self._most_bytes = most_bytes

    def open(self, world: World) -> None:
        """Make what readers wait at."""
        self.gate = Gate(world)

    async def run(self, process: Process) -> None:
        """Serve."""
        self.log = FencedLog(Path("log"), files=_Files(process), per_file=1, most_bytes=self._most_bytes)
        process.serve("append", self._append)

    async def _append(self, term: Term, since: int, message: StreamingMessage) -> int:
        assert self.log is not None
        place = await self.log.append(term, since, message)
        self.places.append(Place(number_of(message), message.ts, term))
        self.gate.look()
        return place

    @property
    def end(self) -> int:
        """The last place."""
        return len(self.places)

    @property
    def has_message(self) -> bool:
        """Whether a message came to it."""
        return any(place.number is not None for place in self.places)

    def view(self) -> Hashable:
        """What came to it, and where it is cut."""
        return (tuple(self.places), 0 if self.log is None else self.log.cut)

    def declared(self) -> Hashable:
        """What else influences the future."""
        return (self.log and (self.log.term, self.log.broken), self.gate.view())


class LogCalls:
    """The log as a node sees it: appends are calls, everything else is one step.

    Args:
        reads: places that may be read.
        overtaken: message 0 is sent once another message is in the log.
    """

    def __init__(
        self, process: Process, world: World, log: LogProcess, *, reads: int, overtaken: bool = False
    ) -> None:
        self._process = process
        self._world = world
        self._log = log
        self._reads = reads
        self._overtaken = overtaken
        self._bit = world.interner.bit(LOG)

    def _real(self) -> FencedLog:
        assert self._log.log is not None
        return self._log.log

    async def begin_term(self) -> Opening:
        """See TermLog."""

        def begin() -> Opening:
            self._world.touch(writes=self._bit)
            return finish(self._real().begin_term())

        opening: Opening = await self._world.operation("begin term", begin)
        return opening

    async def append(self, term: Term, since: int, message: StreamingMessage) -> int:
        """See TermLog."""
        if self._overtaken and number_of(message) == 0:
            await self._log.gate.operation("overtaken", lambda: self._log.has_message, lambda: None)
        return int(await remote(self._process, LOG, "append", term, since, message))

    async def read(self, place: int) -> Sequence[Record]:
        """See TermLog. One record at a time, and no more than the scenario says."""

        def take() -> Sequence[Record]:
            self._world.touch(reads=self._bit)
            return finish(self._real().read(place))[:1]

        found: Sequence[Record] = await self._log.gate.operation(
            "read", lambda: self._reads >= place <= self._log.end, take
        )
        return found

    async def scan(self, above: int) -> Sequence[Record]:
        """See TermLog. It is read in the step of the caller."""
        self._world.touch(reads=self._bit)
        return finish(self._real().scan(above))

    async def truncate(self, upto: int) -> None:
        """See TermLog."""

        def cut() -> None:
            self._world.touch(writes=self._bit)
            finish(self._real().truncate(upto))

        await self._world.operation(f"truncate {upto}", cut)


class Objects:
    """Object storage and checkpoints. What a caller has begun that dies or gives up is over, and not done.

    failing: where the first save has no answer, and is not done.
    """

    def __init__(self, world: World, *, failing: Collection[str] = ()) -> None:
        self.failing = set(failing)
        self._world = world
        self._content: dict[str, Any] = {
            FLUSHER: 0, RECOVERY: Summary(), STORED: frozenset()
        }  # fmt: skip

    def stored(self) -> frozenset[int]:
        """The places of stored messages, for observers."""
        found: frozenset[int] = self._content[STORED]
        return found

    def checkpoints(self) -> Checkpoints:
        """Both checkpoints, for observers."""
        return Checkpoints(flusher=self._content[FLUSHER], recovery=self._content[RECOVERY].start)

    async def put(self, place: int, messages: Sequence[DataMessage]) -> None:
        """See MessageStore."""
        await self._change(f"put {number_of(messages[0])}", STORED, lambda old: old | {place})

    async def places(self, above: int) -> Collection[int]:
        """See MessageStore. It is read in the step of the caller."""
        self._world.touch(reads=self._bit(STORED))
        return frozenset(place for place in self.stored() if place > above)

    async def load(self) -> tuple[Checkpoints, Summary]:
        """See CheckpointStore. It is read in the step of the caller."""
        self._world.touch(reads=self._bit(FLUSHER) | self._bit(RECOVERY))
        return self.checkpoints(), self._content[RECOVERY]

    async def save_flusher(self, upto: int) -> None:
        """See CheckpointStore."""
        await self._change(f"flusher {upto}", FLUSHER, lambda _: upto)

    async def save_recovery(self, summary: Summary) -> None:
        """See CheckpointStore."""
        await self._change(f"recovery {summary.start}", RECOVERY, lambda _: summary)

    def _bit(self, key: str) -> int:
        return self._world.interner.bit(cell(key))

    async def _change(self, title: str, key: str, change: Callable[[Any], Any]) -> None:
        def effect() -> None:
            self._world.touch(writes=self._bit(key))
            self._content[key] = change(self._content[key])

        if key in self.failing:
            self.failing.remove(key)
            await self._world.operation("no answer", lambda: None)
            raise StoreError(f"{title} has no answer")
        await self._world.operation(title, effect)


def cell(key: str) -> str:
    """The name of what is stored under a key."""
    return f"cell {key}"


class Clock(CountedClock):
    """A clock by which each period ends so many times, over all lives of a node.

    Args:
        wait: what has to happen, too, before a pause of this name ends.
    """

    def __init__(
        self,
        process: Process,
        pauses: Mapping[float, Pause],
        left: dict[str, float],
        *,
        wait: Callable[[str], Awaitable[None]],
    ) -> None:
        super().__init__(process, pauses)
        self.left = left
        self._wait = wait

    async def sleep(self, seconds: float) -> None:
        """Return when the pause ends."""
        await self._wait(self._pauses[seconds].name)
        await super().sleep(seconds)


def finish(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that never waits, and return its result."""
    try:
        work.send(None)
    except StopIteration as ended:
        result: T = ended.value
        return result
    raise AssertionError(f"{work!r} waits, though nothing that it uses does")
