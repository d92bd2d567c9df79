"""The log of packs: one file a channel, one line of JSON a pack. A writer appends, readers follow.

A line begins with the checksum of the rest. Each append is forced to the disk before the next begins, so that
a crash damages the last line only: readers ignore it, and the next writer cuts it off.
"""

import asyncio
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.storage.files import SYSTEM_FILES, Files, make_directories
from tidemark.impl.types import ChannelName, EndPosition, Pack, Row, StartPosition


def log_file(root: Path, channel: ChannelName) -> Path:
    """The file of a channel's log."""
    return root / f"{channel}.jsonl"


class FileLogWriter:
    """Appends packs to one channel's log, in the order of the calls. There is one writer at a time.

    Args:
        root: the directory of the logs.
        channel: whose log it is.
        files: the file system that it is in.
    """

    def __init__(self, root: Path, channel: ChannelName, *, files: Files = SYSTEM_FILES) -> None:
        self._file = log_file(root, channel)
        self._files = files
        self._lock = asyncio.Lock()
        self._whole = False
        """No unfinished append is in the file. If false, the file has to be checked."""

    async def append(self, pack: Pack) -> None:
        """Write the pack durably. Raise StoreError on failure: the pack may be there or not."""
        await self.append_line(encode(pack))

    async def append_line(self, text: bytes) -> None:
        """The same for a line of ``checked``."""
        line = text + b"\n"
        async with self._lock:
            try:
                if not self._whole:
                    await self._mend()
                self._whole = False
                await self._files.append(self._file, line)
                await self._files.sync(self._file)
            except OSError as failure:
                raise StoreError(f"cannot append to {self._file}: {failure}; check the disk") from failure
            self._whole = True

    async def _mend(self) -> None:
        """Make the file if there is none. Cut off an unfinished append."""
        await make_directories(self._files, self._file.parent, root=self._file.parent)
        if not await self._files.exists(self._file):
            await self._files.write(self._file, b"")
        await self._files.sync_directory(self._file.parent)
        found = await self._files.read(self._file)
        end = sum(len(line) + 1 for line in whole_lines(found, where=self._file))
        if end < len(found):
            await self._files.truncate(self._file, end)


async def read_lines(files: Files, file: Path, offset: int) -> list[bytes]:
    """The whole lines beyond an offset; none while there is no file. They are durable. Raise StoreError on
    failure.

    Their writer may not have forced them yet: a pack that was read must not vanish.
    """
    try:
        lines = list(whole_lines(await files.read(file, offset=offset), where=file))
        if lines:
            await files.sync(file)
            await files.sync_directory(file.parent)
    except FileNotFoundError:
        return []
    except OSError as failure:
        raise StoreError(f"cannot read {file}: {failure}; check the disk") from failure
    return lines


async def read_log(root: Path, channel: ChannelName, *, files: Files = SYSTEM_FILES) -> tuple[Pack, ...]:
    """All packs of a channel."""
    file = log_file(root, channel)
    return tuple(decode(line, where=file) for line in await read_lines(files, file, 0))


def whole_lines(found: bytes, *, where: Path) -> Iterator[bytes]:
    """The lines without their ends, up to the first incomplete one. Raises CorruptDataError if another one
    follows: no unfinished append leaves such damage.
    """
    *ended, _ = found.split(b"\n")
    for place, line in enumerate(ended):
        if _is_whole(line):
            yield line
        elif any(_is_whole(later) for later in ended[place + 1 :]):
            raise CorruptDataError(f"log {where} has a damaged line {line[:80]!r}; restore it")
        else:
            return


def _is_whole(line: bytes) -> bool:
    checksum, _, text = line.partition(b" ")
    return checksum == _checksum(text)


def checked(text: bytes) -> bytes:
    """A text without line ends as a line of a log, without its end: the checksum stands before it."""
    return _checksum(text) + b" " + text


def _checksum(text: bytes) -> bytes:
    return b"%08x" % zlib.crc32(text)


def encode(pack: Pack) -> bytes:
    """One pack as a line, without its end."""
    rows = [[row.ts, row.segment_id, row.key, row.value] for row in pack.rows]
    document = {
        "start": pack.start.ts,
        "end": pack.end.ts,
        "rows": rows,
        "close": pack.close,
        "drop": pack.drop,
    }
    return checked(json.dumps(document, separators=(",", ":")).encode())


def decode(line: bytes, *, where: Path) -> Pack:
    """The pack of a line. Raises CorruptDataError, which names the file."""
    try:
        document = json.loads(line.partition(b" ")[2])
        return Pack(
            start=StartPosition(document["start"]),
            end=EndPosition(document["end"]),
            rows=tuple(Row(ts, segment, key, value) for ts, segment, key, value in document["rows"]),
            close=document["close"],
            drop=document["drop"],
        )
    except (ValueError, KeyError, TypeError) as damage:
        raise CorruptDataError(f"log {where} has a damaged line {line[:80]!r}: {damage!r}") from damage
