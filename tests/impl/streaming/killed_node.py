"""The process that is killed: a streaming node over the files of one directory, with clients of its own.

Two clients append one row after the other, one appends deletes, and one transactions of three bodies, two at
once, of which it rolls some back and lets some expire. They print acknowledgements on the standard output.
With ``--drain`` there are no appends: the process ends when the whole log is stored.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from tidemark.impl.errors import RpcError, TermClosedError, TransactionOverError, UnknownOutcomeError
from tidemark.impl.runtime import AsyncioClock
from tidemark.impl.storage.fenced_log import FencedLog
from tidemark.impl.storage.sqlite_streaming import SqliteStreamingStore
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.node import StreamingNode
from tidemark.impl.streaming.ports import StreamingPorts
from tidemark.impl.streaming.term import OpenTerm
from tidemark.impl.streaming.transaction_messages import Part
from tidemark.impl.streaming.values import Append
from tidemark.impl.system.clocks import SystemWallClock
from tidemark.impl.timestamp import ZERO, Timestamp, compose, milliseconds

CHANNEL = "killed_1v0"
CLIENTS = 4
DELETES, TRANSACTIONS = 2, 3
"""The clients that append deletes, and transactions."""
BODIES = 3
BESIDE = 2
"""How many transactions are open at once."""
KEYS_PER_LIFE = 1_000_000
PER_FILE = 32
LASTS = compose(5_000, 0)
"""How long a transaction may last: 5 s."""
CONFIG = StreamingConfig(tick_seconds=0.005, idle_rounds=4, persist_seconds=0.02, retry_seconds=0.01)


def log_root(directory: Path) -> Path:
    """The folder of the log."""
    return directory / "log"


def store_file(directory: Path) -> Path:
    """The file of messages and checkpoints."""
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
        """The last of so many timestamps."""
        now = compose(milliseconds(self._wall.now()), 0)
        self._last = max(self._last, now) + count
        return self._last


def announce(key: int) -> None:
    """Tell the parent that a key is acknowledged."""
    sys.stdout.write(f"{key}\n")
    sys.stdout.flush()


def transaction_of(key: int) -> int | None:
    """The number of a key's transaction, counted from 0 in each run; None: it belongs to none."""
    number, client = divmod(key % KEYS_PER_LIFE, CLIENTS)
    return number // BODIES if client == TRANSACTIONS else None


def is_committed(transaction: int) -> bool:
    """Whether its client commits it in time. Of eight, two are rolled back and one expires."""
    return transaction % 4 != 3 and not lasts_too_long(transaction)


def lasts_too_long(transaction: int) -> bool:
    """Whether its client lets it expire."""
    return transaction % 8 == 5


def is_delete(key: int) -> bool:
    """Whether the key is deleted: those of one client, and the last body of a transaction."""
    number, client = divmod(key % KEYS_PER_LIFE, CLIENTS)
    return client == DELETES or (client == TRANSACTIONS and number % BODIES == BODIES - 1)


def append_of(key: int) -> Append:
    """The row or the delete of a key."""
    if is_delete(key):
        return Append(CHANNEL, deletes=(key,))
    return Append(CHANNEL, ((key % 3, key, value_of(key)),))


async def run_client(node: StreamingNode, keys: range) -> None:
    """Append rows or deletes, and print the acknowledged ones."""
    for key in keys:
        try:
            await node.append(append_of(key))
        except (TermClosedError, UnknownOutcomeError, RpcError):
            await asyncio.sleep(CONFIG.retry_seconds)
        else:
            announce(key)


async def run_transactions(node: StreamingNode, keys: range, *, begins_with: int) -> None:
    """Append every other transaction, and print the keys of acknowledged commits."""
    for first in range(begins_with * BODIES, len(keys), BESIDE * BODIES):
        mine = keys[first : first + BODIES]
        try:
            await run_transaction(node, mine)
        except (TermClosedError, UnknownOutcomeError, RpcError, TransactionOverError):
            await asyncio.sleep(CONFIG.retry_seconds)


async def run_transaction(node: StreamingNode, keys: range) -> None:
    """One transaction, with all its bodies at once."""
    transaction = transaction_of(keys[0])
    assert transaction is not None
    begin = Append(CHANNEL, part=Part.BEGIN, lasts=1 if lasts_too_long(transaction) else LASTS)
    await node.append(begin)
    bodies = [replace(append_of(key), part=Part.BODY, transaction=begin.ts) for key in keys]
    await asyncio.gather(*(node.append(body) for body in bodies))
    part = Part.ROLLBACK if transaction % 4 == 3 else Part.COMMIT
    await node.append(Append(CHANNEL, part=part, transaction=begin.ts))
    for key in keys if part is Part.COMMIT else ():
        announce(key)


async def run(directory: Path, life: int, *, drain: bool) -> None:
    """Serve until the kill, or until all messages are stored."""
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
    if not drain:
        first = life * KEYS_PER_LIFE
        clients = [range(first + n, first + KEYS_PER_LIFE, CLIENTS) for n in range(CLIENTS)]
        await asyncio.gather(
            *(run_client(node, keys) for keys in clients[:TRANSACTIONS]),
            *(run_transactions(node, clients[TRANSACTIONS], begins_with=n) for n in range(BESIDE)),
        )
    end = term.opening.end
    saved = term.recovery
    while min(saved.saved.flusher, saved.saved.recovery) < end:  # noqa: ASYNC110  # it is saved in the end
        await asyncio.sleep(CONFIG.tick_seconds)
    serving.cancel()
    await asyncio.gather(serving, return_exceptions=True)
    await store.close()


def main() -> None:
    """Command line of the process; a test starts it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--life", type=int, required=True)
    parser.add_argument("--drain", action="store_true")
    options = parser.parse_args()
    asyncio.run(run(options.dir, options.life, drain=options.drain))


if __name__ == "__main__":
    main()
