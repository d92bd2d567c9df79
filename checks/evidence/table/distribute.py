"""The event table as a Spark job: each piece of a file is parsed where a core is free, batch by batch.

A piece names a file; the executor opens it there, so that no line passes through the JVM. Files must be
reachable under the same path on every executor (one machine, or a shared folder).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

import pyarrow as pa

from tidemark.checks.evidence.table.files import Piece, Source, pieces
from tidemark.checks.evidence.table.plain import Evidence, account_for
from tidemark.checks.evidence.table.read import Account, read
from tidemark.checks.evidence.table.schema import SCHEMA, SPARK_SCHEMA, Row, batch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ACCOUNT = "account"
"""Kind of the rows that say how a piece was read; they are taken out before anybody sees the table."""

_PIECE_BYTES = 1 << 24


def event_frame(spark: SparkSession, work: Iterable[Piece]) -> DataFrame:
    """The events of all pieces, with a row of kind ``account`` a piece."""
    listed = [(json.dumps(asdict(piece)),) for piece in work]
    if not listed:
        return spark.createDataFrame([], SPARK_SCHEMA)
    spread = spark.createDataFrame(listed, "piece string").repartition(len(listed))
    return spread.mapInArrow(parse_pieces, SPARK_SCHEMA)


def parse_pieces(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Runs on the executors: pieces in, events out."""
    for one in batches:
        for text in one.column(0).to_pylist():
            yield from parse_piece(Piece(**json.loads(text)))


def parse_piece(piece: Piece) -> Iterator[pa.RecordBatch]:
    """The events of one piece, and last how it was read."""
    account = Account(piece.name)
    yield from read(piece, account)
    yield batch([Row(piece.name, piece.first_line, ACCOUNT, value=json.dumps(account.as_dict()))])


def accounts_of(frame: DataFrame) -> dict[str, Account]:
    """How each file was read."""
    from pyspark.sql import functions as spark_functions

    found = frame.where(spark_functions.col("kind") == ACCOUNT).select("source", "line", "value").collect()
    accounts: dict[str, Account] = {}
    for row in sorted(found):
        account_for(accounts, Account.from_dict(json.loads(row["value"])))
    return accounts


def spark_evidence(spark: SparkSession, sources: Iterable[Source], *, size: int = _PIECE_BYTES) -> Evidence:
    """The same as ``plain.gather``, by Spark, with the table brought here."""
    listed = tuple(sources)
    frame = event_frame(spark, pieces(listed, size=size)).cache()
    try:
        return Evidence.of(collected(frame), accounts_of(frame), listed)
    finally:
        frame.unpersist()


def collected(frame: DataFrame) -> pa.Table:
    """The events, brought here."""
    return pa.table(without_accounts(frame).toArrow()).cast(SCHEMA)


def without_accounts(frame: DataFrame) -> DataFrame:
    """The events alone."""
    from pyspark.sql import functions as spark_functions

    return frame.where(spark_functions.col("kind") != ACCOUNT)


def write_parquet(frame: DataFrame, path: str, *, parts: int) -> None:
    """The table on disk: what belongs to one component, channel and key stands in one file, in order."""
    arranged = frame.repartition(parts, "component", "channel", "key").sortWithinPartitions("source", "line")
    arranged.write.mode("overwrite").parquet(path)
