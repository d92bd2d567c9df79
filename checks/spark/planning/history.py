"""The history of distributed searches: one row for each round, as Parquet that Spark SQL can query.

One file for each run of a search, written anew after each round under a name that Spark does not read, and
renamed: a search that is killed leaves its rounds.
"""

from __future__ import annotations

import os
import time
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from tidemark.checks.verdicts.errors import BadInputError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FOLDER = "history"
"""Below the build folder."""

VIEW = "rounds"
"""Name of the table in a query."""

RUNS = """
SELECT started, instance, count(*) AS rounds, count_if(on_spark) AS on_spark, max(distinct) AS distinct,
       round(sum(seconds), 1) AS seconds, round(sum(expanded) / sum(seconds)) AS states_per_s,
       round(sum(sent_bytes) / sum(frontier), 1) AS bytes_per_state, first(cores) AS cores,
       first(partitions) AS partitions
FROM rounds GROUP BY session, started, instance ORDER BY started
"""
"""One line for each run."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A round. ``session`` is one run of a search; ``run`` is shared by those that resumed it."""

    session: str
    run: str
    protocol: str
    instance: str
    master: str
    cores: int
    partitions: int
    words: int
    started: datetime
    finished: datetime
    depth: int
    expanded: int
    frontier: int
    distinct: int
    generated: int
    sent_bytes: int
    seconds: float
    on_spark: bool


_ARROW = {
    "str": pa.string(),
    "int": pa.int64(),
    "float": pa.float64(),
    "bool": pa.bool_(),
    "datetime": pa.timestamp("us", tz="UTC"),
}
SCHEMA = pa.schema([pa.field(item.name, _ARROW[str(item.type)], nullable=False) for item in fields(Row)])


class History:
    """Writes the rounds of one run. ``common`` are the columns that all its rounds share."""

    def __init__(self, folder: Path, **common: Any) -> None:
        self._started = datetime.now(UTC)
        self._session = uuid.uuid4().hex[:12]
        self._common: Mapping[str, Any] = {**common, "session": self._session, "started": self._started}
        self._rows: list[dict[str, Any]] = []
        folder.mkdir(parents=True, exist_ok=True)
        self.path = folder / f"{self._started:%Y%m%dT%H%M%S}-{self._session}.parquet"

    def add(self, **values: Any) -> None:
        """Add a round and write the file."""
        row = Row(**self._common, **values, finished=datetime.fromtimestamp(time.time(), UTC))
        self._rows.append(asdict(row))
        temporary = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        pq.write_table(pa.Table.from_pylist(self._rows, schema=SCHEMA), temporary)
        temporary.replace(self.path)


def query(spark: SparkSession, folder: Path, sql: str = RUNS) -> DataFrame:
    """The answer to a query over the view ``rounds``; see ``Row`` for its columns.

    Raises BadInputError if there is no history, or if Spark refuses the query.
    """
    from pyspark.errors import AnalysisException, ParseException

    if not any(folder.glob("*.parquet")):
        raise BadInputError(
            f"there is no history in {folder}",
            remedy="run  tidemark spark distribute  first, with the same --build",
        )
    spark.read.parquet(str(folder)).createOrReplaceTempView(VIEW)
    try:
        return spark.sql(sql)
    except (AnalysisException, ParseException) as error:
        first = str(error).strip().splitlines()[0]
        names = ", ".join(item.name for item in fields(Row))
        raise BadInputError(
            f"Spark refuses the query: {first}", remedy=f"the table {VIEW} has the columns {names}"
        ) from error
