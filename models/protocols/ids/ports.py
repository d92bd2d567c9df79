"""The edges of proxies and coordinator, made of objects of the controlled world: a store, clocks, calls."""

from collections.abc import Mapping

from tidemark.impl.errors import RpcError, StoreError
from tidemark.impl.proxy.ids import IdCache
from tidemark.impl.storage.memory_oracle import MemoryOracleStore
from tidemark.impl.timestamp import NANOSECONDS, Batch
from tidemark.impl.tso.ports import NEVER_SAVED, Leadership
from tidemark.models.protocols.common.calls import known_as, remote
from tidemark.models.protocols.ids.refinement import Question
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

COORDINATOR = "coordinator"
STORE = "ids"
WINDOW = "window"
ANSWERS = "cell answers"
"""The component of an observation that holds which questions were answered while they were awaited."""


class StillClock:
    """Both clocks of the coordinator: no time passes, so that a new incarnation is told the same time."""

    def now(self) -> int:
        """See WallClock."""
        return NANOSECONDS

    def monotonic(self) -> float:
        """See SteadyClock."""
        return 0.0


class Window(MemoryOracleStore):
    """The window of the ids in the store, as one incarnation sees it. A save outlives its sender.

    There is no election: one coordinator at a time.
    """

    def __init__(self, process: Process) -> None:
        super().__init__(steady=StillClock())
        self._store = process.store(STORE)

    async def load(self) -> int:
        """See WindowStore."""
        found = await self._store.get(WINDOW)
        return NEVER_SAVED if found is None else int(found)

    async def save(self, end: int, leadership: Leadership) -> None:
        """See WindowStore."""
        del leadership

        def raised(content: dict[str, int]) -> None:
            content[WINDOW] = max(content.get(WINDOW, NEVER_SAVED), end)

        with known_as(StoreError):
            await self._store.transact("save", raised, keys=(WINDOW,), remote=True)


class Answers:
    """The questions that were answered while they were awaited: by proxy and number, the batch."""

    def __init__(self, world: World) -> None:
        self.given: dict[tuple[int, int], Batch] = {}
        self._world = world
        self._bit = world.interner.bit(ANSWERS)

    def add(self, place: tuple[int, int], batch: Batch) -> None:
        """Note an answer."""
        self._world.touch(writes=self._bit)
        self.given.setdefault(place, batch)

    def view(self) -> tuple[tuple[tuple[int, int], Batch], ...]:
        """All of them."""
        return tuple(sorted(self.given.items()))

    @staticmethod
    def of(view: tuple[tuple[tuple[int, int], Batch], ...]) -> Mapping[tuple[int, int], Batch]:
        """The same, to be looked up."""
        return dict(view)


class IdCalls:
    """The coordinator as one incarnation of a proxy sees it: each question is noted.

    cache: the ids of this incarnation; to be set before the first question.
    woken: how often a request was woken by an answer.
    """

    def __init__(self, process: Process, place: int, questions: list[Question], *, doubled: int) -> None:
        """``questions``: those of all incarnations. ``doubled``: how many of them are delivered twice; the
        answer to the copy, which may be delivered at any later time, reaches nothing.
        """
        self.cache: IdCache | None = None
        self._process = process
        self._place = place
        self._questions = questions
        self._doubled = doubled
        self.woken = 0

    async def allocate(self, count: int, *, deadline: float) -> Batch:
        """See IdSource."""
        del deadline  # a time-out is a fault
        assert self.cache is not None
        question = Question(lambda: self._process.alive, self.cache)
        place = (self._place, len(self._questions))
        self._questions.append(question)
        if len(self._questions) <= self._doubled:
            self._process.post(COORDINATOR, "copy", count)
        try:
            question.answer = Batch(*await remote(self._process, COORDINATOR, "allocate", count, place))
        except RpcError:
            question.failed = True
            raise
        return question.answer

    async def point(self, name: str) -> None:
        """See Preemption. An answer, or its failure, wakes one request: no request looks again and again."""
        if name == "ids.give":
            self.woken += 1
            most = len([one for one in self._questions if one.cache is self.cache and not one.open])
            assert self.woken <= most, f"requests look for an answer for the {self.woken}. time, after {most}"
        await self._process.point(name)


class Runs(list[Batch]):
    """What a request is given. A cache that gives too much does not end."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def append(self, run: Batch) -> None:
        """Take a run."""
        assert len(self) < self._most, f"a request for {self._most} ids gets more than {self}"
        super().append(run)
