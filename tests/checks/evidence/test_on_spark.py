"""The Spark job gives the table and the answers of one process, and a growing log is judged once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest
from rich.console import Console

from tests.checks.evidence import parts
from tests.checks.evidence.parts import fetched, message, sound, ts, write
from tidemark.checks.evidence.command import Options, finish, follow_evidence, read_and_judge
from tidemark.checks.evidence.follow import Memory, follow
from tidemark.checks.evidence.judge import history_answers, judge_evidence
from tidemark.checks.evidence.monitors.base import Answer
from tidemark.checks.evidence.monitors.distribute import judge_frame
from tidemark.checks.evidence.monitors.run import judge
from tidemark.checks.evidence.table.distribute import dealt, event_frame, piece_size, spark_evidence
from tidemark.checks.evidence.table.files import Piece, Sort, Source, find, pieces
from tidemark.checks.evidence.table.plain import gather, order
from tidemark.checks.evidence.table.schema import SCHEMA
from tidemark.checks.evidence.timeline import pictures
from tidemark.checks.verdicts.exit_codes import ExitCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with faults of several kinds, on two channels."""
    folder = sound(tmp_path / "run")
    other = [message(n, "tick", ts(100 * n), topic="by-dev-rootcoord-dml_1") for n in range(30)]
    other.append(message(30, "insert", ts(5), topic="by-dev-rootcoord-dml_1", rows=1, segment=9))
    write(folder / "broker-1.ndjson", other)
    log = folder / "logs" / "standalone.log"
    log.write_text(
        log.read_text() + "\n".join([fetched(1100, 7, ts(700)), "torn [2", parts.stored(1, 2)[:80], ""])
    )
    write(
        folder / "history-w2.ndjson", [parts.op(0, "query", 7000, level="Strong", client="w2", seen=[[1, 3]])]
    )
    write(folder / "history-u1.ndjson", upserts())
    return folder


def upserts() -> list[dict[str, Any]]:
    """One is lost, one row is counted twice; what a drop of a partition did is not known."""
    about = {"client": "u1", "collection": "d", "process": "p3"}
    return [
        parts.op(0, "upsert", 100, keys=[[1, 4]], **about),
        parts.op(1, "upsert", 200, keys=[[4, 6]], **about),
        parts.op(2, "query", 300, level="Strong", seen=[[1, 5]], **about),
        parts.op(3, "count", 400, level="Session", count=7, **about),
        parts.op(4, "drop_partition", 500, partition="p", **about),
        parts.op(5, "query", 600, level="Bounded", seen=[], **about),
        parts.op(6, "delete", 700, **about),
        parts.op(7, "count", 800, level="Strong", count=99, **about),
    ]


def test_the_table_is_the_same(run: Path, spark: SparkSession, tmp_path: Path) -> None:
    sources = find([run])
    plain = gather(sources)
    folder = tmp_path / "events"
    folder.mkdir()
    (folder / "part-09999.parquet").write_bytes(b"of an earlier run")
    spread = spark_evidence(spark, sources, folder, size=900)
    assert not [path for path in folder.iterdir() if not path.name.startswith("part-")]
    assert len(list(pieces(sources, size=900))) > 6
    assert order(spread.events.table()).equals(plain.events.table())
    assert spread.accounts == plain.accounts


def test_the_answers_are_the_same(run: Path, spark: SparkSession, tmp_path: Path) -> None:
    plain = spark_evidence(spark, find([run]), tmp_path / "events", size=900)
    frame = event_frame(spark, tmp_path / "events")
    found = {(one.monitor, one.property_id): one for one in judge_frame(frame, parts=3)}
    alone = judge(plain.events.table()) + history_answers(plain)
    assert found == {(one.monitor, one.property_id): one for one in alone}
    assert found["client-history", "history.count"].broken == 1
    (reason,) = found["client-history", "history.bounded"].unsure
    assert reason.startswith("1 delete by expression, 1 drop_partition, the first at history-u1.ndjson:5: ")
    assert {name for (name, _), one in found.items() if one.broken} >= {
        "broker-watermark", "log-watermark", "log-flushed-segment", "client-history",
    }  # fmt: skip


def test_breaches_of_all_partitions_are_counted(spark: SparkSession, tmp_path: Path) -> None:
    """Eight channels go back, the first once, the last eight times, whichever partition has them."""
    store = [
        parts.checkpoint(10 * step + number, ts(1000 - step), channel=f"channel-{number}")
        for number in range(1, 9)
        for step in range(number + 1)
    ]
    write(tmp_path / "run" / "etcd.ndjson", store)
    spark_evidence(spark, find([tmp_path / "run"]), tmp_path / "events")
    found = judge_frame(event_frame(spark, tmp_path / "events"), parts=3)
    (answer,) = [one for one in found if one.monitor == "store-checkpoint"]
    assert answer.broken == sum(range(1, 9))


