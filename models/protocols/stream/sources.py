"""The logs as proxies and coordinators see them, and as the next process finds them: one story, step by step.

The disk answers when the story says so, and each answer is compared with what the calls before make it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

from tidemark.impl.broker.broker import Broker, CoordinatorStreams, ProxyStreams
from tidemark.impl.broker.channel_log import entries_of, read_entries
from tidemark.impl.broker.reader import FileEntryLog
from tidemark.impl.errors import CorruptDataError, RpcError, UnknownChannelError
from tidemark.impl.proxy.values import AppendOutcome, Message
from tidemark.impl.runtime import Work
from tidemark.impl.storage.file_log import checked, log_file, whole_lines
from tidemark.impl.values.messages import DdlMessage, Entry, InsertMessage, LogMessage, Tick, encode_text
from tidemark.models.protocols.common.memory_files import MemoryFiles
from tidemark.models.protocols.common.scripted import Script, ScriptedProgram
from tidemark.models.simulation.world.process import Process

ANSWERED = "each_source_hears_what_became_of_its_messages"
"""Claim id: an append is there, is refused, or is late and can be settled; a new coordinator hears of every
tick before it; nothing of an earlier one comes after that."""
FOUND = "a_log_that_is_opened_again_is_what_it_was"
"""Claim id: the next process finds each entry at its place, the greatest tick and the newest coordinator, and
refuses a file that is damaged."""

_ROOT = Path("log")
_OFTEN = 200
_A, _B = "dml_0", "dml_1"
SCRIPTS: tuple[Script, ...] = (
    {"story": "proxy"},
    {"story": "turns"},
    {"story": "fence"},
    {"story": "damage"},
)
_WRONG_PLACE = b'[[2,1,["tick",9]]]'
_DAMAGED = (b"{", b"[1]", _WRONG_PLACE, b'[[1,1,["tick"]]]')
"""No JSON, no entries, a place that is not the next one, no message."""


class _Files(MemoryFiles):
    """Files that are forced at once, or when ``opened`` is set."""

    def __init__(self, process: Process) -> None:
        super().__init__(process)
        self.opened = asyncio.Event()
        self.opened.set()

    async def sync(self, path: Path) -> None:
        """See Files."""
        await self.opened.wait()
        self.forced[path] = self.content.get(path, b"")


class _Looked(list[Entry]):
    """Entries of a log. Who reads waits when there is nothing to read: it does not look again and again."""

    def __init__(self, entries: Iterable[Entry], tell: Callable[[str], None]) -> None:
        super().__init__(entries)
        self._tell = tell
        self._looks = 0

    def append(self, entry: Entry) -> None:
        """See list."""
        self._looks = 0
        super().append(entry)

    def __len__(self) -> int:
        self._looks += 1
        if self._looks > _OFTEN:
            self._tell(f"a log without anything new was looked at {_OFTEN} times")
            raise AssertionError("it is looked at again and again")
        return super().__len__()


class _Still:
    """No pause ends."""

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        del seconds
        await asyncio.get_running_loop().create_future()


class Sources(ScriptedProgram):
    """One process with the logs of two channels."""

    claims = (ANSWERED, FOUND)

    def __init__(self) -> None:
        super().__init__(SCRIPTS, timers=1)
        self._wrong: str | None = None
        self._at = "nothing"
        self._over = False

    async def live(self, process: Process) -> None:
        """Tell the story."""
        self.process = process
        self.files = _Files(process)
        self.broker = await self._open()
        self.begun = True
        await process.point("story")
        await getattr(self, f"_{self.script['story']}")()
        again = await self._open()
        for channel, log in self.broker.logs.items():
            kept = again.log(channel)
            await self.expect(FOUND, f"the entries of {channel}", kept.entries, log.entries)
            closed = await read_entries(_ROOT, channel, files=self.files)
            await self.expect(FOUND, f"all of {channel}", list(closed), log.entries)
            held = self.files.content.get(log_file(_ROOT, channel), b"")
            lines = [entries_of(line, where=Path(channel)) for line in whole_lines(held, where=Path(channel))]
            await self.expect(FOUND, f"lines of {channel} without an entry", lines.count([]), 0)
            ticks = [one.message.ts for one in log.entries if isinstance(one.message, Tick)]
            await self.expect(FOUND, f"the tick of {channel}", kept.last_tick, max(ticks, default=0))
        lowest = min([0, *(one.source for log in again.logs.values() for one in log.entries)])
        await self.expect(FOUND, "the next coordinator", CoordinatorStreams(again).source, lowest - 1)
        self._over = True

    async def _open(self) -> Broker:
        def spawn(work: Work, name: str) -> None:
            self.process.spawn(work(), name)

        made = Broker(_ROOT, (_A, _B), files=self.files)
        await made.start(spawn)
        for log in made.logs.values():
            log.entries = _Looked(log.entries, self._object)
        return made

    def _object(self, words: str) -> None:
        self._wrong = self._wrong or f"{ANSWERED}: {words}"

    # The stories.

    async def _proxy(self) -> None:
        proxy = ProxyStreams(self.broker, 7)
        await self.hears("an append", proxy.append(_message(10), deadline=5.0), None)
        await self.holds((7, _insert(10)))
        await self.hears("a settlement", proxy.settle(_message(10)), AppendOutcome.APPENDED)
        await self.hears("one of nothing", proxy.settle(_message(11)), AppendOutcome.REFUSED)
        await self.hears("what was given up", proxy.append(_message(11), deadline=5.0), "RpcError")
        nowhere = Message("nowhere", 12, encode_text(_insert(12)))
        await self.hears("no channel", proxy.append(nowhere, deadline=5.0), "UnknownChannelError")
        self.files.opened.clear()
        await self.hears("a slow disk", proxy.append(_message(13), deadline=1.0), "RpcTimeoutError")
        self.files.opened.set()
        await self.hears("what was late", proxy.settle(_message(13)), AppendOutcome.APPENDED)
        await self.holds((7, _insert(10)), (7, _insert(13)))
        other = ProxyStreams(self.broker, 8)
        await self.hears("another source", other.settle(_message(13)), AppendOutcome.REFUSED)

    async def _turns(self) -> None:
        first = CoordinatorStreams(self.broker)
        await self.hears("a tick of who is not followed", first.send_tick(_A, 20), "RpcError")
        await self.hears("no tick", first.last_tick(_A), 0)
        for ts in (20, 15):
            await self.hears(f"tick {ts}", first.send_tick(_A, ts), None)
        await self.hears("the last tick", first.last_tick(_A), 20)
        drop = DdlMessage(21, f"{_A}_7v1", "drop")
        await self.hears("a drop", first.append(drop), None)
        second = CoordinatorStreams(self.broker)
        await self.expect(ANSWERED, "the second coordinator", second.source, first.source - 1)
        self.files.opened.clear()
        tick = await self.later(first.send_tick(_A, 25))
        late = await self.later(first.append(DdlMessage(26, f"{_A}_7v1", "drop")))
        asked = await self.later(second.last_tick(_A))
        self.files.opened.set()
        await self.hears("a tick that is on its way", tick, None)
        await self.hears("the tick before the turn", asked, 25)
        await self.hears("what comes after the turn", late, "RpcError")
        await self.hears("a tick of the first", first.send_tick(_A, 30), "RpcError")
        await self.hears("a tick of the second", second.send_tick(_A, 30), None)
        ours = [(first.source, one) for one in (Tick(20), Tick(15), drop, Tick(25))]
        await self.holds(*ours, (second.source, Tick(30)))

    async def _fence(self) -> None:
        log = self.broker.log(_A)
        reading = await self.later(self.broker.read(_A, 2))
        self.files.opened.clear()
        writing = await self.later(log.append(1, _insert(30)))
        waiting = [await self.later(log.append(source, _insert(ts))) for source, ts in _WAITING]
        fencing = await self.later(self.broker.fence(2))
        for place in (0, 2):
            waiting[place].cancel()
        await self.process.point("cancelled")
        await self.expect(ANSWERED, "a fence over a line", fencing.done(), wanted=False)
        await self.expect(ANSWERED, "a reader of place 2", reading.done(), wanted=False)
        self.files.opened.set()
        await self.hears("the line", writing, 1)
        await self.hears("who was fenced", waiting[1], "RpcError")
        await self.hears("who was not", waiting[3], 3)
        await self.hears("the fence", fencing, None)
        await self.holds((1, _insert(30)), (1, _insert(33)), (1, _insert(34)))
        await self.hears("the reader", reading, log.entries[1:])
        await self.hears("an append of the fenced", log.append(2, _insert(40)), "RpcError")

    async def _damage(self) -> None:
        file = log_file(_ROOT, _B)
        for text in _DAMAGED:
            await self.files.write(file, checked(text) + b"\n")
            await self.hears(f"a log with {text!r}", self._open(), "CorruptDataError")
            reader = FileEntryLog(_ROOT, clock=_Still(), files=self.files)
            for _ in range(2 if text != _WRONG_PLACE else 0):
                await self.hears(f"a reader of {text!r}", reader.read(_B, 1), "CorruptDataError")
        await self.files.write(file, b"")

    # What was to be.

    async def later(self, work: Any) -> asyncio.Task[Any]:
        """Begin something, and let it come as far as it does."""
        task = asyncio.create_task(work)
        await self.process.point("begun")
        return task

    async def hears(self, what: str, work: Awaitable[Any], wanted: object) -> None:
        """Compare an answer, or the class of an error."""
        self._at = what
        try:
            found = await work
        except (RpcError, UnknownChannelError, CorruptDataError, TimeoutError) as failure:
            found = type(failure).__name__
        claim = FOUND if wanted == "CorruptDataError" else ANSWERED
        await self.expect(claim, what, found, wanted)

    async def holds(self, *wanted: tuple[int, LogMessage]) -> None:
        """Compare sources and messages of the log."""
        found = tuple((one.source, one.message) for one in self.broker.log(_A).entries)
        await self.expect(ANSWERED, f"the log after {self._at}", found, wanted)

    async def expect(self, claim: str, what: str, found: Any, wanted: Any) -> None:
        """Go no further if something is not what it has to be."""
        self._at = what
        if found != wanted and self._wrong is None:
            self._wrong = f"{claim}: {what} is {found!r}, and not {wanted!r}"
        await self.halt_if_wrong()

    # What is looked at.

    def look(self) -> Hashable:
        """Return how far the story has come."""
        return self._at, self._wrong, self._over

    def wrong(self) -> str | None:
        """Return what was seen to be wrong."""
        return self._wrong

    def wrong_after_a_step(self) -> str | None:
        """Return what was seen to be wrong."""
        return self._wrong

    def wrong_at_the_end(self) -> str | None:
        """The story was told to its end."""
        return None if self._over else f"{ANSWERED}: nothing comes after {self._at}"

    def check_final(self) -> str | None:
        """The same: the one timer belongs to the story."""
        return self._wrong or self.wrong_at_the_end()


_WAITING = ((2, 31), (2, 32), (1, 33), (1, 34))
"""What waits for the next line: source, timestamp."""


def _insert(ts: int) -> InsertMessage:
    return InsertMessage(ts, f"{_A}_7v1", ())


def _message(ts: int) -> Message:
    return Message(_A, ts, encode_text(_insert(ts)))


def sources() -> Sources:
    """Return the program of all stories."""
    return Sources()
