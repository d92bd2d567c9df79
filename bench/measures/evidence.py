"""Evidence: a log on Spark against one core, monitors, client histories, a topic that grows."""

import json
import math
import os
import threading
import time
from collections.abc import Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from tidemark.bench.made import operations, seconds_of_a_node, topic
from tidemark.bench.process import family_bytes, in_fresh_process
from tidemark.bench.sample import Sample, Side, cpu_rate, family_cpu, rate, seconds, value
from tidemark.bench.series import Goal, Measure, Plan, Row
from tidemark.checks.evidence.follow import follow
from tidemark.checks.evidence.histories.judge import judge_history
from tidemark.checks.evidence.histories.operations import COLUMNS, KINDS
from tidemark.checks.evidence.monitors.base import Answer
from tidemark.checks.evidence.monitors.distribute import judge_frame
from tidemark.checks.evidence.monitors.run import judge
from tidemark.checks.evidence.table.distribute import spark_table
from tidemark.checks.evidence.table.files import find
from tidemark.checks.evidence.table.plain import gather
from tidemark.checks.evidence.table.schema import SCHEMA

_BEGIN = 1_700_000_000_000


def write_log(path: str, *, lines: int) -> None:
    """A log in the form of a real one: mostly lines of no interest, one in twelve an event."""
    with Path(path).open("wb") as file:
        for second in seconds_of_a_node(0):
            written = second.splitlines(keepends=True)[:lines]
            file.writelines(written)
            lines -= len(written)
            if not lines:
                break


