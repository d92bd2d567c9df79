"""The flusher of a term by itself: log, assembly, object storage and recovery storage answer as scripts say.

What it reads, stores and reports, and in which order, follows from the records and from the answers.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable, Sequence
from types import SimpleNamespace
from typing import Any, cast

from tidemark.impl.errors import StoreError
from tidemark.impl.streaming.assembly import Complete
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.flusher import Flusher
from tidemark.impl.streaming.values import Record
from tidemark.impl.types import Row
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, Tick
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

READ = "the_log_is_read_from_the_start_on"
"""Claim id: every record behind the start is read once, in order, and the recovery storage is told of its
data and of the first transaction that is not over."""
STORED = "what_is_read_is_stored_in_order"
"""Claim id: data that is not stored yet is put, the first place first, again after a pause when that fails,
and then the checkpoint moves to where a flusher that begins anew may begin."""
SAVED = "the_records_are_saved_from_time_to_time"
"""Claim id: the node's records are saved after each period, and after a pause when that fails."""
_CLAIMS = {"reads": READ, "stores": STORED, "records": SAVED}
_MORE = 3
"""A loop that does so much more than it has to goes on for ever."""
_PERIOD, _PAUSE = 1.0, 0.1
_FOR_EVER = "for ever"

SCRIPTS: tuple[Script, ...] = (
    # Records as (place, begin, data, first open begin): rows, deletes below 0, 0 for a tick.
    {
        "calls": [
            ("append", (1, 1, (5,), None)),
            ("append", (2, 2, (0,), None), (3, 3, (-7, 0, 6), None)),
            ("time", _PERIOD),
            ("append", (4, 4, (), 4)),
            ("append", (5, 5, (0,), 4), (6, 4, (8, 9), None)),
            ("time", _PERIOD),
        ]
    },
    # What was stored before.
    {
        "start": 3,
        "stored": (5, 6),
        "calls": [
            ("append", (4, 4, (1,), None), (5, 5, (2,), None), (6, 6, (3,), None), (7, 7, (4,), None)),
            ("append", (8, 8, (0,), None)),
        ],
    },
    # A transaction that is not over, and one that ends behind a later record.
    {
        "calls": [
            ("append", (1, 1, (), 1)),
            ("append", (2, 2, (5,), 1)),
            ("append", (3, 3, (0,), 1)),
            ("append", (4, 1, (6,), 1)),
            ("append", (5, 5, (0,), None)),
        ]
    },
    # Puts that are under way, and fail.
    {
        "calls": [
            ("append", (1, 1, (5,), None)),
            ("hold", "put"),
            ("append", (2, 2, (6,), None), (4, 3, (7,), None)),
            ("append", (5, 5, (8,), None)),
            ("go",),
            ("append", (6, 6, (9,), None)),
        ]
    },
    {
        "calls": [
            ("fail", "put"),
            ("append", (1, 1, (5,), None), (2, 2, (6,), None)),
            ("append", (3, 3, (7,), None)),
            ("time", _PAUSE),
            ("fail", "put"),
            ("append", (4, 4, (8,), None)),
            ("fail", "put"),
            ("time", _PAUSE),
            ("time", _PAUSE),
        ]
    },
    {
        "calls": [
            ("fail", "move"),
            ("append", (1, 1, (5,), None)),
            ("time", _PAUSE),
            ("append", (2, 2, (0,), None)),
        ]
    },
    # Saves of the records that fail.
    {
        "calls": [
            ("time", _PERIOD),
            ("fail", "persist"),
            ("time", _PERIOD),
            ("fail", "persist"),
            ("time", _PAUSE),
            ("time", _PAUSE),
            ("append", (1, 1, (5,), None)),
            ("time", _PERIOD),
        ]
    },
    # A fault is no failure of a store.
    {"calls": [("append", (1, 1, (5,), None)), ("break", "put"), ("append", (2, 2, (5,), None))]},
)


