"""The demonstration: rows go into the log, a flush, a kill during the work, a recovery, and the check."""

from __future__ import annotations

import asyncio
import json
import random
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidemark.impl.cluster.audit import Audit, audit
from tidemark.impl.demo.node_process import CHANNEL, binlog_root, log_root, meta_file
from tidemark.impl.errors import ImplementationError
from tidemark.impl.storage.file_log import FileLogWriter
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.system.clocks import SystemWallClock
from tidemark.impl.timestamp import ZERO, Timestamp, compose, milliseconds, split
from tidemark.impl.types import EndPosition, MetaSnapshot, Pack, Row, StartPosition

TICKS_OF_ROWS = 160
TICK_SECONDS = 0.003
BUFFERS_PER_SEGMENT = 12
FLUSH_AFTER = 0.4
KILL_AFTER = 0.7


class DemoError(ImplementationError):
    """The demonstration could not be completed."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options: number of rows and segments, the directory, and the seed of rows and of the kill."""

    rows: int
    segments: int
    directory: Path
    seed: int


class Child:
    """The node's process: its events and its requests."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def wait_for(self, event: str) -> dict[str, Any]:
        """Skip events until one of this kind. Raises DemoError when the process ends before."""
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            facts: dict[str, Any] = json.loads(line)
            if facts["event"] == event:
                return facts
        code = await self.process.wait()
        raise DemoError(f"the node ended with code {code} before the event {event!r}; see its messages above")

    async def ask(self, request: str) -> None:
        """Send a request."""
        assert self.process.stdin is not None
        self.process.stdin.write(request.encode() + b"\n")
        await self.process.stdin.drain()

    async def kill(self) -> None:
        """SIGKILL: no handler runs, nothing is flushed."""
        self.process.kill()
        await self.process.wait()

    async def end(self) -> None:
        """Close the input and wait for the orderly end."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = await self.process.wait()
        if code != 0:
            raise DemoError(f"the node ended with code {code}; see its messages above")


class LogKeeper:
    """Writes the log: ticks without end, and rows on demand.

    tick: the timestamp of the last tick. Those of the rows are between it and the one before.
    """

    def __init__(self, directory: Path) -> None:
        self._writer = FileLogWriter(log_root(directory), CHANNEL)
        self._wall = SystemWallClock()
        self.tick = ZERO
        self.rows: list[Row] = []

    async def append(self, contents: list[tuple[int, int, str]]) -> None:
        """One more pack, with rows of (segment, key, value)."""
        start = self.tick
        first = max(compose(milliseconds(self._wall.now()), 0), start + 1)
        rows = tuple(Row(first + n, segment, key, value) for n, (segment, key, value) in enumerate(contents))
        self.tick = first + len(rows)
        self.rows.extend(rows)
        await self._writer.append(Pack(StartPosition(start), EndPosition(self.tick), rows))

    async def run_ticks(self) -> None:
        """Empty packs, one after the other."""
        while True:
            await self.append([])
            await asyncio.sleep(TICK_SECONDS)


