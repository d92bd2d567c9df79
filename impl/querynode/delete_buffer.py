"""The deletes of a channel that later loads may need (facts 6.1; B34, B35, B37)."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from tidemark.impl.errors import DeletesTrimmedError
from tidemark.impl.timestamp import ZERO, Timestamp


class Delete(NamedTuple):
    """The rows of ``key`` that are older than ``ts`` are deleted."""

    ts: Timestamp
    key: int


class DeleteBuffer:
    """Deletes in order of arrival, above ``floor``; those at or below it may be missing."""

    def __init__(self, floor: Timestamp = ZERO) -> None:
        self.floor = floor
        self.kept: list[Delete] = []
        self._pins: Counter[Timestamp] = Counter()

    def put(self, delete: Delete) -> None:
        """Take a delete."""
        self.kept.append(delete)

    @contextmanager
    def pinned(self, since: Timestamp) -> Iterator[None]:
        """Keep deletes above ``since`` during the block. Raise DeletesTrimmedError if some are missing."""
        if since < self.floor:
            raise DeletesTrimmedError(
                f"a segment needs the deletes above {since}, and those up to {self.floor} were trimmed;"
                " load it with the level-zero segments that the coordinator knows now"
            )
        self._pins[since] += 1
        try:
            yield
        finally:
            self._pins -= Counter({since: 1})

    def trim(self, upto: Timestamp) -> None:
        """Drop deletes at or below ``upto``, which are in level-zero segments. Pinned ones stay."""
        floor = min([upto, *self._pins])
        if floor <= self.floor:
            return
        self.floor = floor
        self.kept = [delete for delete in self.kept if delete.ts > floor]

    def batch(self, since: Timestamp, done: int, size: int) -> tuple[list[Delete], int]:
        """The next deletes above ``since`` after ``done`` of them, and the new number. Empty at the end."""
        above = [delete for delete in self.kept if delete.ts > since]
        batch = above[done : done + size]
        return batch, done + len(batch)
