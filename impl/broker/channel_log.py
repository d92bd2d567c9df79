"""The log of one physical channel: a file of lines, each with the entries that were appended together.

One task writes. Appends that arrive while a line is being forced to the disk go into the next line, so that
they share the cost of forcing. A line is whole or does not count, so entries never come apart.

A writer is a source: a proxy's session, or one incarnation of the root coordinator, whose number is negative.
A fenced source appends no more; of coordinators the log takes the newest only.
"""

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tidemark.impl.errors import CorruptDataError, RpcError
from tidemark.impl.storage.file_log import FileLogWriter, checked, log_file, read_lines
from tidemark.impl.storage.files import SYSTEM_FILES, Files
from tidemark.impl.timestamp import ZERO, Timestamp
from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import Entry, LogMessage, Tick, decode, encode


@dataclass(eq=False)
class Append:
    """An entry on its way into the log. ``done`` has its place, or the reason of its refusal."""

    source: int
    message: LogMessage
    done: asyncio.Future[int] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class ChannelLog:
    """One physical channel. ``load`` it, let ``run`` write, append and read.

    entries: what is durable, in memory too. last_tick: the greatest tick among them. coordinator: the newest
    source among the incarnations of the root coordinator.
    waiting: appends in no line. writing: those of the line that is being written. given_up: messages, by
    source and timestamp, that will not be appended any more.
    """

    def __init__(self, root: Path, channel: ChannelName, *, files: Files = SYSTEM_FILES) -> None:
        self.channel = channel
        self.entries: list[Entry] = []
        self.last_tick: Timestamp = ZERO
        self.coordinator = 0
        self._file = log_file(root, channel)
        self._files = files
        self._writer = FileLogWriter(root, channel, files=files)
        self.waiting: list[Append] = []
        self.writing: Sequence[Append] = ()
        self._arrived = asyncio.Event()
        self._grown = asyncio.Event()
        self._turn = asyncio.Lock()
        self._fenced: set[int] = set()
        self.given_up: set[tuple[int, Timestamp]] = set()

    async def load(self) -> None:
        """Load the file. To be called once, before anything else."""
        for line in await read_lines(self._files, self._file, 0):
            self._add(entries_of(line, where=self._file))

    async def run(self) -> None:
        """Write arriving appends, until cancelled or until the disk fails with a StoreError."""
        while True:
            while not self.waiting:
                self._arrived.clear()
                await self._arrived.wait()
            async with self._turn:
                self.writing = self._take()
                await self._write(self.writing)
                self.writing = ()

    async def append(self, source: int, message: LogMessage) -> int:
        """The place of the message, once it is durable. Raise RpcError if the log refuses it for good.

        A cancelled caller does not know the outcome: see ``settle``.
        """
        append = Append(source, message)
        self._refuse(append)
        self.waiting.append(append)
        self._arrived.set()
        return await append.done

    async def settle(self, source: int, ts: Timestamp) -> bool:
        """Whether the source's message of this timestamp is in the log. If not, it never will be."""
        self.given_up.add((source, ts))
        await self._end_of_turn()
        return any(entry.source == source and entry.message.ts == ts for entry in reversed(self.entries))

    async def fence(self, source: int) -> None:
        """Refuse the source. Returns when none of its entries can come into the log any more."""
        self._fenced.add(source)
        await self._end_of_turn()

    async def follow(self, coordinator: int) -> None:
        """Refuse every coordinator but this newest one, in the same way."""
        self.coordinator = min(self.coordinator, coordinator)
        await self._end_of_turn()

    async def read(self, place: int) -> Sequence[Entry]:
        """See EntryLog."""
        while len(self.entries) < place:
            await self._grown.wait()
        return self.entries[place - 1 :]

    async def _end_of_turn(self) -> None:
        """The line being written is in the log; waiting appends are checked again before they are written."""
        async with self._turn:
            pass

    def _refuse(self, append: Append) -> None:
        source, ts = append.source, append.message.ts
        if source in self._fenced or (source < 0 and source != self.coordinator):
            raise RpcError(f"{self.channel} refuses source {source}: its session has ended; register again")
        if (source, ts) in self.given_up:
            raise RpcError(f"{self.channel} refuses message {ts} of source {source}: it was given up")

    def _take(self) -> list[Append]:
        waiting, self.waiting = self.waiting, []
        taken = []
        for append in waiting:
            try:
                self._refuse(append)
            except RpcError as refused:
                if not append.done.done():
                    append.done.set_exception(refused)
            else:
                taken.append(append)
        return taken

    async def _write(self, taken: Sequence[Append]) -> None:
        if not taken:
            return
        first = len(self.entries) + 1
        entries = [Entry(first + n, append.source, append.message) for n, append in enumerate(taken)]
        await self._writer.append_line(_line(entries))
        self._add(entries)
        for append, entry in zip(taken, entries, strict=True):
            if not append.done.done():
                append.done.set_result(entry.place)

    def _add(self, entries: Sequence[Entry]) -> None:
        for entry in entries:
            if entry.place != len(self.entries) + 1:
                raise CorruptDataError(
                    f"log {self._file} has place {entry.place} after {len(self.entries)}; restore it"
                )
            self.entries.append(entry)
            self.coordinator = min(self.coordinator, entry.source)
            if isinstance(entry.message, Tick):
                self.last_tick = max(self.last_tick, entry.message.ts)
        self._grown.set()
        self._grown = asyncio.Event()


def _line(entries: Sequence[Entry]) -> bytes:
    document = [[entry.place, entry.source, encode(entry.message)] for entry in entries]
    return checked(json.dumps(document, separators=(",", ":")).encode())


def entries_of(line: bytes, *, where: Path) -> list[Entry]:
    """The entries of a line. Raises CorruptDataError, which names the file."""
    try:
        document = json.loads(line.partition(b" ")[2])
        return [Entry(place, source, decode(message)) for place, source, message in document]
    except (ValueError, TypeError, CorruptDataError) as damage:
        raise CorruptDataError(f"log {where} has a damaged line {line[:80]!r}: {damage!r}") from damage


async def read_entries(root: Path, channel: ChannelName, *, files: Files = SYSTEM_FILES) -> Iterator[Entry]:
    """All entries of a channel whose log is not open."""
    file = log_file(root, channel)
    lines = await read_lines(files, file, 0)
    return (entry for line in lines for entry in entries_of(line, where=file))
