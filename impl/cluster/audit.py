"""Compares the stored rows with the log: every row once, none twice, none invented.

A delete is a row of a level-zero segment. It stays stored if its binlog was dropped: the object still exists.
A row may be missing from a segment that was written anew, if the log has a newer delete of its key.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.ports import ObjectStore
from tidemark.impl.types import MetaSnapshot, Row
from tidemark.impl.values.messages import is_level_zero


@dataclass(frozen=True)
class Audit:
    """Rows of the log that are not stored, rows stored more than once, stored rows unknown to the log.

    ``problems`` are binlogs that cannot be read or that differ from their record.
    """

    expected: int
    missing: tuple[Row, ...]
    doubled: tuple[Row, ...]
    invented: tuple[Row, ...]
    problems: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Whether the store holds exactly the log. An empty log proves nothing."""
        findings = (self.missing, self.doubled, self.invented, self.problems)
        return self.expected > 0 and not any(findings)

    def describe(self) -> str:
        """The counts in one line."""
        return (
            f"{self.expected} rows in the log: {len(self.missing)} lost, {len(self.doubled)} doubled,"
            f" {len(self.invented)} invented, {len(self.problems)} damaged binlogs"
        )


async def audit(rows: Iterable[Row], snapshot: MetaSnapshot, store: ObjectStore) -> Audit:
    """Read every recorded binlog and count its rows against the log's."""
    expected = Counter(rows)
    stored: Counter[Row] = Counter()
    problems = []
    for segment in snapshot.segments:
        named: list[tuple[str, tuple[int, ...] | None]] = [(b.path, b.row_positions) for b in segment.binlogs]
        if is_level_zero(segment.segment_id):
            named += [(path, None) for path in segment.compaction.applied]
        for path, positions in named:
            try:
                found = await store.get(path)
            except (StoreError, CorruptDataError) as failure:
                problems.append(str(failure))
                continue
            if positions is not None and tuple(row.ts for row in found) != positions:
                problems.append(f"binlog {path} holds other rows than its record says")
            stored.update(found)
    missing = (expected - stored).elements()
    return Audit(
        expected=expected.total(),
        missing=tuple(row for row in missing if not _is_removed(row, expected, snapshot)),
        doubled=tuple(row for row, count in stored.items() if count > 1),
        invented=tuple(row for row in stored if row not in expected),
        problems=tuple(problems),
    )


def _is_removed(row: Row, every: Iterable[Row], snapshot: MetaSnapshot) -> bool:
    """Whether a rewriting of its segment may have left a row out."""
    rewritten = {one.segment_id for one in snapshot.segments if one.compaction.start}
    return row.segment_id in rewritten and any(
        is_level_zero(one.segment_id) and one.key == row.key and one.ts > row.ts for one in every
    )
