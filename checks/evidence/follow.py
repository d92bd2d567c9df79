"""Judge evidence while it grows: Structured Streaming reads what is new, monitors go on from memory.

After each batch the memory of all monitors is written beside Spark's own checkpoint, under the number of
the batch. If the program is killed, Spark repeats the last batch; the monitors then take up the memory from
before it, so that no event counts twice.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tidemark.checks.evidence.monitors.base import Answer, Monitor
from tidemark.checks.evidence.monitors.distribute import of_kinds
from tidemark.checks.evidence.monitors.run import MONITORS, ordered, rows
from tidemark.checks.evidence.table.distribute import ACCOUNT
from tidemark.checks.evidence.table.growing import FORMAT, GrowingFiles
from tidemark.checks.evidence.table.plain import account_for, order, write
from tidemark.checks.evidence.table.read import Account
from tidemark.checks.evidence.table.schema import SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Say = Callable[[list[Answer]], None]
"""Called after each batch with the answers so far."""


class Memory:
    """The monitors, what they remember, and how the files were read."""

    def __init__(self) -> None:
        self.monitors: list[Monitor] = [one() for one in MONITORS]
        self.accounts: dict[str, Account] = {}
        self.kinds: set[str] = set()

    def feed(self, events: pa.Table) -> None:
        """Look at the next events."""
        for row in of_kinds(events, (ACCOUNT,)).column("value").to_pylist():
            account_for(self.accounts, Account.from_dict(json.loads(row)))
        self.kinds |= set(events.column("kind").unique().to_pylist()) - {ACCOUNT}
        for monitor in self.monitors:
            chosen = ordered(of_kinds(events, monitor.kinds), monitor.within)
            monitor.feed(rows(chosen, monitor.columns))

    def answers(self) -> list[Answer]:
        """The answers of the monitors that have had something to judge."""
        return [one.close() for one in self.monitors if not one.lacks(self.kinds)]

    def save(self, path: Path) -> None:
        """Write everything down, in one step."""
        document = {
            "monitors": {one.name: one.state() for one in self.monitors},
            "accounts": [one.as_dict() for one in self.accounts.values()],
            "kinds": sorted(self.kinds),
        }
        path.parent.mkdir(parents=True, exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(document), encoding="utf-8")
        fresh.replace(path)

    @classmethod
    def load(cls, path: Path) -> Memory:
        """The inverse of ``save``."""
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        made = cls()
        for one in made.monitors:
            one.restore(document["monitors"][one.name])
        accounts = [Account.from_dict(one) for one in document["accounts"]]
        made.accounts = {one.name: one for one in accounts}
        made.kinds = set(document["kinds"])
        return made


class Follower:
    """What is done with each batch of events."""

    def __init__(self, folder: Path, say: Say) -> None:
        self.folder, self.say = folder, say

    def memory(self, batch: int) -> Memory:
        """The memory from before a batch."""
        known = [number for number in self._numbers() if number < batch]
        return Memory.load(self._state(max(known))) if known else Memory()

    def latest(self) -> Memory:
        """The memory after the last batch that was judged."""
        known = self._numbers()
        return Memory.load(self._state(max(known))) if known else Memory()

    def _numbers(self) -> list[int]:
        return [int(path.stem) for path in (self.folder / "memory").glob("*.json")]

    def _state(self, batch: int) -> Path:
        return self.folder / "memory" / f"{batch:08d}.json"

    def take(self, frame: DataFrame, batch: int) -> None:
        """Judge one batch, keep its events, and write the memory down."""
        events = order(pa.table(frame.toArrow()).cast(SCHEMA))
        memory = self.memory(batch)
        memory.feed(events)
        kept = events.filter(pa.compute.not_equal(events.column("kind"), ACCOUNT))
        write(kept, self.folder / "events" / f"{batch:08d}.parquet")
        memory.save(self._state(batch))
        for number in self._numbers():
            if number < batch - 1:
                self._state(number).unlink(missing_ok=True)
        self.say(memory.answers())


def follow(
    spark: SparkSession,
    paths: Sequence[Path],
    *,
    folder: Path,
    say: Say,
    seconds: float | None = None,
    once: bool = False,
) -> Memory:
    """Judge what is there and what comes, until ``seconds`` have gone by or the user stops.

    ``folder`` keeps the checkpoint, the memory and the events (Parquet, a file a batch); a run with the same
    folder goes on where the last one was. ``once`` ends when all that is there now has been judged.
    Returns the monitors' memory at the end.
    """
    follower = Follower(folder, say)
    spark.dataSource.register(GrowingFiles)
    listed = json.dumps([str(path.resolve()) for path in paths])
    stream = spark.readStream.format(FORMAT).option("paths", listed).load()
    writer = stream.writeStream.foreachBatch(follower.take).option(
        "checkpointLocation", str(folder / "spark")
    )
    query = (writer.trigger(availableNow=True) if once else writer.trigger(processingTime="1 second")).start()
    try:
        query.awaitTermination(None if once or seconds is None else int(seconds))
    finally:
        query.stop()
    return follower.latest()
