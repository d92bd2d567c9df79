"""The streaming node killed with SIGKILL on real files: every acknowledged row is stored once, none is
invented, and the node's own records have counted each once.
"""

import asyncio
import random
import sys
from collections import Counter
from pathlib import Path

from tests.impl.streaming.killed_node import KEYS_PER_LIFE, store_file, value_of
from tidemark.impl.storage.sqlite_streaming import SqliteStreamingStore
from tidemark.impl.values.messages import rows_of
from tidemark.models import rooms

LONGEST_LIFE = 0.25
"""Seconds from the first acknowledged row to the kill, at most. The kill may also come before it."""
DRAIN_SECONDS = 120.0


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


async def killed_again_and_again(directory: Path, *, kills: int, seed: int) -> None:
    """Kill the node so many times, let it store what is in the log, and compare."""
    rng = random.Random(seed)
    acknowledged: set[int] = set()
    for life in range(1, kills + 1):
        acknowledged |= await live(directory, life, rng)
    process = await _start(directory, kills + 1, "--drain")
    async with asyncio.timeout(DRAIN_SECONDS):
        await _read(process, acknowledged)
        assert await process.wait() == 0
    store = SqliteStreamingStore(store_file(directory))
    messages = await store.messages()
    _, summary = await store.load()
    await store.close()
    rows = [row for together in messages.values() for message in together for row in rows_of(message)]
    counts = Counter(row.key for row in rows)
    assert acknowledged
    assert acknowledged <= counts.keys()
    assert set(counts.values()) == {1}
    found = {row.key: (row.value, row.segment_id) for row in rows}
    assert found == {key: (value_of(key), key % 3) for key in counts if key >= KEYS_PER_LIFE}
    assert summary.rows == Counter(row.segment_id for row in rows)


def test_every_acknowledged_row_is_stored_once_after_kills(tmp_path):
    asyncio.run(killed_again_and_again(tmp_path, kills=3, seed=2))
