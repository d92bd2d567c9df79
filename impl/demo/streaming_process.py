"""The process that is killed: a streaming node over the files of one directory, with clients of its own.

Each client appends one row after the other, and says on the standard output which one is acknowledged. With
``--drain`` there are no appends: the process ends when everything in the log is stored.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from tidemark.impl.errors import RpcError, TermClosedError, UnknownOutcomeError
from tidemark.impl.runtime import AsyncioClock
from tidemark.impl.storage.fenced_log import FencedLog
from tidemark.impl.storage.sqlite_streaming import SqliteStreamingStore
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.node import StreamingNode
from tidemark.impl.streaming.ports import StreamingPorts
from tidemark.impl.streaming.term import OpenTerm
from tidemark.impl.streaming.values import Append
from tidemark.impl.system.clocks import SystemWallClock
from tidemark.impl.timestamp import ZERO, Timestamp, compose, milliseconds

CHANNEL = "demo_1v0"
CLIENTS = 4
KEYS_PER_LIFE = 1_000_000
PER_FILE = 32
CONFIG = StreamingConfig(tick_seconds=0.005, idle_rounds=4, persist_seconds=0.02, retry_seconds=0.01)


def log_root(directory: Path) -> Path:
    """Where the log lies."""
    return directory / "log"


def store_file(directory: Path) -> Path:
    """Where messages and checkpoints lie."""
    return directory / "stored.sqlite"


def value_of(key: int) -> str:
    """The value of a row: whoever reads it knows whether it was invented."""
    return f"{key * 2654435761 % 2**32:08x}"


class WallOracle:
    """Timestamps by the clock of the machine: greater than those of an earlier process."""

    def __init__(self) -> None:
        self._wall = SystemWallClock()
        self._last: Timestamp = ZERO

    async def alloc(self, count: int) -> Timestamp:
        """The last of so many timestamps."""
        now = compose(milliseconds(self._wall.now()), 0)
        self._last = max(self._last, now) + count
        return self._last


def announce(event: str, **facts: object) -> None:
    """Report an event to the parent."""
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


async def run_client(node: StreamingNode, keys: range) -> None:
    """Append rows, and say which are acknowledged."""
    for key in keys:
        try:
            await node.append(Append(CHANNEL, ((key % 3, key, value_of(key)),)))
        except (TermClosedError, UnknownOutcomeError, RpcError):
            await asyncio.sleep(CONFIG.retry_seconds)
        else:
            announce("acknowledged", key=key)


async def run(directory: Path, life: int, *, drain: bool) -> None:
    """Serve until the end, which is a kill; or until everything is stored."""
    store = SqliteStreamingStore(store_file(directory))
    log = FencedLog(log_root(directory), per_file=PER_FILE)
    opened: asyncio.Future[OpenTerm] = asyncio.get_running_loop().create_future()
    ports = StreamingPorts(
        oracle=WallOracle(), log=log, messages=store, checkpoints=store, clock=AsyncioClock()
    )
    node = StreamingNode(ports=ports, config=CONFIG, opened=opened.set_result)
    serving = asyncio.create_task(node.run())
    waiting: list[asyncio.Future[Any]] = [serving, opened]
    await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
    if serving.done():
        serving.result()
    term = opened.result()
    announce("opened", term=term.opening.term, start=term.flusher.reading, end=term.opening.end)
    if not drain:
        first = life * KEYS_PER_LIFE
        clients = [range(first + n, first + KEYS_PER_LIFE, CLIENTS) for n in range(CLIENTS)]
        await asyncio.gather(*(run_client(node, keys) for keys in clients))
    end = term.opening.end
    saved = term.recovery
    while min(saved.saved.flusher, saved.saved.recovery) < end:  # noqa: ASYNC110  # it is saved in the end
        await asyncio.sleep(CONFIG.tick_seconds)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    await store.close()


def main() -> None:
    """Command line of the process; the demonstration starts it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--life", type=int, required=True)
    parser.add_argument("--drain", action="store_true")
    options = parser.parse_args()
    asyncio.run(run(options.dir, options.life, drain=options.drain))


if __name__ == "__main__":
    main()