class Reckoning:
    """What the three loops have to do, call by call. ``waits``: what the loop of the stores waits for."""

    def __init__(self, start: int, stored: Sequence[int]) -> None:
        self.reads: list[Hashable] = [("read", start + 1)]
        self.stores: list[Hashable] = []
        self.records: list[Hashable] = [("sleep", _PERIOD)]
        self.fails: list[str] = []
        self.held = ""
        self.broken = False
        self._stored = stored
        self._buffered: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._reading = start
        self._earliest: int | None = None
        self._arrived = False
        self._waits = ""
        self._pauses = False

    def append(self, *records: tuple[int, int, tuple[int, ...], int | None]) -> None:
        """Records come."""
        for place, begun, values, earliest in records:
            data = tuple(value for value in values if value)
            self._reading, self._earliest = place, earliest
            if data and place not in self._stored:
                self._buffered[place] = (begun, data)
            self.reads.append(("observe", place, data, earliest))
        self.reads.append(("read", self._reading + 1))
        self._arrived = True
        if not self._waits:
            self._store()

    def go(self) -> None:
        """The put that was held has ended."""
        self.held = ""
        if self._waits == "put":
            del self._buffered[min(self._buffered)]
            self._store_all()
            self._store()

    def time(self, seconds: float) -> None:
        """A time has passed: whoever has waited for so long goes on."""
        if seconds == _PAUSE and self._waits == "pause":
            self._store_all()
            self._store()
        if seconds == (_PAUSE if self._pauses else _PERIOD):
            self.records.append("persist")
            self._pauses = self._fail("persist")
            self.records.append(("sleep", _PAUSE if self._pauses else _PERIOD))

    @property
    def ended(self) -> bool:
        """Whether the loop of the stores has ended with the fault."""
        return self._waits == _FOR_EVER

    def _store(self) -> None:
        while self._arrived and not self._waits:
            self._arrived = False
            self._store_all()

    def _store_all(self) -> None:
        self._waits = ""
        while self._buffered:
            place = min(self._buffered)
            self.stores.append(("put", place, self._buffered[place][1]))
            if self.broken:
                self._waits = _FOR_EVER
                return
            if self.held == "put":
                self._waits = "put"
                return
            if self._failed("put"):
                return
            del self._buffered[place]
        begins = [begun for begun, _ in self._buffered.values()]
        first = [self._reading + 1, *begins, *([] if self._earliest is None else [self._earliest])]
        self.stores.append(("move", min(first) - 1))
        self._failed("move")

    def _failed(self, what: str) -> bool:
        if not self._fail(what):
            return False
        self.stores.append(("sleep", _PAUSE))
        self._waits = "pause"
        return True

    def _fail(self, what: str) -> bool:
        if what in self.fails:
            self.fails.remove(what)
            return True
        return False


