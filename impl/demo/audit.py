"""Compares what is stored with what the log says: every row once, none twice, none invented."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.ports import ObjectStore
from tidemark.impl.types import MetaSnapshot, Row


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
        for binlog in segment.binlogs:
            try:
                found = await store.get(binlog.path)
            except (StoreError, CorruptDataError) as failure:
                problems.append(str(failure))
                continue
            if tuple(row.ts for row in found) != binlog.row_positions:
                problems.append(f"binlog {binlog.path} holds other rows than its record says")
            stored.update(found)
    return Audit(
        expected=expected.total(),
        missing=tuple((expected - stored).elements()),
        doubled=tuple(row for row, count in stored.items() if count > 1),
        invented=tuple(row for row in stored if row not in expected),
        problems=tuple(problems),
    )
