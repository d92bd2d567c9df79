"""Harmless deviations from the DDL minimum: the holding halves of the pairs."""

from tidemark.spec.ddl import Ddl
from tidemark.spec.language import removed, require


class CountedLate(Ddl):
    """A job is counted after it has its timestamp, but under the lock: the loop waits (B11, B47)."""

    COUNT_FIRST = False


class NoCounter(Ddl):
    """The loop does not look at the counter and always waits for the lock: slow, and as safe (facts 4)."""

    read_last = removed

    def look(s) -> None:
        require(s.loop == "idle")
        s.loop = "free"
