"""The edges of the oracle's implementation, made of objects of the controlled world.

Each coroutine method here suspends its caller until the search picks that it goes on: these are the places of
interruption which the granularity table of ``impl/README.md`` counts. A clock shows what the search picks.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from tidemark.impl.errors import NotLeaderError, StoreError
from tidemark.impl.tso.ports import NEVER_SAVED, Leadership
from tidemark.models.protocols.common.calls import known_as
from tidemark.models.protocols.tso.refinement import FIRST_SAVE, StoreView
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.storage import Store

STORE = "oracle"
WINDOW, LEADER, SETTLED = "window", "leader", "settled"
KEYS = (WINDOW, LEADER, SETTLED)
NOBODY = (0, False)
"""The leader key at the start: (last leader, whether it leads)."""

T = TypeVar("T")


def begin(store: Store) -> None:
    """Fill the store with what it holds at first."""
    store.content().update({WINDOW: NEVER_SAVED, LEADER: NOBODY, SETTLED: ()})


def store_view(store: Store) -> StoreView:
    """The picture of the store."""
    content = store.content()
    leader, led = content[LEADER]
    return StoreView(saved=content[WINDOW], led=led, leader=leader, settled=content[SETTLED])


def updater_of_task() -> int:
    """Which updater runs; FIRST_SAVE for the start."""
    return updater_of(_task_name())


def updater_of(task: str) -> int:
    """The updater whose task has this name; FIRST_SAVE for another one."""
    return int(task.rpartition(" ")[2]) if " update " in task else FIRST_SAVE


def call_of_task() -> int | None:
    """Which call runs; None if it is none."""
    name = _task_name()
    return int(name.rpartition(" ")[2]) if name.startswith("call ") else None


def _task_name() -> str:
    task = asyncio.current_task()
    assert task is not None
    return task.get_name()


class SharedStore:
    """The store as one server sees it. A save outlives its sender, nothing else does.

    Args:
        process: the server's process.
        place: which of the servers it is.
        elected: called in the step in which it becomes the leader.
        others: processes that are told when the key goes.
        conditional: a save is taken of the leader alone.
        raises: the larger end is kept.
    """

    def __init__(
        self,
        process: Process,
        place: int,
        *,
        elected: Callable[[], None],
        others: tuple[str, ...],
        conditional: bool = True,
        raises: bool = True,
    ) -> None:
        self._process = process
        self._store = process.store(STORE)
        self._place = place
        self._elected = elected
        self._others = others
        self._conditional = conditional
        self._raises = raises
        self.vacant = asyncio.Event()
        self.sent: dict[int, int] = {}
        """By updater the number of the last save, unless that has failed. Numbers grow."""
        self._saves = 0
        self.first_save_is_open = False
        """The save of the start was sent, and this server has not heard of it."""

    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        """See tidemark.impl.tso.ports.LeaderElection.

        The servers take turns: a standby waits for its turn.
        """
        await self.vacant.wait()

        def change(content: dict[str, Any]) -> bool:
            if content[LEADER][1]:
                return False
            content[LEADER] = (self._place, True)
            return True

        if not await self._do("elect", change, keys=(LEADER,)):
            self.vacant.clear()
            return None
        self._elected()
        return Leadership(server=server, term=self._place + 1, lease=lease)

    async def renew(self, leadership: Leadership) -> None:
        """Never called: here a lease ends when the search picks that it does."""
        raise StoreError(f"renewal of {leadership.server} in a world in which no time passes")

    async def resign(self, leadership: Leadership) -> None:
        """See tidemark.impl.tso.ports.LeaderElection."""
        del leadership
        await self.end()

    async def wait_vacant(self) -> None:
        """See tidemark.impl.tso.ports.LeaderElection."""
        await self.vacant.wait()

    async def load(self) -> int:
        """See tidemark.impl.tso.ports.WindowStore."""
        return await self._do("load", lambda content: int(content[WINDOW]), keys=(WINDOW,))

    async def save(self, end: int, leadership: Leadership) -> None:
        """See tidemark.impl.tso.ports.WindowStore."""
        updater = updater_of_task()
        self._saves += 1
        number = self.sent[updater] = self._saves
        self.first_save_is_open = updater == FIRST_SAVE

        def change(content: dict[str, Any]) -> bool:
            settled = dict(content[SETTLED])
            if settled.get((self._place, updater), 0) >= number:
                return False
            taken = not self._conditional or content[LEADER] == (self._place, True)
            if taken:
                content[WINDOW] = max(content[WINDOW], end) if self._raises else end
            if taken or updater == FIRST_SAVE:
                content[SETTLED] = _with(settled, (self._place, updater), number)
            return taken

        try:
            taken = await self._do("save", change, keys=KEYS, remote=True)
        except StoreError:
            self.first_save_is_open = False
            del self.sent[updater]
            raise
        self.first_save_is_open = False
        if not taken:
            raise NotLeaderError(f"{leadership.server} does not hold the leader key")

    async def close(self) -> None:
        """Nothing to let go of."""

    async def end(self) -> None:
        """The lease of this server, which serves no longer, ends. What it sent when it started and has not
        arrived by then is lost: it would be refused.
        """
        if self.first_save_is_open:
            await self._lose_first_save()
        await self.expire()

    async def _lose_first_save(self) -> None:
        await self._do("lose", self._forget_first_save, keys=KEYS)

    def _forget_first_save(self, content: dict[str, Any]) -> None:
        settled = dict(content[SETTLED])
        if settled.get((self._place, FIRST_SAVE), 0) < 1:
            content[SETTLED] = _with(settled, (self._place, FIRST_SAVE), 1)

    async def expire(self) -> None:
        """The lease of this server ends, if it is the leader, and the next one is told."""

        def change(content: dict[str, Any]) -> None:
            if content[LEADER] == (self._place, True):
                content[LEADER] = (self._place, False)

        await self._do("expire", change, keys=(LEADER,))
        for other in self._others:
            self._process.post(other, "vacant")

    async def _do(
        self,
        title: str,
        change: Callable[[dict[str, Any]], T],
        *,
        keys: tuple[str, ...],
        remote: bool = False,
    ) -> T:
        with known_as(StoreError):
            return await self._store.transact(title, change, keys=keys, remote=remote)


def _with(
    settled: dict[tuple[int, int], int], key: tuple[int, int], number: int
) -> tuple[tuple[tuple[int, int], int], ...]:
    return tuple(sorted({**settled, key: number}.items()))


class PickedClock:
    """A wall clock and the points of preemption: at some of them the search picks what the clock shows.

    Args:
        process: the server's process.
        readings: what may be picked at some of the points, in nanoseconds.
        loads: told of each call that has loaded the pointer.
    """

    def __init__(
        self, process: Process, readings: Mapping[str, tuple[int, ...]], loads: Callable[[int], None]
    ) -> None:
        self._process = process
        self._readings = readings
        self._loads = loads
        self.shown = 0
        self._is_picked = False

    def now(self) -> int:
        """See tidemark.impl.tso.ports.WallClock. A reading is for the step that has just begun."""
        assert self._is_picked, "the clock is read in another step than the one that picks what it shows"
        self._is_picked = False
        return self.shown

    async def point(self, name: str) -> None:
        """See tidemark.impl.ports.Preemption."""
        call = call_of_task()
        if name == "generate.add" and call is not None:
            self._loads(call)
        readings = self._readings.get(name)
        if readings is not None:
            self.shown = readings[await self._process.choose(len(readings), name)]
            self._is_picked = True
        else:
            await self._process.point(name)


class Pauses:
    """Waiting, and the lease as its holder sees it.

    Args:
        process: the server's process.
        updates: how often each updater runs.
        step_down: this holder may find that its lease has ended.
        late_watch: the time runs out in a step before the one in which the watch finds out.
        retries: told of each call that tries again.
    """

    def __init__(
        self,
        process: Process,
        *,
        updates: int,
        step_down: bool,
        late_watch: bool,
        retries: Callable[[int], None],
    ) -> None:
        self._process = process
        self._step_down = step_down
        self._late_watch = late_watch
        self._updates = updates
        self._retries = retries
        self.ran: dict[int, int] = {}
        self.over = False

    def monotonic(self) -> float:
        """See tidemark.impl.tso.ports.SteadyClock. No time passes until all of it has."""
        return float("inf") if self.over else 0.0

    async def sleep(self, seconds: float) -> None:
        """See tidemark.impl.ports.Clock."""
        del seconds
        name = _task_name()
        call = call_of_task()
        if call is not None:
            self._retries(call)
            await self._process.point("call.retry")
        elif " update " in name:
            await self._pause_of_update(updater_of_task())
        elif name.endswith(" watch") and self._step_down:
            await self._process.point("lease.ends")
            self.over = True
            if self._late_watch:
                await self._process.point("watch.wakes")
        else:
            await _for_ever()

    async def _pause_of_update(self, updater: int) -> None:
        """The update itself begins with a point: here only their number is limited."""
        if self.ran.get(updater, 0) >= self._updates:
            await _for_ever()
        self.ran[updater] = self.ran.get(updater, 0) + 1


async def _for_ever() -> None:
    endless: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    await endless
