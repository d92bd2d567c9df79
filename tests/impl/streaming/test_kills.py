"""The streaming node killed with SIGKILL on real files; and the comparison at the end can fail.

Clients append rows, deletes and transactions. Every row and delete that was acknowledged must be stored once,
none invented, each transaction whole or not at all, and the node's own records must have counted each once.
"""

import asyncio
import random
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.impl.streaming.killed_node import (
    BODIES,
    KEYS_PER_LIFE,
    append_of,
    is_committed,
    is_delete,
    store_file,
    transaction_of,
    value_of,
)
from tidemark.impl.storage.sqlite_streaming import SqliteStreamingStore
from tidemark.impl.streaming.ports import Summary
from tidemark.impl.types import Row
from tidemark.impl.values.messages import is_level_zero, rows_of
from tidemark.models import rooms

LONGEST_LIFE = 0.25
"""Seconds from the first acknowledged row to the kill, at most. The kill may also come before it."""
DRAIN_SECONDS = 120.0


@dataclass(frozen=True)
class Outcome:
    """Acknowledged keys that are not stored, keys that are stored more than once, and wrong ones.

    deletes, transactions: how many of them are stored.
    broken: transactions that are stored in part, at several timestamps, or though they were not committed.
    miscounted: segments of which the node's own records say another number of rows than are stored.
    """

    acknowledged: int
    stored: int
    lost: tuple[int, ...]
    doubled: tuple[int, ...]
    invented: tuple[int, ...]
    deletes: int
    transactions: int
    broken: tuple[tuple[int, int], ...]
    miscounted: tuple[int, ...]

    @property
    def clean(self) -> bool:
        """Whether there is no error. No row at all proves nothing."""
        wrong = (self.lost, self.doubled, self.invented, self.broken, self.miscounted)
        return self.acknowledged > 0 and not any(wrong)

    def describe(self) -> str:
        """The counts in one line."""
        return (
            f"{self.acknowledged} rows and deletes acknowledged, {self.stored} stored"
            f" ({self.deletes} deletes, {self.transactions} transactions): {len(self.lost)} lost,"
            f" {len(self.doubled)} doubled, {len(self.invented)} invented,"
            f" {len(self.broken)} transactions broken, {len(self.miscounted)} segments miscounted"
        )


async def live(directory: Path, life: int, rng: random.Random) -> set[int]:
    """One run of the node, until a kill. The keys that it has acknowledged."""
    process = await _start(directory, life)
    acknowledged: set[int] = set()
    reading = asyncio.create_task(_read(process, acknowledged))
    try:
        if rng.random() < 0.9:
            await _first_row(reading, acknowledged)
        await asyncio.sleep(rng.random() * LONGEST_LIFE)
    finally:
        process.kill()
        await process.wait()
    await reading
    return acknowledged


async def _first_row(reading: asyncio.Task[None], acknowledged: set[int]) -> None:
    while not acknowledged and not reading.done():  # noqa: ASYNC110  # it is a line of another process
        await asyncio.sleep(0.01)


async def _start(directory: Path, life: int, *options: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.impl.streaming.killed_node", "--dir", str(directory), "--life", str(life)),
        *options,
        stdout=asyncio.subprocess.PIPE,
        cwd=rooms.ROOT,
    )


async def _read(process: asyncio.subprocess.Process, acknowledged: set[int]) -> None:
    """Collect the output of a process. Its last line may be torn by the kill."""
    assert process.stdout is not None
    while line := await process.stdout.readline():
        if line.endswith(b"\n"):
            acknowledged.add(int(line))


async def play(directory, *, kills, seed):
    """Kill the node so many times, let it store what is in the log, and compare."""
    rng = random.Random(seed)
    acknowledged: set[int] = set()
    for life in range(1, kills + 1):
        acknowledged |= await live(directory, life, rng)
    process = await _start(directory, kills + 1, "--drain")
    async with asyncio.timeout(DRAIN_SECONDS):
        await _read(process, acknowledged)
        code = await process.wait()
    assert code == 0
    return await compare(directory, acknowledged)


