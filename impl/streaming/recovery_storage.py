"""The recovery storage: the node's records of its log, the part still needed, and the start."""

from collections import Counter
from collections.abc import Sequence

from tidemark.impl.streaming.ports import CheckpointStore, Summary, TermLog
from tidemark.impl.streaming.transaction_messages import DataMessage
from tidemark.impl.streaming.values import Checkpoints
from tidemark.impl.types import SegmentId
from tidemark.impl.values.messages import rows_of


class RecoveryStorage:
    """Two checkpoints: the flusher's, below all messages to store, and that of the node's records.

    Recovery starts at the lesser one (B28), and the log is cut behind the lesser one.

    Attributes:
        saved: the checkpoints as they are stored.
        observed: the place up to which ``rows`` counts the rows of each segment.
        earliest: the place of the first begin of a transaction that is open there; None without one.
    """

    def __init__(self, *, store: CheckpointStore, log: TermLog) -> None:
        self.saved = Checkpoints()
        self.observed = 0
        self.rows: Counter[SegmentId] = Counter()
        self.earliest: int | None = None
        self._store = store
        self._log = log

    async def load(self) -> None:
        """Load the saved checkpoints."""
        self.saved, summary = await self._store.load()
        self.observed, self.rows = summary.place, Counter(summary.rows)

    def start(self) -> int:
        """Recovery reads the places behind this one."""
        return min(self.saved.flusher, self.saved.recovery)

    def observe(self, place: int, messages: Sequence[DataMessage], earliest: int | None = None) -> None:
        """Count the rows and deletes that a place completes, unless counted before the start.

        earliest: the begin of the first open transaction.
        """
        if place <= self.observed:
            return
        self.observed, self.earliest = place, earliest
        for message in messages:
            self.rows.update(row.segment_id for row in rows_of(message))

    async def move_flusher(self, upto: int) -> None:
        """All messages up to this place are stored."""
        if upto > self.saved.flusher:
            await self._store.save_flusher(upto)
            self.saved = Checkpoints(flusher=upto, recovery=self.saved.recovery)

    async def persist(self) -> None:
        """Save the records, and forget unneeded ones."""
        summary = Summary(self.observed, dict(self.rows), self.needed())
        if summary.start > self.saved.recovery:
            await self._store.save_recovery(summary)
            self.saved = Checkpoints(flusher=self.saved.flusher, recovery=summary.start)
        if self.start():
            await self._log.truncate(self.start())

    def needed(self) -> int:
        """The records are needed behind this place."""
        return self.observed if self.earliest is None else min(self.observed, self.earliest - 1)
