"""The process that is killed: a streaming node over the files of one directory, with clients of its own.

Clients append one row after the other, and print the keys of acknowledged ones on the standard output. With
``--drain`` there are no appends: the process ends when the whole log is stored.
"""

import argparse
import asyncio
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

CHANNEL = "killed_1v0"
CLIENTS = 4
KEYS_PER_LIFE = 1_000_000
CONFIG = StreamingConfig(tick_seconds=0.005, idle_rounds=4, persist_seconds=0.02, retry_seconds=0.01)


def store_file(directory: Path) -> Path:
    return directory / "stored.sqlite"


def value_of(key: int) -> str:
    """The value of a row, which shows whether a row was invented."""
    return f"{key * 2654435761 % 2**32:08x}"


class WallOracle:
    """Timestamps by the clock of the machine: greater than those of an earlier process."""

    def __init__(self) -> None:
        self._wall = SystemWallClock()
        self._last: Timestamp = ZERO

    async def alloc(self, count: int) -> Timestamp:
        now = compose(milliseconds(self._wall.now()), 0)
        self._last = max(self._last, now) + count
        return self._last


async def run_client(node: StreamingNode, keys: range) -> None:
    """Append rows, and print the acknowledged ones."""
    for key in keys:
        try:
            await node.append(Append(CHANNEL, ((key % 3, key, value_of(key)),)))
        except (TermClosedError, UnknownOutcomeError, RpcError):
            await asyncio.sleep(CONFIG.retry_seconds)
        else:
            print(key, flush=True)


async def run(directory: Path, life: int, *, drain: bool) -> None:
    """Serve until the kill, or until all messages are stored."""
    store = SqliteStreamingStore(store_file(directory))
    log = FencedLog(directory / "log", per_file=32)
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
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--life", type=int, required=True)
    parser.add_argument("--drain", action="store_true")
    options = parser.parse_args()
    asyncio.run(run(options.dir, options.life, drain=options.drain))


if __name__ == "__main__":
    main()
