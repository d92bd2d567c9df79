"""``python -m tidemark.impl.demo.streaming [--kills N] [--seed N]``: a streaming node, killed many times.

Clients append rows, deletes and transactions while the node is killed with SIGKILL at random moments, again
and again, on real files. At the end every row and delete that was acknowledged must be stored, each once,
none invented, each transaction whole or not at all, and the node's own records must have counted each once.
Exit code 0 if so, 1 otherwise, 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tidemark.impl.demo.streaming_process import (
    BODIES,
    KEYS_PER_LIFE,
    is_committed,
    is_delete,
    store_file,
    transaction_of,
    value_of,
)
from tidemark.impl.storage.sqlite_streaming import SqliteStreamingStore
from tidemark.impl.system.command import run_command
from tidemark.impl.types import Row
from tidemark.impl.values.messages import is_level_zero, rows_of

LONGEST_LIFE = 0.25
"""Seconds from the opening of the log to the kill, at most. The kill may also come before the opening."""
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
        *("-m", "tidemark.impl.demo.streaming_process", "--dir", str(directory), "--life", str(life)),
        *options,
        stdout=asyncio.subprocess.PIPE,
    )


async def _read(process: asyncio.subprocess.Process, acknowledged: set[int]) -> None:
    """Collect the output of a process. Its last line may be torn by the kill."""
    assert process.stdout is not None
    while line := await process.stdout.readline():
        if line.endswith(b"\n"):
            facts = json.loads(line)
            if facts["event"] == "acknowledged":
                acknowledged.add(facts["key"])


async def play(directory: Path, *, kills: int, seed: int) -> Outcome:
    """Kill the node so many times, let it store the log, and compare."""
    rng = random.Random(seed)
    acknowledged: set[int] = set()
    for life in range(1, kills + 1):
        acknowledged |= await live(directory, life, rng)
    process = await _start(directory, kills + 1, "--drain")
    async with asyncio.timeout(DRAIN_SECONDS):
        await _read(process, acknowledged)
        code = await process.wait()
    if code != 0:
        raise RuntimeError(f"the last process ended with code {code}; see its messages above")
    return await compare(directory, acknowledged)


async def compare(directory: Path, acknowledged: set[int]) -> Outcome:
    """Compare the stored with the acknowledged keys."""
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


def main(arguments: list[str]) -> int:
    """Run the demonstration. The exit code."""
    parser = argparse.ArgumentParser(prog="python -m tidemark.impl.demo.streaming")
    parser.add_argument("--kills", type=int, default=20, help="how often the node is killed (default 20)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the moments (default 1)")
    options = parser.parse_args(arguments)
    if options.kills < 1:
        parser.error(f"--kills is {options.kills}; it must be at least 1")
    with tempfile.TemporaryDirectory(prefix="tidemark-streaming-") as directory:
        where = Path(directory)
        return run_command("demo", lambda: told(where, kills=options.kills, seed=options.seed))


async def told(directory: Path, *, kills: int, seed: int) -> int:
    """Play, and report. The exit code."""
    outcome = await play(directory, kills=kills, seed=seed)
    sys.stdout.write(f"{kills} kills: {outcome.describe()}.\n")
    return 0 if outcome.clean else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
