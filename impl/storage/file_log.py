"""The log of packs: one file a channel, one line of JSON a pack. A writer appends, readers follow."""

from __future__ import annotations

import asyncio
import json
import os
from collections import deque
from pathlib import Path

from tidemark.impl.errors import CorruptDataError
from tidemark.impl.ports import Clock
from tidemark.impl.storage.parquet_store import force_directory
from tidemark.impl.types import ChannelName, EndPosition, Pack, Position, Row, StartPosition


def log_file(root: Path, channel: ChannelName) -> Path:
    """The file of a channel's log."""
    return root / f"{channel}.jsonl"


class FileLogWriter:
    """Appends packs to one channel's log. An append is durable when it returns."""

    def __init__(self, root: Path, channel: ChannelName) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self._out = log_file(root, channel).open("ab")
        force_directory(root)

    def append(self, pack: Pack) -> None:
        """Write the pack and force it to the disk."""
        self._out.write(encode(pack) + b"\n")
        self._out.flush()
        os.fsync(self._out.fileno())

    def close(self) -> None:
        """Close the file."""
        self._out.close()


class FileLogReader:
    """Follows channel logs. A last line without an end is not there yet.

    A reader moves forward only; a new incarnation of a node opens a new reader.
    """

    def __init__(self, root: Path, *, clock: Clock, poll_seconds: float = 0.01) -> None:
        self._root = root
        self._clock = clock
        self._poll_seconds = poll_seconds
        self._offsets: dict[ChannelName, int] = {}
        self._ahead: dict[ChannelName, deque[Pack]] = {}

    async def next_pack(self, channel: ChannelName, after: Position) -> Pack:
        """The first pack that ends after the position; waits for it."""
        ahead = self._ahead.setdefault(channel, deque())
        while True:
            while ahead and ahead[0].end.ts <= after.ts:
                ahead.popleft()
            if ahead:
                return ahead[0]
            if not await self._read_on(channel, ahead):
                await self._clock.sleep(self._poll_seconds)

    async def _read_on(self, channel: ChannelName, ahead: deque[Pack]) -> bool:
        """Read the lines that were added. False when there were none."""
        file, offset = log_file(self._root, channel), self._offsets.get(channel, 0)
        added = await asyncio.to_thread(read_from, file, offset)
        complete, _, _ = added.rpartition(b"\n")
        if not complete:
            return False
        for line in complete.split(b"\n"):
            ahead.append(decode(line, where=file))
        self._offsets[channel] = offset + len(complete) + 1
        return True


def read_from(file: Path, offset: int) -> bytes:
    """What the file holds beyond the offset; nothing while it does not exist."""
    if not file.exists():
        return b""
    with file.open("rb") as data:
        data.seek(offset)
        return data.read()


def read_log(root: Path, channel: ChannelName) -> tuple[Pack, ...]:
    """All complete packs of a channel."""
    file = log_file(root, channel)
    complete, _, _ = read_from(file, 0).rpartition(b"\n")
    return tuple(decode(line, where=file) for line in complete.split(b"\n") if line)


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
    return json.dumps(document, separators=(",", ":")).encode()


def decode(line: bytes, *, where: Path) -> Pack:
    """The pack of a line. Raises CorruptDataError, which names the file."""
    try:
        document = json.loads(line)
        return Pack(
            start=StartPosition(document["start"]),
            end=EndPosition(document["end"]),
            rows=tuple(Row(ts, segment, key, value) for ts, segment, key, value in document["rows"]),
            close=document["close"],
            drop=document["drop"],
        )
    except (ValueError, KeyError, TypeError) as damage:
        raise CorruptDataError(f"log {where} has a damaged line {line[:80]!r}: {damage!r}") from damage
