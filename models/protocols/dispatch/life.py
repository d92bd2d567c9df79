"""The dispatchers of a physical channel on a steady clock: a story says when the log grows, and when targets
come, take their packs and go. What each target gets, when, and who serves it, is written out.

The other programs take no time: a target that has no room is given up at some time. Here it is known when.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any

from tidemark.impl.errors import ImplementationError, StoreError, TargetGoneError
from tidemark.impl.stream.config import DispatcherConfig
from tidemark.impl.stream.manager import DispatcherManager
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.stream.targets import Changes, Target
from tidemark.impl.values.messages import Entry, InsertMessage, LogMessage
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.dispatch.stories import LOOKS, SCRIPTS, SERVED
from tidemark.models.simulation.world.process import Process

_CHANNEL = "dml_0"
_MANY = 100
"""No story passes so many points of preemption, or looks so often."""


class _Log:
    """A log that grows. A reader waits for the entry at its place. Raises StoreError once it has failed."""

    def __init__(self) -> None:
        self._messages: list[LogMessage] = []
        self._grown = asyncio.Event()
        self.failed = False

    def put(self, message: LogMessage) -> None:
        """Append."""
        self._messages.append(message)
        self.tell()

    def tell(self) -> None:
        """Who reads looks again."""
        self._grown.set()
        self._grown = asyncio.Event()

    async def read(self, channel: str, place: int) -> Sequence[Entry]:
        """See EntryLog."""
        if channel != _CHANNEL:
            raise AssertionError(f"there is no log {channel!r}")
        while place > len(self._messages) and not self.failed:
            await self._grown.wait()
        if self.failed:
            raise StoreError("the log cannot be read")
        return (Entry(place, 0, self._messages[place - 1]),)


class _Raced(Changes):
    """Something else happens after a wait was given up, and before who has waited goes on."""

    def __init__(self, changes: Changes, happens: Callable[[], None]) -> None:
        super().__init__()
        self._changes = changes
        self._happens = happens

    def tell(self) -> None:
        """See Changes."""
        self._changes.tell()

    async def until(self, condition: Callable[[], bool]) -> None:
        """See Changes."""
        try:
            await self._changes.until(condition)
        except asyncio.CancelledError:
            self._happens()
            raise


class _Manager(DispatcherManager):
    """``race`` happens when its main dispatcher gives up a wait."""

    race: Callable[[], None]

    def _build_main(self) -> None:
        super()._build_main()
        assert self.main is not None
        self.main._changes = _Raced(self._changes, self.race)  # noqa: SLF001


class DispatchLife(ComparedProgram):
    """One manager.

    Scripts have a ``story``, and what is ``due``; ``race``: what happens together with the end of a wait. See
    ``stories``.
    """

    claims = (SERVED, LOOKS)

    def __init__(self) -> None:
        super().__init__(SCRIPTS, timers=40)
        self._seen: list[str] = []
        self._where: dict[str, str] = {}
        self._targets: dict[str, Target] = {}
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._passed = 0
        self._moment = 0.0
        self.manager: DispatcherManager | None = None

    async def live(self, process: Process) -> None:
        """Let the story happen."""
        self._process, self._from = process, process.now()
        self.begun = True
        if "looks" in self.script:
            await self._look_again()
            return
        self._log = _Log()
        self._race = list(self.script.get("race", ()))
        self.manager = _Manager(
            log=self._log, channel=_CHANNEL, preemption=self, config=DispatcherConfig(capacity=1)
        )
        self.manager.race = self.race
        self.manager.start()
        process.spawn(self._hear_of_a_failure(self.manager), "failure")
        for at, *event in self.script["story"]:
            await asyncio.sleep(max(0.0, self._from + at - process.now()))
            await self._happens(*event)

    def race(self) -> None:
        """A wait was given up."""
        self._go_on()
        if self._race:
            kind, name = self._race.pop()
            assert self.manager is not None
            if kind == "leave":
                self.manager.deregister(_channel(name))
            else:
                self._targets[name].packs.popleft()
                self._note(f"{name} takes")

    async def point(self, name: str) -> None:
        """See Preemption. Nobody is held up here; the manager comes to its own only when it has to do."""
        self._passed += 1
        manager = self.manager
        assert manager is not None
        if name == "dispatch.manage" and manager.next_step() is None:
            self.compare(LOOKS, "what the manager has to do", None, "something")
        if self._passed > _MANY:
            self.compare(LOOKS, "points that were passed", self._passed, f"at most {_MANY}")
        await self.halt_if_wrong()

    # What happens.

    async def _happens(self, kind: str, *given: Any) -> None:
        assert self.manager is not None
        self._go_on()
        match kind:
            case "put":
                for message in given:
                    self._log.put(message)
            case "come" | "come slowly":
                for name, place, ts in given:
                    self._come(name, StreamPosition(place, ts), slowly=kind != "come")
            case "take":
                self._turns[given[0]].release()
            case "leave":
                self.manager.deregister(_channel(given[0]))
            case "break":
                self._log.failed = True
                self._log.tell()
            case _:
                await self.manager.stop()
                self._note("stopped")

    def _come(self, name: str, position: StreamPosition, *, slowly: bool) -> None:
        assert self.manager is not None
        try:
            target = self.manager.register(_channel(name), position)
        except ValueError:
            self._note(f"{name} is refused")
            return
        self._targets[name] = target
        self._turns[name] = asyncio.Semaphore(0 if slowly else _MANY)
        self._process.spawn(self._take(name, target), f"target {name}")

    async def _take(self, name: str, target: Target) -> None:
        try:
            while True:
                await self._turns[name].acquire()
                pack = await target.next_pack()
                keys = "".join(f" {m.rows[0].key}" for m in pack.messages if isinstance(m, InsertMessage))
                self._note(f"{name} gets {pack.begin}-{pack.end}{keys}")
        except TargetGoneError:
            self._note(f"{name} is told that it is gone")

    async def _hear_of_a_failure(self, manager: DispatcherManager) -> None:
        try:
            await manager.supervisor.wait_failed()
        except ImplementationError as error:
            self._note(type(error).__name__)

    async def _look_again(self) -> None:
        """Who waits for a condition looks when something has changed, and not else."""
        changes, level = Changes(), 0

        def reached(name: str, due: int) -> bool:
            self._note(f"{name} looks")
            if len(self._seen) > _MANY:
                self.compare(LOOKS, "looks", len(self._seen), f"at most {_MANY}")
                return True
            return level >= due

        async def wait(name: str, due: int) -> None:
            await changes.until(lambda: reached(name, due))
            self._note(f"{name} goes on")

        for name, due in self.script["looks"]:
            self._process.spawn(wait(name, due), name)
        for _ in range(2):
            await asyncio.sleep(1)
            self._go_on()
            level += 1
            changes.tell()

    # What is looked at.

    def _note(self, what: str) -> None:
        self._seen.append(f"{self._moment:g}: {what}")

    def _go_on(self) -> None:
        """Something happens: until now those have served who are there before it."""
        self._note_who_serves()
        self._moment = self._process.now() - self._from

    def _note_who_serves(self) -> None:
        manager = self.manager
        if manager is None:
            return
        main = {} if manager.main is None else manager.main.targets
        for name, target in self._targets.items():
            places: dict[str, Collection[str]] = {
                "main": main,
                "a deputy": manager.deputies,
                "nobody": manager.waiting,
            }
            where = [place for place, channels in places.items() if _channel(name) in channels]
            found = "nobody any more" if target.gone and not where else " and ".join(where)
            if self._where.get(name) != found:
                self._where[name] = found
                self._note(f"{name} is served by {found}")

    def look(self) -> Hashable:
        """What was seen."""
        return (tuple(self._seen), self.wrong())

    def wrong_at_the_end(self) -> str | None:
        """All has come as is due, and nobody works for nobody."""
        self._note_who_serves()
        claim = LOOKS if self.manager is None else SERVED
        self.compare(claim, "what was seen", _by_target(self._seen), _by_target(self.script["due"]))
        if self.manager is not None:
            serving = len(self.manager.deputies) + (self.manager.main is not None)
            self.compare(SERVED, "dispatchers at work", len(self.manager.tasks), serving)
        return self.wrong()


def _by_target(seen: Iterable[str]) -> list[str]:
    """At the same time: one target after the other, and what it is told before who serves it then."""

    def place(line: str) -> tuple[float, str, bool]:
        time, what = line.split(": ")
        return (float(time), what.split()[0], "is served" in what)

    return sorted(seen, key=place)


def _channel(name: str) -> str:
    return f"{_CHANNEL}_{name}"


def life() -> DispatchLife:
    """Return the program of all stories."""
    return DispatchLife()