def write_logs(folder: Path, *, lines: int, files: int) -> None:
    """The same lines in so many files."""
    folder.mkdir(parents=True, exist_ok=True)
    whole = folder / "whole"
    write_log(str(whole), lines=lines)
    with whole.open(encoding="utf-8") as text:
        for number in range(files):
            with (folder / f"{number:05d}.log").open("w", encoding="utf-8") as file:
                file.writelines(islice(text, lines // files))
    whole.unlink()


def plain_log(*, path: str) -> Sample:
    """One process, one core, a loop over lines; a file or a folder of them."""
    begun, cpu = time.perf_counter(), time.process_time()
    read = gather(find([Path(path)]))
    lines = sum(account.counts.lines for account in read.accounts.values())
    return Sample(
        seconds=time.perf_counter() - begun,
        cpu_seconds=time.process_time() - cpu,
        counts={"lines": lines, "events": read.events.num_rows},
    )


def spark_log(*, path: str, cores: int, build: str) -> Sample:
    """The Spark job on so many cores; the session runs before the clock starts, and has read a small log."""
    from tidemark.checks.spark.session import spark_session, stop_session

    spark = spark_session(master=f"local[{cores}]", build=Path(build))
    try:
        small = Path(build) / "small.log"
        write_log(str(small), lines=2_000)
        for source, timed in ((small, False), (Path(path), True)):
            begun, used = time.perf_counter(), family_cpu()
            accounts = spark_table(spark, find([source]), Path(build) / "table")
            if timed:
                took, cpu = time.perf_counter() - begun, family_cpu() - used
        (account,) = accounts.values()
    finally:
        stop_session()
    return Sample(
        seconds=took,
        cpu_seconds=cpu,
        counts={"lines": account.counts.lines, "events": account.events},
    )


def broker_events(count: int, *, channels: int = 16) -> pa.Table:
    """Ticks and inserts of several channels, all in time; one in ten is a tick."""
    n = np.arange(count, dtype=np.int64)
    ticks = n // channels % 10 == 0
    ts = (_BEGIN + n // channels) << 18
    columns: dict[str, pa.Array] = {
        "source": pa.array(["broker.ndjson"] * count) if count < 1 else pa.repeat("broker.ndjson", count),
        "line": pa.array(n // channels),
        "kind": pa.DictionaryArray.from_arrays(
            pa.array(np.where(ticks, 0, 1).astype(np.int8)), pa.array(["broker.tick", "broker.insert"])
        ).cast(pa.string()),
        "channel": pa.DictionaryArray.from_arrays(
            pa.array((n % channels).astype(np.int8)), pa.array([f"dml_{one}" for one in range(channels)])
        ).cast(pa.string()),
        "ts": pa.array(np.where(ticks, ts - (1 << 18), ts)),
        "msg_id": pa.array(n // channels),
        "node": pa.repeat("1", count),
        "rows": pa.array(np.ones(count, dtype=np.int64)),
    }
    empty = pa.nulls(count)
    return pa.table([columns.get(field.name, empty).cast(field.type) for field in SCHEMA], schema=SCHEMA)


def plain_monitors(*, count: int) -> Sample:
    """All monitors over events in memory, in one process."""
    events = broker_events(count)
    begun, cpu = time.perf_counter(), time.process_time()
    found = judge(events)
    took, used = time.perf_counter() - begun, time.process_time() - cpu
    assert not any(one.broken for one in found)
    return Sample(
        seconds=took,
        cpu_seconds=used,
        counts={"events": count, "judged": sum(one.events for one in found)},
    )


def spark_monitors(*, count: int, cores: int, build: str) -> Sample:
    """The same on Spark, from Parquet on disk; the session runs before the clock starts."""
    import pyarrow.parquet as pq

    from tidemark.checks.spark.session import spark_session, stop_session

    folder = Path(build) / "events"
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(broker_events(count), folder / "events.parquet", row_group_size=1 << 18)
    spark = spark_session(master=f"local[{cores}]", build=Path(build))
    try:
        begun = time.perf_counter()
        found = judge_frame(spark.read.parquet(str(folder)), parts=2 * cores)
        took = time.perf_counter() - begun
    finally:
        stop_session()
    assert not any(one.broken for one in found)
    return Sample(seconds=took, counts={"events": count, "judged": sum(one.events for one in found)})


def history(*, count: int, folder: str) -> Sample:
    """Read a history from its file and judge it."""
    path = Path(folder) / "history.ndjson"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(one) + "\n" for one in operations(count))
    begun, cpu = time.perf_counter(), time.process_time()
    read = gather(find([path]))
    found = judge_history(read.events.table(*COLUMNS, kinds=KINDS))
    took, used = time.perf_counter() - begun, time.process_time() - cpu
    assert not any(one.broken or one.unsure for one in found)
    return Sample(
        seconds=took,
        cpu_seconds=used,
        counts={"operations": read.events.num_rows, "judged": sum(one.events for one in found)},
    )


def live(*, rate: int, seconds: float, build: str) -> Sample:
    """Follow a topic to which a thread writes so many messages a second, one of them late each second.

    Values: ``delay``, the greatest time from the line of a late message to its verdict, in seconds, after a
    quarter of the run; ``growth``, the memory of all processes at the end against that after this quarter.
    """
    from tidemark.checks.spark.session import spark_session, stop_session

    place = Path(build) / "live"
    (place / "in").mkdir(parents=True)
    written, delays, memory = list[float](), list[float](), list[int]()

    def write() -> None:
        with (place / "in" / "broker.ndjson").open("wb") as file:
            begun, blocks = time.monotonic(), topic(int(rate * _PAUSE), late=_is_late)
            for number, block in enumerate(islice(blocks, int(seconds / _PAUSE))):
                time.sleep(max(0.0, begun + number * _PAUSE - time.monotonic()))
                written.extend([time.monotonic()] * _is_late(number))
                file.write(block)
                file.flush()

    def say(answers: list[Answer]) -> None:
        broken = sum(one.broken for one in answers)
        delays.extend(time.monotonic() - one for one in written[len(delays) : broken])
        memory.append(family_bytes(os.getpid()))

    spark = spark_session(master="local[1]", build=Path(build))
    try:
        write_log(str(place / "small.log"), lines=2_000)
        follow(spark, [place / "small.log"], folder=place / "first", say=lambda _: None, once=True)
        used = family_cpu()
        writer = threading.Thread(target=write)
        writer.start()
        follow(spark, [place / "in"], folder=place / "follow", say=say, seconds=seconds)
        online = len(delays)  # the rest waits until Spark has started once more
        writer.join()
        follow(spark, [place / "in"], folder=place / "follow", say=say, once=True)
        used = family_cpu() - used
    finally:
        stop_session()
    assert len(delays) == len(written), f"{len(written)} late messages, {len(delays)} verdicts"
    return Sample(
        seconds=seconds,
        cpu_seconds=used,
        counts={"operations": rate * int(seconds)},
        values={
            "delay": max(delays[online // 4 : online], default=math.nan),
            "growth": memory[-1] / memory[len(memory) // 4],
        },
    )


_PAUSE = 0.1
"""Seconds between two blocks of messages."""


def _is_late(block: int) -> bool:
    """One block in a second has a late message."""
    return block % 10 == 9


NAME = "evidence"
CORES = 2
FOLLOW = "follow, local[1]"
PLAIN, SPARK = "a loop, one core", f"Spark, local[{CORES}]"


def run(plan: Plan) -> Iterator[Row]:
    """Lines, events and operations a second."""
    yield from _logs(plan)
    # The same lines in few and in many files: the memory must not grow with their number.
    lines, few, many = (20_000, 2, 40) if plan.quick else (1_000_000, 10, 2_000)
    sides = []
    for count in (few, many):
        folder = plan.scratch / f"files-{count}"
        write_logs(folder, lines=lines, files=count)
        work = partial(in_fresh_process, plain_log, path=str(folder))
        sides.append(Side(f"{count:,} files", work, subject="files"))
    series = plan.series(sides, measure=NAME, size=f"{lines:,} lines in few and in many files")
    yield series.row(sides[0].name, sides[0].name, peak, unit="bytes")
    yield series.row(
        sides[1].name, sides[1].name, peak, unit="bytes", against=sides[0].name, goal=Goal(at_most=1.2)
    )
    yield from _monitors(plan)
    yield from _histories(plan)
    yield from _live(plan)


def _logs(plan: Plan) -> Iterator[Row]:
    lines = 50_000 if plan.quick else 4_000_000
    path = plan.scratch / "synthetic.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    write_log(str(path), lines=lines)
    work = {
        PLAIN: partial(in_fresh_process, plain_log, path=str(path)),
        SPARK: partial(
            in_fresh_process, spark_log, family=True, path=str(path), cores=CORES, build=_build(plan)
        ),
    }
    sides = [Side(name, one, subject="log") for name, one in work.items()]
    series = plan.series(sides, measure=NAME, size=f"{lines:,} lines, one in twelve an event")
    note = "the session runs before the clock starts"
    yield series.row(PLAIN, PLAIN, rate("lines"), unit="lines/s")
    yield series.row(
        SPARK, SPARK, rate("lines"), unit="lines/s", against=PLAIN, goal=Goal(at_least=1.5), note=note
    )
    what = "Spark's processor time against a loop's: two cores at work win by twice this"
    yield series.row(SPARK, what, cpu_rate("lines"), unit="lines/s of a core", against=PLAIN)


def peak(sample: Sample) -> float:
    """Greatest memory of the process."""
    return float(sample.peak_bytes)


def _monitors(plan: Plan) -> Iterator[Row]:
    count = 100_000 if plan.quick else 10_000_000
    small = min(count, 1_000_000)
    core = plan.series(
        [Side(PLAIN, partial(in_fresh_process, plain_monitors, count=small))],
        measure=NAME,
        size=f"{small:,} events of 16 channels",
    )
    goal = Goal(at_least=1e5, unit="events/s of a core")
    yield core.row(PLAIN, "all monitors, a core", cpu_rate("events"), unit="events/s of a core", goal=goal)
    spread = partial(
        in_fresh_process, spark_monitors, family=True, count=count, cores=CORES, build=_build(plan)
    )
    series = plan.series([Side(SPARK, spread)], measure=NAME, size=f"{count:,} events of 16 channels")
    limit = Goal(at_most=180.0, unit="s")
    yield series.row(
        SPARK, f"all monitors, {SPARK}", seconds, unit="s", goal=limit, note="from Parquet on disk"
    )


def _histories(plan: Plan) -> Iterator[Row]:
    count = 5_000 if plan.quick else 1_000_000
    work = partial(in_fresh_process, history, count=count, folder=str(plan.scratch / "history"))
    series = plan.series([Side(PLAIN, work)], measure=NAME, size=f"{count:,} operations of 8 clients")
    limit = Goal(at_most=60.0, unit="s")
    yield series.row(PLAIN, "client histories, read and judged", seconds, unit="s", goal=limit)


def _live(plan: Plan) -> Iterator[Row]:
    a_second, duration = (2_000, 10.0) if plan.quick else (20_000, 120.0)
    work = partial(in_fresh_process, live, family=True, rate=a_second, seconds=duration, build=_build(plan))
    size = f"a topic that grows by {a_second:,} messages a second for {duration:.0f} s"
    series = plan.series([Side(FOLLOW, work)], measure=NAME, size=size)
    goal = Goal(at_least=2e4, unit="operations/s of a core")
    yield series.row(FOLLOW, FOLLOW, cpu_rate("operations"), unit="operations/s of a core", goal=goal)
    late = "from a late message to its verdict, at most"
    yield series.row(FOLLOW, late, value("delay"), unit="s", goal=Goal(at_most=2.0, unit="s"))
    what = "memory at the end against that after a quarter of the run"
    yield series.row(FOLLOW, what, value("growth"), unit="x", goal=Goal(at_most=1.2))


def _build(plan: Plan) -> str:
    return str(Path(plan.scratch) / "spark")


MEASURE = Measure(NAME, "Evidence: logs, monitors and client histories.", run)
