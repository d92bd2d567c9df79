"""The real system with one repair each, and without the flush: which rows are lost."""

from tidemark.spec.language import Bool, forall, implies, lemma
from tidemark.spec.paused import Paused


class Fenced(Paused):
    """The log refuses appends of a proxy after the end of its session (hazard 11)."""

    FENCED = True


class Leased(Paused):
    """A proxy answers no success after its session has ended (hazard 11)."""

    LEASED = True

    @lemma(source="hazard 11")
    def what_may_be_acknowledged_is_stored_by_a_flush(s) -> Bool:
        """A flush stores the rows of proxies that have a session, and those that were acknowledged."""
        return forall(
            s.Row,
            lambda r: implies(
                (s.stage[r] == "appended") & s.is_flushed(r) & (s.acknowledged[r] | ~s.of_ended(r)),
                s.copy[r] == "durable",
            ),
        )


class Refused(Paused):
    """An append that names a flushed segment is refused (hazard 17)."""

    REFUSED = True


class AboveTick(Paused):
    """The log refuses a row at or below the tick (hazard 11)."""

    ABOVE_TICK = True


class NoFlush(Paused):
    """No flush: late rows stay in the log, and come again (hazard 11)."""

    FLUSHES = False