class FlushesProgram(ComparedProgram):
    """One flusher, and all around it."""

    async def live(self, process: Process) -> None:
        """Make the flusher, and let happen what the script says."""
        self._ended = False
        self._traces: dict[str, list[Hashable]] = {"reads": [], "stores": [], "records": []}
        self._fails: list[str] = []
        self._held, self._broken = "", False
        self._gate, self._arrived = asyncio.Event(), asyncio.Event()
        self._log: list[Any] = []
        self._sleeps: list[tuple[float, asyncio.Event]] = []
        self._given: dict[int, tuple[int, tuple[Any, ...], int | None]] = {}
        self._earliest: int | None = None
        start = self.script.get("start", 0)
        stored = self.script.get("stored", ())
        self._right = Reckoning(start, stored)
        edges = cast("Any", self)
        recovery = cast("Any", SimpleNamespace(start=lambda: start, observe=self._observe,
                                               move_flusher=self._move, persist=self._persist))  # fmt: skip
        assembly = cast("Any", SimpleNamespace(take=self._take, earliest=lambda: self._earliest))
        self._real = Flusher(
            log=edges, store=edges, recovery=recovery, stored=stored, clock=self, assembly=assembly,
            config=StreamingConfig(persist_seconds=_PERIOD, retry_seconds=_PAUSE),
        )  # fmt: skip
        self.begun = True
        loop = asyncio.get_running_loop()
        works: dict[str, Callable[[], Coroutine[Any, Any, None]]] = {
            "reads": self._real.run_reads, "stores": self._real.run_stores, "records": self._real.run_records,
        }  # fmt: skip
        self._tasks = {name: loop.create_task(work(), name=name) for name, work in works.items()}
        await process.point("a little later")
        for call in self.script["calls"]:
            await self._happen(call)
            await process.point("a little later")
            self._look(call)
            await self.halt_if_wrong()
        self._ended = True

    async def _happen(self, call: tuple[Any, ...]) -> None:
        match call:
            case ("append", *records):
                for place, begun, values, earliest in records:
                    self._given[place] = (begun, tuple(_message(place, value) for value in values), earliest)
                    self._log.append(SimpleNamespace(place=place))
                self._right.append(*records)
                self._arrived.set()
            case ("fail", what):
                self._fails.append(what)
                self._right.fails.append(what)
            case ("hold", what):
                self._held = self._right.held = what
            case ("break", _):
                self._broken = self._right.broken = True
            case ("go",):
                self._held = ""
                self._right.go()
                self._gate.set()
            case ("time", seconds):
                self._right.time(seconds)
                for slept, event in self._sleeps:
                    if slept == seconds:
                        event.set()
                self._sleeps = [one for one in self._sleeps if one[0] != seconds]

    # The edges.

    def _note(self, what: Hashable) -> None:
        task = asyncio.current_task()
        name = "" if task is None else task.get_name()
        self._traces[name].append(what)
        if len(self._traces[name]) > len(self._due()[name]) + _MORE:
            self._problem = f"{_CLAIMS[name]}: {self._traces[name]}, and not {self._due()[name]}"

    async def read(self, place: int) -> Sequence[Record]:
        """See TermLog."""
        self._note(("read", place))
        await self.halt_if_wrong()
        while not (found := [record for record in self._log if record.place >= place]):
            self._arrived.clear()
            await self._arrived.wait()
        return found

    def _take(self, record: Record) -> Complete:
        begun, messages, self._earliest = self._given[record.place]
        return Complete(begun, messages)

    def _observe(self, place: int, messages: Sequence[Any], earliest: int | None) -> None:
        self._note(("observe", place, tuple(map(_value, messages)), earliest))

    async def put(self, place: int, messages: Sequence[Any]) -> None:
        """See MessageStore."""
        self._note(("put", place, tuple(map(_value, messages))))
        await self.halt_if_wrong()
        if self._broken:
            raise RuntimeError("a part of it is broken")
        if self._held == "put":
            await self._gate.wait()
        self._fail("put")

    async def _move(self, upto: int) -> None:
        self._note(("move", upto))
        await self.halt_if_wrong()
        self._fail("move")

    async def _persist(self) -> None:
        self._note("persist")
        await self.halt_if_wrong()
        self._fail("persist")

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        self._note(("sleep", seconds))
        self._sleeps.append((seconds, event := asyncio.Event()))
        await event.wait()

    def _fail(self, what: str) -> None:
        if what in self._fails:
            self._fails.remove(what)
            raise StoreError("no answer")

    # What is looked at.

    def _due(self) -> dict[str, list[Hashable]]:
        """What each loop has to have done."""
        return {"reads": self._right.reads, "stores": self._right.stores, "records": self._right.records}

    def _look(self, call: tuple[Any, ...]) -> None:
        for name, due in self._due().items():
            if self._traces[name] != due and self._problem is None:
                self._problem = f"{_CLAIMS[name]}: after {call}: {self._traces[name]}, and not {due}"
        ended = [name for name, task in self._tasks.items() if task.done() and task.exception()]
        if ended != (["stores"] if self._right.ended else []) and self._problem is None:
            self._problem = f"{STORED}: after {call} the loops {ended} have ended"

    def look(self) -> Hashable:
        """What was done."""
        return tuple((name, tuple(trace)) for name, trace in self._traces.items())

    def wrong_at_the_end(self) -> str | None:
        """All of the script has happened."""
        return None if self._ended else f"{STORED}: the script does not come to its end"


def _message(place: int, value: int) -> Any:
    """A row, a delete for a value below 0, or a tick."""
    if value == 0:
        return Tick(place)
    if value < 0:
        return DeleteMessage(place, "c", 9, (value,))
    return InsertMessage(place, "c", (Row(place, 7, value),))


def _value(message: Any) -> int:
    """The row or the delete that a message has; 0 for anything else."""
    if isinstance(message, DeleteMessage):
        return message.keys[0]
    return message.rows[0].key if isinstance(message, InsertMessage) else 0


def flushes() -> FlushesProgram:
    """Return the program of all scripts."""
    return FlushesProgram(SCRIPTS, timers=0)
