"""One page of an iterator: its rows and moments (facts 6.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tidemark.impl.proxy.reads import ReadAnswer
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName


@dataclass(frozen=True)
class Page:
    """A page of all rows of a collection, by key.

    limit: how many keys it shows at most. after: the greatest key of the page before; None for the first one.
    moments: the moment of the first page by channel; none for the first page.

    Raises ValueError for a limit below 1, and for a further page without moments: at the service times it
    would show rows that the first page lacks (B40).
    """

    limit: int
    after: int | None = None
    moments: Mapping[ChannelName, Timestamp] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"the limit of a page is {self.limit}; ask for at least 1 row")
        if (self.after is None) != (not self.moments):
            raise ValueError(
                f"a page after key {self.after} names the moments {dict(self.moments)}; a further page has "
                "both, the moments being those of the first page, and the first page has neither"
            )

    @property
    def first(self) -> ReadAnswer | None:
        """The moments of the first page, if this is a further one."""
        return ReadAnswer((), self.moments) if self.moments else None

    def cut(self, rows: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
        """The rows (key, value) of the page, out of all rows by key. All rows of one key are on one page."""
        rest = [row for row in rows if self.after is None or row[0] > self.after]
        keys = sorted(dict(rest))[: self.limit]
        return tuple(row for row in rest if row[0] in keys)
