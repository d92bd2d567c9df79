"""The recovery filter: drops replayed rows that its predecessor had stored beyond the checkpoint."""

from collections.abc import Mapping
from dataclasses import replace

from tidemark.impl.types import EndPosition, Pack, Row, SegmentId


class RecoveryFilter:
    """Drops replayed rows that are durable already, row by row.

    A segment's recorded position is the *end* of the last pack whose rows it holds. Rows at that position
    are stored, hence the comparison includes it.
    """

    def __init__(self, recorded: Mapping[SegmentId, EndPosition]) -> None:
        self.recorded = dict(recorded)

    def apply(self, pack: Pack) -> Pack:
        """The pack without the rows that are durable."""
        kept = tuple(row for row in pack.rows if not self._should_filter(row))
        return pack if len(kept) == len(pack.rows) else replace(pack, rows=kept)

    def _should_filter(self, row: Row) -> bool:
        recorded = self.recorded.get(row.segment_id)
        return recorded is not None and row.ts <= recorded.ts
