"""What is common to the oracle programs over a real store: the adapter's own code is what a server calls.

Of the stand-in in ``ports`` this keeps when somebody campaigns, and which saves have arrived. What the store
holds is read from it after each change.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

from tidemark.impl.errors import NotLeaderError, StoreError
from tidemark.impl.tso.oracle import Phase
from tidemark.impl.tso.ports import Leadership, OracleStore
from tidemark.models.protocols.tso.ports import LEADER, SETTLED, STORE, WINDOW, SharedStore, updater_of_task
from tidemark.models.protocols.tso.program import OracleProgram
from tidemark.models.protocols.tso.refinement import FIRST_SAVE
from tidemark.models.refinement.program import REFINEMENT, WORK_IS_DONE
from tidemark.models.simulation.world.process import Process


class AdaptedStore(SharedStore, ABC):
    """The store as one server sees it: the real one.

    Args:
        adapter: of the store.
        look: to be called when the store may hold something else, and ``adapter`` does not tell.
        failed: told of a call that has failed. No fault of a store is injected here.
    """

    def __init__(
        self,
        process: Process,
        place: int,
        *,
        elected: Callable[[], None],
        others: tuple[str, ...],
        adapter: OracleStore,
        look: Callable[[], None],
        failed: Callable[[StoreError], None],
    ) -> None:
        super().__init__(process, place, elected=elected, others=others)
        self.adapter = adapter
        self.look = look
        self._failed = failed

    def led(self) -> None:
        """The store has taken this server as the leader."""
        self._elected()

    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        """See tidemark.impl.tso.ports.LeaderElection. A standby waits for its turn."""
        await self.vacant.wait()
        found = await self.adapter.campaign(server, lease=lease)
        if found is None:
            self.vacant.clear()
        return found

    async def resign(self, leadership: Leadership) -> None:
        """See tidemark.impl.tso.ports.LeaderElection."""
        if self.first_save_is_open:
            await self._lose_first_save()
        await self.adapter.resign(leadership)
        self.tell()

    async def load(self) -> int:
        """See tidemark.impl.tso.ports.WindowStore."""
        try:
            return await self.adapter.load()
        except StoreError as failure:
            self._failed(failure)
            raise

    async def save(self, end: int, leadership: Leadership) -> None:
        """See tidemark.impl.tso.ports.WindowStore. A save that was refused never arrives."""
        updater = updater_of_task()
        self._saves += 1
        self.sent[updater] = self._saves
        self.first_save_is_open = updater == FIRST_SAVE
        try:
            await self.adapter.save(end, leadership)
        except NotLeaderError:
            self.first_save_is_open = False
            if updater == FIRST_SAVE:
                self.settles(updater)
                self.look()
            raise
        except StoreError as failure:
            self.first_save_is_open = False
            del self.sent[updater]
            self._failed(failure)
            raise
        self.first_save_is_open = False

    def settles(self, updater: int) -> None:
        """The last save of an updater has arrived, or never will."""
        content = self._store.content()
        settled = {**dict(content[SETTLED]), (self._place, updater): self.sent[updater]}
        content[SETTLED] = tuple(sorted(settled.items()))

    @abstractmethod
    async def expire(self) -> None:
        """The lease of this server runs out, if it is the leader, and the next one is told."""

    def tell(self) -> None:
        """Tell the next server that the key may be free."""
        for other in self._others:
            self._process.post(other, "vacant")


class AdaptedProgram(OracleProgram, ABC):
    """The oracle program over a real store.

    Attributes:
        stores: by the place of each server its store.
    """

    claims = (*OracleProgram.claims, WORK_IS_DONE)
    table = None  # type: ignore[assignment]  # its events have other names

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.stores: dict[int, AdaptedStore] = {}
        self._failure: StoreError | None = None

    def failed(self, failure: StoreError) -> None:
        """A call of an adapter has failed, and no fault explains it."""
        self._failure = self._failure or failure

    def complaint(self) -> str | None:
        """Return what is wrong: see OracleProgram. A server whose store fails by itself would take a step of
        the specification, in which stores may fail.
        """
        if self._failure is not None:
            return f"{REFINEMENT}: a store fails, and no fault was injected that explains it: {self._failure}"
        return super().complaint()

    @abstractmethod
    def shown(self) -> tuple[int, tuple[int, bool]]:
        """Return the end of the window that the store holds, and the leader and whether its term runs."""

    def look(self) -> None:
        """Read what the store holds."""
        content = self.world.store(STORE).content()
        led_before = content[LEADER]
        content[WINDOW], content[LEADER] = self.shown()
        for key in (WINDOW, LEADER, SETTLED):
            self.world.touch(writes=self.world.interner.bit(self.world.store(STORE).owner(key)))
        place, led = content[LEADER]
        if led and (place, led) != led_before:
            self.stores[place].led()

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Where not every server can die or lose its lease, one serves; the turn of one that dies before it
        is elected goes to nobody.
        """
        del values
        count = len(self.scenario.names)
        lose = 0 if self.scenario.lease_rule else count - 1  # nobody comes after the last one
        if self.scenario.crashes + self.scenario.step_downs + lose >= count:
            return None
        place, led = self.world.store(STORE).content()[LEADER]
        memory, lane = self.memories[place], self.world.lanes[self.scenario.names[place]]
        oracle = memory.server.oracle if memory.server is not None else None
        lives = lane.alive and lane.incarnation == 1
        if oracle is None and not lives:
            return None
        if led and lives and oracle is not None and oracle.phase is Phase.SERVING:
            return None
        return f"no server serves: the last to hold the key is {self.scenario.names[place]}"
