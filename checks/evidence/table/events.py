"""The event table as the judges ask for it: chosen kinds, chosen columns, a batch at a time.

The table is in memory, or in Parquet files that may be larger than memory. Whoever asks names the kinds and
the columns that it needs; nothing else is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds

from tidemark.checks.evidence.table.schema import SCHEMA

_BATCH_ROWS = 1 << 16
_BATCHES_AHEAD = 4
"""How many batches a scan reads before they are asked for: more costs memory and gains nothing here."""


class Events:
    """All events of some evidence.

    ``kinds`` names whole kinds (``broker.tick``), ``family`` all that begin alike (``broker``). Without
    either, every event is chosen.
    """

    def __init__(self, data: ds.Dataset) -> None:
        self._data = data
        self._counted: dict[str, int] | None = None

    @classmethod
    def in_memory(cls, table: pa.Table) -> Events:
        """The events of a table, in its order."""
        return cls(ds.dataset(table))

    @classmethod
    def in_folder(cls, folder: Path) -> Events:
        """The events in the Parquet files of a folder, file after file by name. None if it has no file."""
        files = [path.as_posix() for path in sorted(folder.glob("*.parquet"))]
        return cls(
            ds.dataset(files, schema=SCHEMA, format="parquet") if files else ds.dataset(SCHEMA.empty_table())
        )

    @property
    def num_rows(self) -> int:
        """Number of events."""
        return sum(self.kinds().values())

    def kinds(self) -> dict[str, int]:
        """How many events there are of each kind; counted once."""
        if self._counted is None:
            found: dict[str, int] = {}
            for batch in self.batches("kind"):
                for one in batch.column(0).value_counts().to_pylist():
                    found[one["values"]] = found.get(one["values"], 0) + one["counts"]
            self._counted = found
        return self._counted

    def batches(
        self,
        *columns: str,
        kinds: Sequence[str] = (),
        family: str = "",
        where: pc.Expression | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """The chosen events, in the order of the table, without ever holding all of them."""
        yield from self._scan(columns, kinds, family, where).to_batches()

    def table(
        self,
        *columns: str,
        kinds: Sequence[str] = (),
        family: str = "",
        where: pc.Expression | None = None,
    ) -> pa.Table:
        """The chosen events in memory: for what is small, or needs few columns."""
        return self._scan(columns, kinds, family, where).to_table()

    def distinct(
        self,
        *columns: str,
        kinds: Sequence[str] = (),
        family: str = "",
        where: pc.Expression | None = None,
    ) -> list[tuple[object, ...]]:
        """The different values (tuples, in the order of ``columns``) of the chosen events, sorted."""
        found: set[tuple[object, ...]] = set()
        for batch in self.batches(*columns, kinds=kinds, family=family, where=where):
            different = pa.Table.from_batches([batch]).group_by(list(columns)).aggregate([])
            found.update(zip(*(different.column(name).to_pylist() for name in columns), strict=True))
        return sorted(found, key=repr)

    def _scan(
        self, columns: Sequence[str], kinds: Sequence[str], family: str, where: pc.Expression | None
    ) -> ds.Scanner:
        chosen = where
        wanted = [pc.field("kind").isin(list(kinds))] if kinds else []
        wanted += [pc.starts_with(pc.field("kind"), f"{family}.")] if family else []
        for one in wanted:
            chosen = one if chosen is None else chosen & one
        return self._data.scanner(
            columns=list(columns) or None,
            filter=chosen,
            batch_size=_BATCH_ROWS,
            batch_readahead=_BATCHES_AHEAD,
            fragment_readahead=1,
        )