def test_the_command_on_spark(run: Path, spark: SparkSession, tmp_path: Path) -> None:
    """The same verdicts, pictures and gaps as in one process; the table stays on disk."""
    found = {}
    for name, options in (
        ("plain", Options(build=tmp_path / "plain", spark=False)),
        ("spread", Options(build=tmp_path / "spread", spark=True, arrange=tmp_path / "arranged")),
    ):
        read, judged = read_and_judge([run], options)
        done = finish(read, judged, options=options, begun=0.0, name="run", replay="again")
        verdicts = [one.verdict for one in done.result.judgements]
        found[name] = (verdicts, pictures(read.events, judged.answers), [str(gap) for gap in judged.gaps])
        assert done.files[-1].exists()
    assert found["spread"] == found["plain"]
    assert len(found["plain"][1]) >= 2
    assert not (tmp_path / "spread" / "events.parquet").exists()
    back = pq.read_table(tmp_path / "arranged").cast(SCHEMA)
    assert order(back).equals(gather(find([run])).events.table())


def test_nothing_to_judge(spark: SparkSession, tmp_path: Path) -> None:
    assert spark_evidence(spark, [], tmp_path / "events").events.num_rows == 0
    assert judge_frame(event_frame(spark, tmp_path / "events"), parts=2) == []


def test_many_small_files_are_few_tasks() -> None:
    """A task costs tens of milliseconds, whatever it reads."""
    small = [Piece(path=str(n), name=str(n), sort="log", size=1000) for n in range(2000)]
    large = [Piece(path="x", name="x", sort="log", size=1 << 24)] * 3
    tasks = dealt([*small[:1000], *large, *small[1000:]])
    assert [piece for task in tasks for piece in task] == [*small[:1000], *large, *small[1000:]]
    assert len(tasks) <= 5
    assert len(dealt(large * 100)) <= 64
    assert dealt([]) == []


def test_pieces_fit_the_cores() -> None:
    """Each core has a few; a piece is never so small that the task costs more than the reading."""
    sources = [Source(path=Path("a"), name="a", sort=Sort.LOG, size=480 << 20)]
    assert [piece_size(sources, cores=cores) >> 20 for cores in (1, 2, 4, 64)] == [64, 60, 30, 8]
    assert piece_size([], cores=2) >> 20 == 8


def test_a_growing_log(run: Path, spark: SparkSession, tmp_path: Path) -> None:
    """Each batch goes on from the memory of the one before; unfinished lines wait for their end."""
    whole = {path: path.read_bytes() for path in run.rglob("*") if path.is_file()}
    counted: list[int] = []

    def say(answers: list[Answer]) -> None:
        counted.append(sum(one.events for one in answers))

    memory = Memory()
    for share in (0.5, 1.0, 1.0):
        for path, data in whole.items():
            path.write_bytes(data[: int(len(data) * share)])
        memory = follow(spark, [run], folder=tmp_path / "follow", say=say, once=True)
    assert counted == sorted(counted)
    assert len(counted) == 2  # nothing new, no batch
    expected = judge(gather(find([run])).events.table())
    assert {one.monitor: one.broken for one in memory.answers()} == {
        one.monitor: one.broken for one in expected
    }
    assert sum(one.events for one in memory.accounts.values()) == gather(find([run])).events.num_rows
    kept = sum(pq.read_metadata(path).num_rows for path in (tmp_path / "follow" / "events").glob("*"))
    assert kept == gather(find([run])).events.num_rows


def test_a_batch_that_is_repeated_counts_once(run: Path, spark: SparkSession, tmp_path: Path) -> None:
    """Killed after the judges and before Spark has noted the batch: Spark brings the batch again, and then
    what has come since.
    """
    folder, log = tmp_path / "follow", max(run.rglob("*.log"), key=lambda path: path.stat().st_size)
    whole = log.read_bytes()
    log.write_bytes(b"".join(whole.splitlines(keepends=True)[:3]))
    follow(spark, [run], folder=folder, say=lambda _: None, once=True)
    commits = folder / "spark" / "commits"
    (last,) = [path for path in commits.iterdir() if path.name == "0"]
    last.unlink()
    (commits / ".0.crc").unlink(missing_ok=True)
    log.write_bytes(whole)
    again: list[int] = []
    second = follow(spark, [run], folder=folder, say=lambda found: again.append(len(found)), once=True)
    assert len(again) == 2
    expected = follow(spark, [run], folder=tmp_path / "other", say=lambda _: None, once=True)
    assert second.answers() == expected.answers()
    counted = {name: one.counts.lines for name, one in expected.accounts.items()}
    assert {name: one.counts.lines for name, one in second.accounts.items()} == counted


def test_the_command_judges_histories_too(
    run: Path, spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A Strong read lacks rows that were acknowledged: only the client's history tells it."""
    lacking = parts.op(0, "query", 7500, level="Strong", client="w3", keys=[[1, 10]], seen=[[1, 2]])
    write(run / "history-w3.ndjson", [lacking])
    options = Options(build=tmp_path / "build", master=str(spark.sparkContext.master))
    status = follow_evidence([run], options=options, seconds=None, console=Console(width=200), once=True)
    assert status == ExitCode.UNEXPECTED_REFUTATION
    answers = judge_evidence(gather(find([run]))).answers
    told = {one.property_id for one in answers if one.broken and one.monitor == "client-history"}
    assert told
    out = capsys.readouterr().out
    assert [name for name in told if name not in out] == []
