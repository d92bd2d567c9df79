"""Growing files as a streaming data source of Spark: an offset is the number of bytes and lines per file.

Spark writes the offset of every batch into its checkpoint, so that a query that was stopped or killed goes
on where it was. A line is read when its end has been written.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

from tidemark.checks.evidence.table.distribute import parse_piece
from tidemark.checks.evidence.table.files import Piece, Sort, find
from tidemark.checks.evidence.table.packing import BLOCK
from tidemark.checks.evidence.table.schema import SPARK_SCHEMA

FORMAT = "tidemark_evidence"
"""Name of the source: ``spark.readStream.format(FORMAT).option("paths", '["folder"]')``."""

_UNSEEN = {"bytes": 0, "lines": 0}


class GrowingFiles(DataSource):
    """The events of files that grow, and of files that come to be below the given folders."""

    @classmethod
    def name(cls) -> str:
        """See ``FORMAT``."""
        return FORMAT

    def schema(self) -> str:
        """The columns of the event table."""
        return SPARK_SCHEMA

    def streamReader(self, schema: Any) -> DataSourceStreamReader:  # noqa: ARG002, N802 - Spark's interface
        """The reader of one query."""
        return GrowingReader(json.loads(self.options["paths"]))


class WorkItem(InputPartition):
    """One piece of one file."""

    def __init__(self, piece: str) -> None:
        super().__init__(piece)
        self.piece = piece


class GrowingReader(DataSourceStreamReader):
    """Finds out how far the files have grown, and reads what is new."""

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = [Path(path) for path in paths]

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802 - Spark's interface
        """Nothing has been read."""
        return {"files": "{}"}

    def latestOffset(self, start: dict[str, Any], limit: object) -> dict[str, Any]:  # noqa: ARG002, N802
        """The end of the last whole line of each file. A file is known by its number on the device: one that
        is renamed goes on, and one that takes its place, or that was cut, is another one.
        """
        known = json.loads(start["files"])
        for source in find([path for path in self.paths if path.exists()]):
            if source.sort in (Sort.LOG, Sort.LINES) and not source.packed:
                status = source.path.stat()
                key = f"{status.st_dev}:{status.st_ino}"
                while key in known and status.st_size < known[key]["bytes"]:
                    key += "'"
                name = source.name
                while key not in known and any(one["name"] == name for one in known.values()):
                    name += "~"
                before = known.get(key, {**_UNSEEN, "name": name})
                known[key] = {
                    **grown(source.path, before),
                    "path": str(source.path.resolve()),
                    "name": before["name"],
                    "sort": source.sort.value,
                    "header": source.header,
                }
        return {"files": json.dumps(known, sort_keys=True)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """A piece for each file that has grown."""
        before, after = json.loads(start["files"]), json.loads(end["files"])
        found: list[InputPartition] = []
        for key, place in after.items():
            old = before.get(key, _UNSEEN)
            if place["bytes"] > old["bytes"]:
                piece = Piece(
                    path=place["path"],
                    name=place["name"],
                    sort=place["sort"],
                    header=place.get("header", ""),
                    start=old["bytes"],
                    end=place["bytes"],
                    first_line=old["lines"] + 1,
                )
                found.append(WorkItem(json.dumps(asdict(piece))))
        return found

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Runs on an executor: the events of a piece."""
        assert isinstance(partition, WorkItem)
        yield from parse_piece(Piece(**json.loads(partition.piece)))


def grown(path: Path, before: dict[str, Any]) -> dict[str, Any]:
    """Bytes and lines up to the last end of a line."""
    start, lines = int(before["bytes"]), int(before["lines"])
    end = start
    with path.open("rb") as file:
        file.seek(start)
        while data := file.read(BLOCK):
            last = data.rfind(b"\n")
            if last >= 0:
                end = start + last + 1
                lines += data.count(b"\n")
            start += len(data)
    return {"bytes": end, "lines": lines}
