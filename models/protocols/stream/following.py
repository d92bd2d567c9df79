"""The broker's logs and who follows their files: ``Broker`` and ``FileEntryLog`` in every order.

The reader is another process: it sees what is written before it is forced to the disk. What it hands over has
to outlive a power failure, is what was appended, and is asked for after a pause only. A fence is over when
each log refuses.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Hashable, Sequence
from pathlib import Path

from tidemark.impl.broker.broker import Broker
from tidemark.impl.broker.channel_log import entries_of
from tidemark.impl.broker.reader import FileEntryLog
from tidemark.impl.errors import RpcError, UnknownChannelError
from tidemark.impl.runtime import Work
from tidemark.impl.storage.file_log import log_file, whole_lines
from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import Entry, InsertMessage, Tick
from tidemark.models.protocols.common.memory_files import MemoryFiles
from tidemark.models.protocols.common.scripted import Script, ScriptedProgram
from tidemark.models.simulation.world.process import Process

DURABLE = "what_a_follower_gets_is_durable"
"""Claim id: whoever follows the file of a log gets no entry that is not forced to the disk."""
READ = "a_follower_gets_what_was_appended"
"""Claim id: a read answers with the entries from its place on, one at least, and all reads are answered; a
reader without anything new makes a pause of the given length."""
FENCED = "a_fence_is_over_when_every_log_refuses"
"""Claim id: after a fence no log takes anything of the source; a new coordinator is below
every earlier one."""

_ROOT = Path("log")
_POLL = 0.125
_MOST = 40
"""No script lets a reader look as often."""
SCRIPTS: tuple[Script, ...] = (
    {"channels": ["a"], "appends": [[("a", 1, 10), ("a", 1, 20)]], "reads": [[("a", 1), ("a", 2)]]},
    {
        "channels": ["a"],
        "appends": [[("a", 1, 10), ("a", 1, 20)]],
        "reads": [[("a", 2)], [("a", 1), ("a", 2)]],
    },
    {"channels": ["a", "b"], "appends": [[("b", 1, 10), ("a", 1, 20)]], "reads": [[("a", 1), ("b", 1)]]},
    {"channels": ["a", "b"], "appends": [[("a", 1, 10), ("b", 1, 20), ("b", 2, 30)]], "fences": [1]},
    {"channels": ["a", "b"], "appends": [[("a", -3, 10), ("b", -5, 20)]], "coordinators": True},
)
"""Appends (channel, source, timestamp) and reads (channel, place) of each list one after the other."""


class _Files(MemoryFiles):
    """Files that tell when something is new, and how often they are looked at."""

    def __init__(self, program: Following, process: Process) -> None:
        super().__init__(process)
        self._program = program
        self.lines = 0
        self.seen = 0
        self.grown = asyncio.Event()
        self.looks = 0

    async def read(self, path: Path, *, offset: int = 0) -> bytes:
        """See Files."""
        self.looks += 1
        if self.looks > _MOST:
            await self._program.note(READ, "a reader looks without an end")
        self.seen = self.lines
        return await super().read(path, offset=offset)

    async def append(self, path: Path, data: bytes) -> None:
        """See Files."""
        await super().append(path, data)
        self.lines += 1
        self.grown.set()
        self.grown = asyncio.Event()


class _Clock:
    """A pause lasts until there is something new."""

    def __init__(self, program: Following) -> None:
        self._program = program

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        files = self._program.files
        if seconds != _POLL:
            await self._program.note(READ, f"a pause of {seconds} s")
        if files.seen < 0:
            await self._program.note(READ, "a pause without a look before it")
        while files.seen == files.lines:
            await files.grown.wait()
        files.seen = -1


class Following(ScriptedProgram):
    """A broker, and readers of its files."""

    claims = (DURABLE, READ, FENCED)

    def __init__(self, scripts: Sequence[Script]) -> None:
        super().__init__(scripts, timers=1)
        self._wrong: str | None = None
        self.appended: defaultdict[ChannelName, list[tuple[int, int]]] = defaultdict(list)
        self.taken: set[tuple[ChannelName, int, int]] = set()
        self.got: list[tuple[ChannelName, int, int]] = []
        self.fenced: set[int] = set()
        self.missing = 0

    async def live(self, process: Process) -> None:
        """Open the logs, and let all of it happen."""
        self.process = process
        self.files = _Files(self, process)
        self.broker = Broker(_ROOT, self.script["channels"], files=self.files)
        self.begun = True

        def spawn(work: Work, name: str) -> None:
            process.spawn(work(), name)

        await self.broker.start(spawn)
        reader = FileEntryLog(_ROOT, clock=_Clock(self), poll_seconds=_POLL, files=self.files)
        for number, one in enumerate(self.script["appends"]):
            self.missing += 1
            process.spawn(self._appends(one), f"appends {number}")
        for number, one in enumerate(self.script.get("reads", ())):
            self.missing += 1
            process.spawn(self._reads(reader, one), f"reads {number}")
        for source in self.script.get("fences", ()):
            self.missing += 1
            process.spawn(self._fences(source), f"fences {source}")

    async def _appends(self, asked: Sequence[tuple[ChannelName, int, int]]) -> None:
        for channel, source, ts in asked:
            await self.process.point("append")
            log = self.broker.log(channel)
            if source < 0:
                await log.follow(source)
            fenced = source in self.fenced
            try:
                place = await log.append(
                    source, InsertMessage(ts, f"{channel}_1v0", ()) if source > 0 else Tick(ts)
                )
            except RpcError:
                if source not in self.script.get("fences", ()):
                    await self.note(FENCED, f"{channel} refuses {source}")
                continue
            if fenced:
                await self.note(FENCED, f"{channel} takes what the fenced {source} appends")
            self.taken.add((channel, place, ts))
        if "coordinators" in self.script:
            await self._begins_anew(min(source for _, source, _ in asked))
        self.missing -= 1

    async def _begins_anew(self, lowest: int) -> None:
        """Another process opens the files: its coordinator comes after every earlier one."""
        again = Broker(_ROOT, self.script["channels"], files=self.files)
        await again.start(lambda work, name: self.process.spawn(work(), f"again {name}"))
        for one in (self.broker, again):
            if one.next_coordinator() != lowest - 1:
                await self.note(FENCED, f"{one.next_coordinator()} is not the coordinator after {lowest}")
        for channel in again.logs:
            if await again.read(channel, 1) != await self.broker.read(channel, 1):
                await self.note(READ, f"{channel} is opened as something else")

    async def _fences(self, source: int) -> None:
        await self.process.point("fence")
        await self.broker.fence(source)
        self.fenced.add(source)
        present = self._present()
        await self.process.point("fenced")
        await self.process.point("later")
        if any(entry[1] == source for entry in self._present() - present):
            await self.note(FENCED, f"an entry of {source} came when it was fenced")
        try:
            self.broker.log("nowhere")
        except UnknownChannelError:
            self.missing -= 1

    def _present(self) -> set[tuple[ChannelName, int, int]]:
        return {
            (channel, entry.source, entry.place)
            for channel, log in self.broker.logs.items()
            for entry in log.entries
        }

    async def _reads(self, reader: FileEntryLog, asked: Sequence[tuple[ChannelName, int]]) -> None:
        for channel, place in asked:
            found = await reader.read(channel, place)
            held = _entries(self.files, channel, forced=False)[place - 1 :]
            if not found or list(found) != held[: len(found)]:
                await self.note(READ, f"place {place} of {channel} is {list(found)}, and not {held}")
            if place - 1 + len(found) > len(_entries(self.files, channel, forced=True)):
                await self.note(DURABLE, f"{len(found)} entries from {place} on of {channel} were read")
            self.got.append((channel, place, len(found)))
        self.missing -= 1

    async def note(self, claim: str, words: str) -> None:
        """Note what is wrong, and go no further."""
        self._wrong = self._wrong or f"{claim}: {words}"
        await self.halt_if_wrong()

    # What is looked at.

    def look(self) -> Hashable:
        """Return what was taken, read, and fenced."""
        return (
            tuple(sorted(self.taken)),
            tuple(self.got),
            tuple(sorted(self.fenced)),
            self.missing,
            self._wrong,
        )

    def wrong(self) -> str | None:
        """Return what was seen to be wrong."""
        return self._wrong

    def wrong_after_a_step(self) -> str | None:
        """Return what was seen to be wrong."""
        return self._wrong

    def wrong_at_the_end(self) -> str | None:
        """Everything is answered, and what was taken is there."""
        if self.missing:
            return f"{READ}: {self.missing} callers are not answered"
        for channel, place, ts in self.taken:
            there = _entries(self.files, channel, forced=True)
            if [entry.message.ts for entry in there if entry.place == place] != [ts]:
                return f"{READ}: {ts} is not at place {place} of {channel}"
        return None


def _entries(files: _Files, channel: ChannelName, *, forced: bool) -> list[Entry]:
    """What the file of a log holds, or what a power failure would leave of it."""
    file = log_file(_ROOT, channel)
    content = files.forced if forced else files.content
    lines = whole_lines(content.get(file, b""), where=file)
    return [entry for line in lines for entry in entries_of(line, where=file)]


def following() -> Following:
    """Return the program of all scripts."""
    return Following(SCRIPTS)
