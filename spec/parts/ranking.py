"""Why a read of several channels ends, for any number of them: a measure, and the actions that lower it."""

from tidemark.spec.language import all_of, each, forall, helpful, implies, ite, rank
from tidemark.spec.parts.claims import PartsClaims


class PartsRanking(PartsClaims):
    """Writes, service times and reads of any number of channels; further pages."""

    def has_to_look(s, q, c):
        return all_of(s.progress[q] == "sent", s.asks[q, c], s.part[q, c] == "none")

    def is_to_come(s, q, w):
        reading = (s.progress[q] == "sent") & (s.part[q, s.place(w)] == "reading")
        return all_of(reading, s.is_visible(w, s.moment[q, s.place(w)]), ~s.seen[q, w])

    @rank("a_read_ends")
    def what_a_read_waits_for(s, q: PartsClaims.Read):
        """Channels below its guarantee; those that have not looked; those with rows to come; the rows."""
        return (
            each(s.Channel, lambda c: s.has_to_look(q, c) & (s.safe[c] < s.guarantee[q])),
            each(s.Channel, lambda c: s.has_to_look(q, c)),
            each(s.Channel, lambda c: s.part[q, c] == "reading"),
            each(s.Write, lambda w: s.is_to_come(q, w)),
        )

    @helpful("a_read_ends", action="raise_safe")
    def a_channel_comes_to_the_guarantee(s, q: PartsClaims.Read, c: PartsClaims.Channel):
        return s.has_to_look(q, c) & (s.safe[c] < s.guarantee[q]), (c, s.guarantee[q])

    @helpful("a_read_ends", action="look")
    def a_channel_looks(s, q: PartsClaims.Read, c: PartsClaims.Channel):
        moment = ite(s.is_further(q), s.named(q, c), s.guarantee[q])
        return s.has_to_look(q, c) & (s.safe[c] >= s.guarantee[q]), (q, c, moment)

    @helpful("a_read_ends", action="collect")
    def a_row_comes(s, q: PartsClaims.Read, w: PartsClaims.Write):
        return s.is_to_come(q, w), (q, w)

    @helpful("a_read_ends", action="serve")
    def a_channel_is_done(s, q: PartsClaims.Read, c: PartsClaims.Channel):
        waits = (s.progress[q] == "sent") & (s.part[q, c] == "reading")
        return waits & s.is_whole(q, c), (q, c)

    @helpful("a_read_ends", action="finish")
    def the_answer_is_there(s, q: PartsClaims.Read):
        served = forall(s.Channel, lambda c: implies(s.asks[q, c], s.part[q, c] == "served"))
        return (s.progress[q] == "sent") & served, (q,)
