"""``--follow``: the monitors over files that grow, a batch at a time; their memory is a file."""

from __future__ import annotations

import json
import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from tidemark.checks.evidence.monitors.base import Answer, Monitor
from tidemark.checks.evidence.monitors.distribute import of_kinds
from tidemark.checks.evidence.monitors.run import MONITORS, judge, ordered, rows
from tidemark.checks.evidence.table.distribute import ACCOUNT
from tidemark.checks.evidence.table.events import Events
from tidemark.checks.evidence.table.plain import account_for, order, write
from tidemark.checks.evidence.table.read import Account
from tidemark.checks.evidence.table.schema import SCHEMA

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_LOOK = 1
"""Seconds between two looks whether the user has interrupted."""

Say = Callable[[list[Answer]], None]
"""Called after each batch with the answers so far."""


class Memory:
    """The monitors, what they remember, and how the files were read."""

    def __init__(self) -> None:
        self.monitors: list[Monitor] = [one() for one in MONITORS]
        self.accounts: dict[str, Account] = {}
        self.kinds: set[str] = set()
        self.reached: dict[str, dict[str, int]] = {}
        """Per monitor and key (``Monitor.by``) the greatest line that it has seen."""
        self.apart: set[str] = set()
        """Monitors some of whose events came too late for their order; they are judged at the end."""

    def feed(self, events: pa.Table) -> None:
        """Look at the next events."""
        for row in of_kinds(events, (ACCOUNT,)).column("value").to_pylist():
            account_for(self.accounts, Account.from_dict(json.loads(row)))
        self.kinds |= set(events.column("kind").unique().to_pylist()) - {ACCOUNT}
        for monitor in self.monitors:
            chosen = ordered(of_kinds(events, monitor.kinds), monitor.within)
            monitor.feed(rows(self._in_order(monitor, chosen), monitor.columns))

    def _in_order(self, monitor: Monitor, events: pa.Table) -> pa.Table:
        """Without what belongs before the events of an earlier batch: a second file of one topic, say."""
        if monitor.within == "source" or not events.num_rows:
            return events
        # The store has one order, the broker one in each channel.
        of_broker = pc.starts_with(events.column("kind"), "broker.")
        dealt = pc.fill_null(events.column(monitor.by or "channel").cast(pa.string()), "")
        keyed = events.append_column("of", dealt if monitor.by else pc.if_else(of_broker, dealt, ""))
        before, late = dict(self.reached.setdefault(monitor.name, {})), False
        spans = keyed.group_by("of").aggregate([("line", "min"), ("line", "max")])
        for span in spans.to_pylist():
            seen = before.get(span["of"], span["line_min"])
            late = late or span["line_min"] < seen
            self.reached[monitor.name][span["of"]] = max(seen, span["line_max"])
        if not late:
            return events
        self.apart.add(monitor.name)
        places = zip(keyed.column("of").to_pylist(), keyed.column("line").to_pylist(), strict=True)
        return events.filter(pa.array([line >= before.get(key, line) for key, line in places]))

    def answers(self, kept: Events | None = None) -> list[Answer]:
        """The answers of the monitors that have had something to judge.

        ``kept`` are all events so far: a monitor that some reached too late judges them once more, in order.
        """
        again = [one for one in MONITORS if kept is not None and one.name in self.apart]
        found = [one.close() for one in self.monitors if not (one.lacks(self.kinds) or type(one) in again)]
        if kept is not None and again:
            found += judge(kept.table(kinds=sorted({kind for one in again for kind in one.kinds})), again)
        return found

    def save(self, path: Path) -> None:
        """Write everything down, in one step."""
        document = {
            "monitors": {one.name: one.state() for one in self.monitors},
            "accounts": [one.as_dict() for one in self.accounts.values()],
            "kinds": sorted(self.kinds),
            "reached": self.reached,
            "apart": sorted(self.apart),
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
        made.kinds, made.apart = set(document["kinds"]), set(document.get("apart", ()))
        made.reached = document.get("reached", {})
        return made


class Follower:
    """What is done with each batch of events."""

    def __init__(self, folder: Path, say: Say) -> None:
        self.folder, self.say = folder, say
        self.taken = 0
        """Batches that were judged."""

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
        self.taken += 1
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
    from tidemark.checks.evidence.table.growing import FORMAT, GrowingFiles

    follower = Follower(folder, say)
    spark.dataSource.register(GrowingFiles)
    listed = json.dumps([str(path.resolve()) for path in paths])
    stream = spark.readStream.format(FORMAT).option("paths", listed).load()
    writer = stream.writeStream.foreachBatch(follower.take).option(
        "checkpointLocation", str(folder / "spark")
    )
    taken, end = -1, time.monotonic() + (math.inf if once or seconds is None else seconds)
    trigger = {"availableNow": True} if once else {"processingTime": "1 second"}
    with held_interrupts() as interrupted:
        # A query that finds a batch which was not finished repeats it, and leaves what has come since.
        while not interrupted and (taken < 0 or (once and follower.taken > taken)):
            taken = follower.taken
            query = writer.trigger(**trigger).start()
            try:
                while not interrupted and time.monotonic() < end and not query.awaitTermination(_LOOK):
                    pass
            finally:
                query.stop()
    if interrupted:
        raise KeyboardInterrupt
    return follower.latest()


@contextmanager
def held_interrupts() -> Iterator[list[int]]:
    """The first interrupt of the user is noted in the list, a second one is not held back.

    An exception within a call of Java would leave the connection unusable.
    """
    noted: list[int] = []

    def note(number: int, _frame: object) -> None:
        noted.append(number)
        signal.signal(signal.SIGINT, signal.default_int_handler)

    if threading.current_thread() is not threading.main_thread():
        yield noted
        return
    before = signal.signal(signal.SIGINT, note)
    try:
        yield noted
    finally:
        signal.signal(signal.SIGINT, before)
