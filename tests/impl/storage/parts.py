"""What the tests of the stores share: media that fail at one place, in every place one after the other."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Coroutine, Iterator
from copy import deepcopy
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.impl.parts import run
from tests.impl.storage.disk import Machine
from tests.impl.storage.faults import DAMAGE, FAIL, LOSE, Faults
from tidemark.impl.storage.files import SystemFiles
from tidemark.impl.storage.transactions import SqliteDatabase
from tidemark.models.simulation.world.files import FileSystem

_WORLD: Any = SimpleNamespace(interner=SimpleNamespace(bit=len), touch=lambda **_: None)


class Steady:
    now = 1000.0

    def monotonic(self) -> float:
        return self.now


class AtOnce(asyncio.SelectorEventLoop):
    """A loop without threads: what is to be done in one is done at once, and heard of one step later."""

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        future = self.create_future()
        try:
            self.call_soon(future.set_result, func(*args))
        except Exception as failure:  # noqa: BLE001  # it is the future's
            self.call_soon(future.set_exception, failure)
        return future


def play(work: Coroutine[Any, Any, Any]) -> None:
    run(work, loop=AtOnce)


def each(*kinds: str) -> Iterator[Faults]:
    """A fault of each kind at the first operation, at the second one, ..., as long as there is one."""
    for kind in kinds:
        for place in count(1):
            faults = Faults()
            faults.kind, faults.place = kind, place
            yield faults
            if not faults.happened:
                break


def says(failure: Exception, *words: str) -> None:
    assert [word for word in words if word not in str(failure)] == []


async def cancelled(work: Coroutine[Any, Any, Any], steps: int, *, again: int = 0) -> bool:
    """Cancel a call after so many steps of the loop, and again so many later. Return whether it was going."""
    task = asyncio.create_task(work)
    for _ in range(steps):
        await asyncio.sleep(0)
    ended = task.done()
    for _ in range(1 + again):
        task.cancel()
        await asyncio.sleep(0)
    await asyncio.wait([task])
    assert ended or task.cancelled()
    return not ended


def every_step(scenario: Callable[[int], Coroutine[Any, Any, bool]]) -> None:
    """Play a scenario in which a call is cancelled after 0, 1, ... steps, until it is over by then."""
    for steps in count():
        going: list[bool] = []

        async def once(steps: int = steps, going: list[bool] = going) -> None:
            going.append(await scenario(steps))

        play(once())
        if not going[0]:
            break
    assert steps > 1


class Disk(Machine):
    """A simulated disk. ``cut``: what was there when an operation failed."""

    def __init__(self, faults: Faults | None = None, system: FileSystem | None = None) -> None:
        super().__init__(system or FileSystem(_WORLD, "disk"), faults or Faults())
        self.cut: FileSystem | None = None
        self.files = SystemFiles(self)
        self.root = self.path("/data/store")

    def strikes(self, verb: str, path: Path) -> str | None:
        try:
            return super().strikes(verb, path)
        finally:
            if self.faults.happened and self.cut is None:
                self.cut = deepcopy(self.system)

    def after_power(self, *, now: bool = False) -> Iterator[Disk]:
        """All that a power failure may leave if it comes instead of the operation that has failed, or now."""
        self.cut = deepcopy(self.system) if now else self.cut
        assert self.cut is not None
        for number in range(len(self.cut.left())):
            system = deepcopy(self.cut)
            for _, fails in system.crash_outcomes()[number : number + 1]:
                fails()
            yield Disk(system=system)


class Connector:
    """Opens connections to a real SQLite file; a statement may fail, be done and fail, or find damage.

    Attributes:
        open: connections that are not closed.
        options: of the last connection.
        meanwhile: called before the first transaction begins.
    """

    def __init__(self, faults: Faults | None = None) -> None:
        self.faults = faults or Faults()
        self.open: set[_Connection] = set()
        self.options: dict[str, Any] = {}
        self.meanwhile: Callable[[], None] | None = None

    def __call__(self, file: Path, **options: Any) -> sqlite3.Connection:
        self.strike(FAIL)
        self.options = options
        made = sqlite3.connect(file, factory=_Connection, **options)
        made.connector = self
        self.open.add(made)
        return made

    def database(self, file: Path) -> SqliteDatabase:
        return SqliteDatabase(file, connect=self)

    def strike(self, *kinds: str) -> bool:
        """Raise the error of the fault. True: after the statement."""
        match self.faults.strikes(*kinds):
            case "fail":
                raise sqlite3.OperationalError("disk I/O error")
            case "damage":
                raise sqlite3.DatabaseError("disk image is malformed")
            case found:
                return found == LOSE


_SETTINGS = ("synchronous", "foreign_keys")


class _Connection(sqlite3.Connection):
    connector: Connector

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:
        if statement == "BEGIN IMMEDIATE" and self.connector.meanwhile is not None:
            self.connector.meanwhile()
            self.connector.meanwhile = None
        late = self.connector.strike(FAIL, DAMAGE, *([LOSE] if statement == "COMMIT" else []))
        if statement == "COMMIT":
            settings = [super(_Connection, self).execute(f"PRAGMA {name}").fetchall() for name in _SETTINGS]
            assert settings == [[(2,)], [(1,)]], "a connection without its settings commits"
        found = super().execute(statement, *values)
        if late:
            raise sqlite3.OperationalError("disk I/O error")
        return found

    def close(self) -> None:
        self.connector.open.discard(self)
        super().close()
