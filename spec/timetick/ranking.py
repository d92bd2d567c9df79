"""Why an open message ends, for any size: a measure, and the actions that lower it."""

from tidemark.spec.language import helpful, rank
from tidemark.spec.timetick.claims import TimeTickClaims


class TimeTickRanking(TimeTickClaims):
    """Sessions, reports, rounds and ticks of one root coordinator; the log refuses removed sources."""

    @rank("an_open_message_ends")
    def what_a_message_waits_for(s, m: TimeTickClaims.Message):
        """Its append."""
        return s.message[m] == "open"

    @helpful("an_open_message_ends", action="append")
    def it_is_appended(s, m: TimeTickClaims.Message):
        return (s.message[m] == "open") & ~s.refused(s.sender[m]), (m,)