async def compare(directory: Path, acknowledged: set[int]):
    """What is stored against what was acknowledged."""
    store = SqliteStreamingStore(store_file(directory))
    try:
        messages = await store.messages()
        _, summary = await store.load()
    finally:
        await store.close()
    rows = [row for together in messages.values() for message in together for row in rows_of(message)]
    counts = Counter(row.key for row in rows)
    segments = Counter(row.segment_id for row in rows)
    transactions = _transactions(rows)
    differs = [s for s in segments.keys() | summary.rows.keys() if segments[s] != summary.rows.get(s, 0)]
    return Outcome(
        acknowledged=len(acknowledged),
        stored=len(rows),
        lost=tuple(sorted(acknowledged - counts.keys())),
        doubled=tuple(sorted(key for key, count in counts.items() if count > 1)),
        invented=tuple(sorted(row.key for row in rows if _is_invented(row))),
        deletes=sum(is_level_zero(row.segment_id) for row in rows),
        transactions=len(transactions),
        broken=tuple(sorted(which for which, found in transactions.items() if _is_broken(which[1], found))),
        miscounted=tuple(sorted(differs)),
    )


def _is_invented(row: Row) -> bool:
    if row.key < KEYS_PER_LIFE or is_level_zero(row.segment_id) is not is_delete(row.key):
        return True
    return not is_delete(row.key) and (row.value, row.segment_id) != (value_of(row.key), row.key % 3)


def _transactions(rows: Iterable[Row]) -> dict[tuple[int, int], list[Row]]:
    found: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        number = transaction_of(row.key)
        if number is not None:
            found.setdefault((row.key // KEYS_PER_LIFE, number), []).append(row)
    return found


def _is_broken(number: int, rows: Sequence[Row]) -> bool:
    keys, timestamps = {row.key for row in rows}, {row.ts for row in rows}
    return len(keys) != BODIES or len(timestamps) != 1 or not is_committed(number)


def test_every_acknowledged_row_is_stored_once_after_kills(tmp_path):
    outcome = asyncio.run(play(tmp_path, kills=3, seed=2))
    assert outcome.clean, outcome.describe()
    assert outcome.stored >= outcome.acknowledged > 0


@pytest.mark.parametrize(
    ("keys", "counted", "wrong"),
    [
        ([3000001, 3000002], {1: 1, -1: 1}, "1 lost, 0 doubled, 0 invented, 0 transactions broken, 0 seg"),
        (
            [3000000, 3000001, 3000001],
            {0: 1, 1: 2},
            "0 lost, 1 doubled, 0 invented, 0 transactions broken, 0",
        ),
        (
            [3000000, 3000001, 5],
            {0: 1, 1: 1, 2: 1},
            "0 lost, 0 doubled, 1 invented, 0 transactions broken, 0",
        ),
        ([3000000, 3000001], {0: 2, 1: 1}, "0 lost, 0 doubled, 0 invented, 0 transactions broken, 1 seg"),
        (
            [3000000, 3000001, 3000003],
            {0: 2, 1: 1},
            "0 lost, 0 doubled, 0 invented, 1 transactions broken, 0",
        ),
        (
            [3000000, 3000001, (3000039, 3000043, 3000047)],
            {0: 2, 1: 2, -1: 1},
            "(1 deletes, 1 transactions): 0 lost, 0 doubled, 0 invented, 1 transactions broken, 0 seg",
        ),
    ],
)
def test_the_comparison_finds_what_is_wrong(tmp_path, keys, counted, wrong):
    outcome = asyncio.run(compared(tmp_path, keys, counted))
    assert not outcome.clean
    assert wrong in outcome.describe()


def test_a_whole_transaction_is_right(tmp_path):
    keys = [3000000, 3000001, (3000003, 3000007, 3000011)]
    outcome = asyncio.run(compared(tmp_path, keys, {0: 2, 1: 2, -1: 1}))
    assert outcome.clean
    assert "5 stored (1 deletes, 1 transactions)" in outcome.describe()


async def compared(root, keys, counted):
    """What the comparison says of these keys, each stored at a place of its own or together."""
    store = SqliteStreamingStore(store_file(root))
    for place, found in enumerate(keys, start=1):
        together = found if isinstance(found, tuple) else (found,)
        await store.put(place, [replace(append_of(key), ts=place).content() for key in together])
    await store.save_recovery(Summary(len(keys), counted))
    await store.close()
    return await compare(root, {3000000, 3000001})
