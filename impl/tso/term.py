"""A term of leadership as the leader itself sees it: it ends before the lease does."""

from tidemark.impl.errors import NotLeaderError
from tidemark.impl.tso.ports import Leadership, SteadyClock


class Term:
    """How long the leader may serve.

    The time is counted from before the request that began the lease was sent, so that the store's own count
    ends later. ``margin`` covers clocks that run at different rates, and the travel time of an answer.

    Attributes:
        leadership: what the store knows of this term.
        ended: why the term has ended; empty while it lasts.
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
        """Seconds left; negative after the end."""
        return self._until - self._steady.monotonic()

    def end(self, why: str) -> None:
        """Give up. The first reason is kept."""
        self.ended = self.ended or why

    def check(self) -> None:
        """Raise NotLeaderError if the term has ended. Expiry ends it for good."""
        if self.ended or self._steady.monotonic() >= self._until:
            self.end("the lease was not renewed in time")
            raise NotLeaderError(
                f"{self.leadership.server} does not lead: {self.ended}; ask the leader of the next term"
            )
