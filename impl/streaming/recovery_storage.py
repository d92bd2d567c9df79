"""The recovery storage: what the node knows of its log, up to where the log is needed, and where to start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tidemark.impl.streaming.ports import CheckpointStore, Summary, TermLog
from tidemark.impl.streaming.transaction_messages import DataMessage
from tidemark.impl.streaming.values import Checkpoints
from tidemark.impl.types import SegmentId
from tidemark.impl.values.messages import rows_of


class RecoveryStorage:
    """Two checkpoints: the flusher's, below what is not in object storage, and that of the node's records.

    Recovery starts at the lesser one (B28), and the log is cut behind the lesser one.

    Attributes:
        saved: the checkpoints as they are stored.
        observed: the place up to which ``rows`` counts the rows of each segment.
        earliest: the place of the first begin of a transaction that is not over there; None: there is none.
    """

    def __init__(self, *, store: CheckpointStore, log: TermLog) -> None:
        self.saved = Checkpoints()
        self.observed = 0
        self.rows: Counter[SegmentId] = Counter()
        self.earliest: int | None = None
        self._store = store
        self._log = log

    async def load(self) -> None:
        """Take up what was saved."""
        self.saved, summary = await self._store.load()
        self.observed, self.rows = summary.place, Counter(summary.rows)

    def start(self) -> int:
        """Recovery reads the places behind this one."""
        return min(self.saved.flusher, self.saved.recovery)

    def observe(self, place: int, messages: Sequence[DataMessage], earliest: int | None = None) -> None:
        """Count what a place completes, unless it was counted before the start. Deletes count, too.

        earliest: the begin of the first transaction that is not over.
        """
        if place <= self.observed:
            return
        self.observed, self.earliest = place, earliest
        for message in messages:
            self.rows.update(row.segment_id for row in rows_of(message))

    async def move_flusher(self, upto: int) -> None:
        """Everything up to this place is stored."""
        if upto > self.saved.flusher:
            await self._store.save_flusher(upto)
            self.saved = Checkpoints(flusher=upto, recovery=self.saved.recovery)

    async def persist(self) -> None:
        """Save the records, and forget what is needed no more."""
        summary = Summary(self.observed, dict(self.rows), self.needed())
        if summary.start > self.saved.recovery:
            await self._store.save_recovery(summary)
            self.saved = Checkpoints(flusher=self.saved.flusher, recovery=summary.start)
        if self.start():
            await self._log.truncate(self._cut())

    def needed(self) -> int:
        """The records go on behind this place."""
        return self.observed if self.earliest is None else min(self.observed, self.earliest - 1)

    def _cut(self) -> int:
        """The log is cut behind this place."""
        return min(self.saved.flusher, self.saved.recovery)
