"""Segments at a query node: rows and deletes with their timestamps, and the visible rows of a moment."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator

from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import Row, SegmentId


class Segment:
    """Rows of one segment by key, and the timestamps of deletes of these keys. No row is overwritten: a key
    that is inserted, deleted and inserted again has two rows and a delete between them.

    rows: by key, without duplicates. deletes: by key, ascending.
    """

    def __init__(self, segment_id: SegmentId, rows: Iterable[Row] = ()) -> None:
        self.segment_id = segment_id
        self.rows: dict[int, list[Row]] = {}
        self.deletes: dict[int, list[Timestamp]] = {}
        for row in rows:
            self.insert(row)

    def insert(self, row: Row) -> None:
        """Take a row. A second copy of it changes nothing."""
        known = self.rows.setdefault(row.key, [])
        if row not in known:
            known.append(row)

    def delete(self, key: int, ts: Timestamp) -> None:
        """Take a delete, if the segment has the key. A second copy of it changes nothing."""
        if key not in self.rows:
            return
        known = self.deletes.setdefault(key, [])
        if ts not in known:
            insort(known, ts)

    def visible(self, moment: Timestamp, keys: tuple[int, ...] | None = None) -> Iterator[Row]:
        """The rows that are visible at a moment."""
        wanted = self.rows if keys is None else [key for key in dict.fromkeys(keys) if key in self.rows]
        for key in wanted:
            for row in self.rows[key]:
                if row.ts <= moment and not self.is_deleted(row, moment):
                    yield row

    def is_deleted(self, row: Row, moment: Timestamp) -> bool:
        """A delete of the key is newer than the row, and not newer than the moment."""
        deletes = self.deletes.get(row.key, [])
        first = bisect_left(deletes, row.ts + 1)
        return first < len(deletes) and deletes[first] <= moment
