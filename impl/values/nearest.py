"""The rows of a search: those that are nearest to a place.

Rows have no vectors here: the key gives the distance. The rest of a search is as in the original: which rows
it may show, where its answer is cut, and how the answers of shards are reduced to one.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from tidemark.impl.types import Row


@dataclass(frozen=True)
class Nearest:
    """The ``limit`` rows whose keys are nearest to ``place``. Raises ValueError for a limit below 1."""

    place: int
    limit: int

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"the limit of a search is {self.limit}; ask for at least 1 row")

    def cut(self, rows: Iterable[Row]) -> tuple[Row, ...]:
        """The nearest of the rows, nearest first; of two at one distance the one with the smaller key. A key
        counts once, with its latest row.

        The rows must be visible: an invisible row must not take the place of another. The nearest of several
        cut parts are those of all rows.
        """
        latest = {row.key: row for row in sorted(rows, key=lambda row: row.ts)}
        return tuple(sorted(latest.values(), key=self._rank)[: self.limit])

    def _rank(self, row: Row) -> tuple[int, int]:
        return abs(row.key - self.place), row.key
