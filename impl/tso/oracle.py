"""The oracle of one term: load the window, keep it ahead of the clock, hand out timestamps within it.

A timestamp is the physical time of the published object and the next values of its counter. The object is
replaced as a whole: calls that have loaded the old one still count in it, so that no timestamp is handed out
twice (seed 002, facts 2).
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from tidemark.impl.errors import NoTimestampError, StoreError
from tidemark.impl.logs import log_of
from tidemark.impl.timestamp import Batch, Timestamp, compose, milliseconds
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.ports import OraclePorts
from tidemark.impl.tso.term import Term

_log = log_of(__package__)


class Phase(StrEnum):
    """Stage of an oracle's start."""

    NEW = "new"
    LOADED = "loaded"
    """The saved end of the window is known."""
    DECIDED = "decided"
    """The first physical time is chosen."""
    STARTING = "starting"
    """The first window is saved."""
    SERVING = "serving"
    STOPPED = "stopped"


class Stage(StrEnum):
    """Stage of an update of the physical time."""

    READ = "read"
    """The clock was read."""
    SAVING = "saving"
    PUBLISHING = "publishing"


class Published:
    """A physical time and the counter of its timestamps. Only the counter ever changes.

    Milvus: atomicObject

    Attributes:
        physical: nanoseconds.
        milli: the same in milliseconds, as it is handed out.
        logical: the last value that was handed out; 0 if none was.
    """

    __slots__ = ("logical", "milli", "physical")

    def __init__(self, physical: int) -> None:
        self.physical = physical
        self.milli = milliseconds(physical)
        self.logical = 0

    def add(self, count: int) -> int:
        """Take the next ``count`` values and return the last of them, atomically."""
        self.logical += count
        return self.logical


@dataclass
class Update:
    """One update of the physical time, under way. ``next`` counts from SAVING or PUBLISHING on."""

    stage: Stage
    now: int
    next: int = 0


class TimestampOracle:
    """The oracle of one term.

    Milvus: timestampOracle, GenerateTSO, InitTimestamp, SyncTimestamp, UpdateTimestamp, LimitMaxLogic,
    jetLag, saveTimestamp, lastSavedTime

    Attributes:
        phase: how far the start has come.
        base: the saved end that was loaded.
        first: the physical time with which it starts.
        window: the end of the window that this oracle has saved; 0 before.
        published: the object of new timestamps; None before the start and after the end.
        updates: the updates under way, by the number of the updater. There is one updater: the slower of two
            would publish an old object (hazard 39).

    Args:
        ports: the world.
        term: the term that it serves.
        config: constants.
        make: makes the published object of a physical time.
    """

    def __init__(
        self,
        *,
        ports: OraclePorts,
        term: Term,
        config: OracleConfig,
        make: Callable[[int], Published] = Published,
    ) -> None:
        self.phase = Phase.NEW
        self.base = 0
        self.first = 0
        self.window = 0
        self.published: Published | None = None
        self.updates: dict[int, Update] = {}
        self._term = term
        self._store = ports.store
        self._wall = ports.wall
        self._clock = ports.clock
        self._point = ports.preemption.point
        self._config = config
        self._make = make

    # The start.

    async def start(self) -> None:
        """Begin above every timestamp that was ever handed out.

        Raises:
            StoreError: the window could not be loaded or saved. A failed load is no fresh start (B1).
            NotLeaderError: the term has ended.
        """
        self.base = await self._store.load()
        self._term.check()
        self.phase = Phase.LOADED
        await self._point("start.decide")
        # The clock, if it is far enough above the window of the predecessors; otherwise just above that.
        now, least = self._wall.now(), self.base + self._config.guard
        self.first = max(now, least)
        self.phase = Phase.DECIDED
        await self._save_window(self.first)
        self.phase = Phase.STARTING
        await self._point("start.publish")
        self._term.check()
        self.published = self._make(self.first)
        self.phase = Phase.SERVING
        _log("sync and save timestamp", last=self.base, save=self.window, next=self.first)

    # The update, every 50 ms.

    async def update(self, updater: int = 0) -> None:
        """Advance the physical time if there is a reason. The window is saved first, if it must be longer.

        Raises:
            StoreError: the window could not be saved. The time stays; try again.
            NotLeaderError: the term has ended.
        """
        await self._point("update.read_clock")
        self._term.check()
        update = self.updates[updater] = Update(Stage.READ, self._wall.now())
        await self._point("update.decide")
        following = self._following(update.now)
        if following is not None:
            update.next = following
            try:
                await self._move(update)
            except StoreError:
                del self.updates[updater]
                raise
        # An unfinished update stays at the end of the term: its save may still reach the store.
        del self.updates[updater]

    def _following(self, now: int) -> int | None:
        """The next physical time. It never goes back, and the millisecond grows whenever it moves."""
        current = self.published
        if current is None:
            return None
        if now - current.physical > self._config.guard:
            return now
        if current.logical > self._config.max_logical // 2:
            return current.physical + self._config.step
        return None

    async def _move(self, update: Update) -> None:
        if self.window - update.next <= self._config.guard:
            update.stage = Stage.SAVING
            await self._save_window(update.next)
        update.stage = Stage.PUBLISHING
        await self._point("update.publish")
        self._term.check()
        self.published = self._make(update.next)

    async def _save_window(self, physical: int) -> None:
        """Save the end of the window for a physical time; only the saved end counts in memory."""
        end = physical + self._config.window
        await self._store.save(end, self._term.leadership)
        self.window = end

    # Handing out.

    async def generate(self, count: int) -> Timestamp:
        """Return the last of ``count`` timestamps that no other caller has.

        They are greater than every timestamp that was returned before the call began. Of calls that overlap
        the one that returns later may have got the smaller ones (hazard 38).

        Raises:
            NoTimestampError: all tries failed.
            NotLeaderError: the term has ended.
        """
        if count < 1:
            raise ValueError(f"count must be at least 1, got {count}")
        config = self._config
        for _ in range(config.tries):
            current = self.published
            if current is None:
                self._term.check()
                await self._clock.sleep(config.unready_pause)
                continue
            await self._point("generate.add")
            self._term.check()
            last = current.add(count)
            if last >= self._config.max_logical:  # the addition remains, and makes the counter half full
                await self._clock.sleep(config.overflow_pause)
                continue
            return compose(current.milli, last)
        raise NoTimestampError(
            f"no {count} timestamps in {config.tries} tries; ask again later, or for fewer than "
            f"{config.max_logical} at a time"
        )

    async def allocate(self, count: int = 1) -> Batch:
        """Return ``count`` timestamps: ``generate`` gives the last of them (facts 2.3)."""
        last = await self.generate(count)
        return Batch(last - count + 1, last)

    # The end.

    def stop(self) -> None:
        """Hand out no more timestamps. An update under way will not publish: the term has ended (B4)."""
        self.phase = Phase.STOPPED
        self.published = None
