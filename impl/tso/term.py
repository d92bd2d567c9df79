"""A term of leadership as the leader itself sees it: it ends before the lease does."""

from __future__ import annotations

from tidemark.impl.errors import NotLeaderError
from tidemark.impl.tso.ports import Leadership, SteadyClock


class Term:
    """How long the leader may go on.

    The time is counted from before the request that began the lease was sent, so that the store's own count
    ends later. ``margin`` is for what this cannot see: clocks that run at different rates, and the way of an
    answer to the one who asked.

    Attributes:
        leadership: what the store knows of this term.
        ended: why the term is over; empty while it lasts.
    """

    __slots__ = ("_margin", "_steady", "_until", "ended", "leadership")

    def __init__(
        self, leadership: Leadership, *, steady: SteadyClock, asked_at: float, margin: float
    ) -> None:
        self.leadership = leadership
        self.ended = ""
        self._steady = steady
        self._margin = margin
        self.renewed(asked_at)

    def renewed(self, asked_at: float) -> None:
        """The lease was begun anew by a request that was sent at this time: later than those before."""
        self._until = asked_at + self.leadership.lease - self._margin

    def remaining(self) -> float:
        """Seconds to go; negative once they are over."""
        return self._until - self._steady.monotonic()

    def end(self, why: str) -> None:
        """Give up. The first reason is kept."""
        self.ended = self.ended or why

    def check(self) -> None:
        """Raise NotLeaderError if the term is over. Time that has run out ends it for good."""
        if self.ended or self._steady.monotonic() >= self._until:
            self.end("the lease was not renewed in time")
            raise NotLeaderError(
                f"{self.leadership.server} does not lead: {self.ended}; ask the leader of the next term"
            )
