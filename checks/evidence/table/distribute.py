"""The event table as a Spark job: each piece of a file is parsed where a core is free.

A task opens its pieces itself and writes the events to a Parquet file of its own; neither a line nor an event
passes through the JVM. Only how each piece was read comes back. Files, and the folder of the table, must be
reachable under the same path on every executor (one machine, or a shared folder). A task that runs twice
writes the same file again.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from tidemark.checks.evidence.table.files import Piece, Source, pieces
from tidemark.checks.evidence.table.plain import Evidence, account_for
from tidemark.checks.evidence.table.read import Account, read
from tidemark.checks.evidence.table.schema import SCHEMA, SPARK_SCHEMA, Row, batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ACCOUNT = "account"
"""Kind of the rows that say how a piece was read, where events and accounts come together."""

LEAST_BYTES, MOST_BYTES = 1 << 23, 1 << 26
"""Size of a piece. A task costs Spark about 50 ms of a core, as much as the reading of 3 MiB."""
_TASKS_A_CORE = 4
_TASKS = 64
"""So many tasks are enough to keep cores at work: with more evidence the tasks become larger."""


def spark_table(
    spark: SparkSession, sources: Iterable[Source], folder: Path, *, size: int | None = None
) -> dict[str, Account]:
    """Parse the sources into Parquet files in ``folder``, which is emptied before; how each file was read.

    ``size`` is the size of a piece in bytes; left out, the sources are cut so that each core has a few.
    """
    sources = list(sources)
    if size is None:
        size = piece_size(sources, cores=spark.sparkContext.defaultParallelism)
    if folder.exists():
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    tasks = [
        [json.dumps(asdict(piece)) for piece in group]
        for group in dealt(pieces(sources, size=size), size=size)
    ]
    accounts: dict[str, Account] = {}
    if tasks:
        # Task n takes its own list: nothing has to be sent from partition to partition first.
        frame = spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(_Tasks(tasks, folder), "account string")
        for row in frame.collect():
            account_for(accounts, Account.from_dict(json.loads(row["account"])))
    return accounts


def piece_size(sources: Iterable[Source], *, cores: int) -> int:
    """Bytes of a piece, such that so many cores have a few each, and none is too small or too large."""
    share = sum(source.size for source in sources) // (_TASKS_A_CORE * max(cores, 1)) + 1
    return min(max(share, LEAST_BYTES), MOST_BYTES)


def dealt(work: Iterable[Piece], *, size: int = MOST_BYTES) -> list[list[Piece]]:
    """The pieces in lists of about the same number of bytes, a list a task; many small files are one."""
    listed = list(work)
    share = max(sum(piece.size for piece in listed) // _TASKS, size)
    tasks: list[list[Piece]] = []
    left = 0
    for piece in listed:
        if left <= 0:
            tasks.append([])
            left = share
        tasks[-1].append(piece)
        left -= piece.size
    return tasks


class _Tasks:
    """Runs on the executors: numbers of tasks in, accounts of their pieces out."""

    def __init__(self, tasks: list[list[str]], folder: Path) -> None:
        self.tasks, self.folder = tasks, str(folder.resolve())

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for one in batches:
            for number in one.column(0).to_pylist():
                found = self._do(number)
                texts = [json.dumps(account.as_dict()) for account in found]
                yield pa.RecordBatch.from_arrays([pa.array(texts, pa.string())], names=["account"])

    def _do(self, number: int) -> list[Account]:
        place = Path(self.folder) / f"part-{number:05d}.parquet"
        # Spark and a second attempt of this task see whole files only.
        fresh = place.with_name(f".{place.stem}-{os.getpid()}")
        accounts: list[Account] = []
        with pq.ParquetWriter(fresh, SCHEMA, compression="zstd") as writer:
            for text in self.tasks[number]:
                piece = Piece(**json.loads(text))
                accounts.append(Account(piece.name))
                for one in read(piece, accounts[-1]):
                    writer.write_batch(one)
        fresh.replace(place)
        return accounts


def event_frame(spark: SparkSession, folder: Path) -> DataFrame:
    """The table that ``spark_table`` has made."""
    return spark.read.schema(SPARK_SCHEMA).parquet(str(folder.resolve()))


def spark_evidence(
    spark: SparkSession, sources: Iterable[Source], folder: Path, *, size: int | None = None
) -> Evidence:
    """The same as ``plain.gather``, by Spark; the table is in ``folder`` too."""
    listed = tuple(sources)
    accounts = spark_table(spark, listed, folder, size=size)
    return Evidence.kept(folder, accounts, listed)


def parse_piece(piece: Piece) -> Iterator[pa.RecordBatch]:
    """The events of one piece, and last how it was read."""
    account = Account(piece.name)
    yield from read(piece, account)
    yield batch([Row(piece.name, piece.first_line, ACCOUNT, value=json.dumps(account.as_dict()))])


def write_parquet(frame: DataFrame, path: str, *, parts: int) -> None:
    """The table on disk: what belongs to one component, channel and key is in one file, in order."""
    arranged = frame.repartition(parts, "component", "channel", "key").sortWithinPartitions("source", "line")
    arranged.write.mode("overwrite").parquet(path)