class Story:
    """Plays and reports the demonstration."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._rng = random.Random(options.seed)
        self._log = LogKeeper(options.directory)
        self._pending = self._make_packs()
        self._packs = len(self._pending)

    def _make_packs(self) -> list[list[tuple[int, int, str]]]:
        contents = [
            (self._rng.randrange(self.options.segments), key, f"{self._rng.getrandbits(64):016x}")
            for key in range(self.options.rows)
        ]
        size = -(-len(contents) // TICKS_OF_ROWS)
        return [contents[at : at + size] for at in range(0, len(contents), size)]

    async def play(self) -> Audit:
        """All chapters. Returns the result of the check."""
        flushed_to = await self._until_the_kill()
        await self._look_at_the_ruins(flushed_to)
        await self._after_the_kill()
        rest = await self._check()
        say(f"Check: {rest.describe()}.")
        return rest

    async def _until_the_kill(self) -> int:
        say(f"A log of {self.options.rows} rows in {self.options.segments} segments begins.")
        async with self._child() as child, self._ticks():
            await child.wait_for("recovered")
            await self._append_until(FLUSH_AFTER)
            flush_ts = self._log.tick
            await child.ask(f"flush {flush_ts}")
            await child.wait_for("flushed")
            say(f"Flush up to {shown(flush_ts)}: confirmed, {len(self._log.rows)} rows so far.")
            await self._append_until(KILL_AFTER)
            for _ in range(self._rng.randint(1, 3)):
                await child.wait_for("recorded")
            await child.kill()
            say(f"Killed at {shown(self._log.tick)} with SIGKILL, in the middle of the work.")
        return flush_ts

    async def _look_at_the_ruins(self, flushed_to: int) -> None:
        snapshot = await self._snapshot()
        store = ParquetStore(binlog_root(self.options.directory))
        recorded = {binlog.path for segment in snapshot.segments for binlog in segment.binlogs}
        orphans = [path for path in store.paths() if path not in recorded]
        checkpoint = snapshot.channels[0].checkpoint
        found = await audit(self._log.rows, snapshot, store)
        say(
            f"Remaining: checkpoint {shown(checkpoint)}, {len(recorded)} recorded binlogs, {len(orphans)}"
            f" written but not recorded. Of {found.expected} rows in the log {len(found.missing)} are not"
            " stored yet."
        )
        broken = [row for row in found.missing if row.ts <= max(flushed_to, checkpoint)]
        if broken:
            raise DemoError(
                f"row {broken[0].key} at {shown(broken[0].ts)} is not durable although"
                f" {shown(max(flushed_to, checkpoint))} was confirmed"
            )

    async def _after_the_kill(self) -> None:
        await self._append_until(1.0)
        async with self._child() as child, self._ticks():
            facts = await child.wait_for("recovered")
            seek = facts["seek"]
            recorded = {int(segment): end for segment, end in facts["recorded"].items()}
            replayed = [row for row in self._log.rows if row.ts > seek]
            dropped = [row for row in replayed if row.ts <= recorded.get(row.segment_id, 0)]
            say(
                f"A new process seeks {shown(seek)}: {len(replayed)} rows are replayed, {len(dropped)} of"
                " them are stored already and dropped."
            )
            segments = " ".join(str(segment) for segment in range(self.options.segments))
            await child.ask(f"flush {self._log.tick} seal {segments}")
            await child.wait_for("flushed")
            await child.end()
        say("All segments are sealed and flushed; the second process has ended in good order.")

    async def _check(self) -> Audit:
        snapshot = await self._snapshot()
        unfinished = [segment.segment_id for segment in snapshot.segments if not segment.flushed]
        if unfinished:
            raise DemoError(f"segment {unfinished[0]} is not flushed although its flush was confirmed")
        return await audit(self._log.rows, snapshot, ParquetStore(binlog_root(self.options.directory)))

    async def _snapshot(self) -> MetaSnapshot:
        meta = SqliteMetaStore(meta_file(self.options.directory))
        try:
            return await meta.load()
        finally:
            await meta.close()

    async def _append_until(self, share: float) -> None:
        for contents in self._next_packs(share):
            await self._log.append(contents)
            await asyncio.sleep(TICK_SECONDS)

    def _next_packs(self, share: float) -> Iterator[list[tuple[int, int, str]]]:
        left = self._packs - max(1, round(self._packs * share))
        while len(self._pending) > left:
            yield self._pending.pop(0)

    @asynccontextmanager
    async def _ticks(self) -> AsyncIterator[None]:
        ticking = asyncio.create_task(self._log.run_ticks())
        try:
            yield
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)

    @asynccontextmanager
    async def _child(self) -> AsyncIterator[Child]:
        row_bytes = Row(1, 0, 0, "0" * 16).memory_bytes
        buffer_rows = max(1, self.options.rows // (self.options.segments * BUFFERS_PER_SEGMENT))
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "tidemark.impl.demo.node_process", "--dir", str(self.options.directory)),
            *("--full-buffer-bytes", str(buffer_rows * row_bytes)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        child = Child(process)
        try:
            yield child
        finally:
            if process.returncode is None:
                await child.kill()


def shown(ts: Timestamp) -> str:
    """A timestamp for people: seconds since 1970, and the counter."""
    physical, logical = split(ts)
    return f"{physical / 1000:.3f} s + {logical}"


def say(sentence: str) -> None:
    """Print a line of the report."""
    sys.stdout.write(f"- {sentence}\n")
    sys.stdout.flush()
