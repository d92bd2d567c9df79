"""Lemmas and ranks: why a channel shows the same rows at the same moment again."""

from tidemark.spec.language import (
    Bool,
    HelpfulCase,
    Measure,
    all_of,
    each,
    forall,
    helpful,
    implies,
    ite,
    lemma,
    one_of,
    rank,
)
from tidemark.spec.parts.claims import PartsClaims


class Parts(PartsClaims):
    """Writes, service times and reads of any number of channels; further pages."""

    def has_to_look(s, q: PartsClaims.Read, c: PartsClaims.Channel) -> Bool:
        return all_of(s.progress[q] == "sent", s.asks[q, c], s.part[q, c] == "none")

    def is_to_come(s, q: PartsClaims.Read, w: PartsClaims.Write) -> Bool:
        reading = (s.progress[q] == "sent") & (s.part[q, s.place(w)] == "reading")
        return all_of(reading, s.is_visible(w, s.moment[q, s.place(w)]), ~s.seen[q, w])

    @rank("a_read_ends")
    def what_a_read_waits_for(s, q: PartsClaims.Read) -> Measure:
        """Channels below its guarantee; those that have not looked; those with rows to come; the rows."""
        return (
            each(s.Channel, lambda c: s.has_to_look(q, c) & (s.safe[c] < s.guarantee[q])),
            each(s.Channel, lambda c: s.has_to_look(q, c)),
            each(s.Channel, lambda c: s.part[q, c] == "reading"),
            each(s.Write, lambda w: s.is_to_come(q, w)),
        )

    @helpful("a_read_ends", action="raise_safe")
    def a_channel_comes_to_the_guarantee(s, q: PartsClaims.Read, c: PartsClaims.Channel) -> HelpfulCase:
        return s.has_to_look(q, c) & (s.safe[c] < s.guarantee[q]), (c, s.guarantee[q])

    @helpful("a_read_ends", action="look")
    def a_channel_looks(s, q: PartsClaims.Read, c: PartsClaims.Channel) -> HelpfulCase:
        moment = ite(s.is_further(q), s.named(q, c), s.guarantee[q])
        return s.has_to_look(q, c) & (s.safe[c] >= s.guarantee[q]), (q, c, moment)

    @helpful("a_read_ends", action="collect")
    def a_row_comes(s, q: PartsClaims.Read, w: PartsClaims.Write) -> HelpfulCase:
        return s.is_to_come(q, w), (q, w)

    @helpful("a_read_ends", action="serve")
    def a_channel_is_done(s, q: PartsClaims.Read, c: PartsClaims.Channel) -> HelpfulCase:
        waits = (s.progress[q] == "sent") & (s.part[q, c] == "reading")
        return waits & s.is_whole(q, c), (q, c)

    @helpful("a_read_ends", action="finish")
    def the_answer_is_there(s, q: PartsClaims.Read) -> HelpfulCase:
        served = forall(s.Channel, lambda c: implies(s.asks[q, c], s.part[q, c] == "served"))
        return (s.progress[q] == "sent") & served, (q,)

    @lemma(source="facts 6.1")
    def moments_may_be_answered(s) -> Bool:
        """The moment of a channel that has looked is one that it may answer the read at."""
        return forall(
            s.Read,
            s.Channel,
            lambda q, c: implies(s.part[q, c] != "none", s.may_be_moment(q, c, s.moment[q, c])),
        )

    @lemma(source="facts 4, 6.1")
    def service_times_were_issued(s) -> Bool:
        """The service times of the channels come from the oracle, and so do the guarantees of the reads."""
        return forall(s.Channel, lambda c: s.safe[c] <= s.issued) & forall(
            s.Read, lambda q: s.guarantee[q] <= s.issued
        )

    @lemma(source="facts 6.1")
    def parts_are_of_reads(s) -> Bool:
        """A channel that has looked was asked by a read that has not failed; answers have all channels."""
        return forall(
            s.Read,
            s.Channel,
            lambda q, c: all_of(
                implies(s.part[q, c] != "none", s.asks[q, c] & one_of(s.progress[q], "sent", "answered")),
                implies((s.progress[q] == "answered") & s.asks[q, c], s.part[q, c] == "served"),
            ),
        )

    @lemma(source="facts 6.1")
    def rows_are_visible_at_their_moment(s) -> Bool:
        """Rows come from channels that have looked, and are visible there; a served channel lacks none."""
        rows = forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                s.seen[q, w],
                (s.part[q, s.place(w)] != "none") & s.is_visible(w, s.moment[q, s.place(w)]),
            ),
        )
        served = forall(s.Read, s.Channel, lambda q, c: implies(s.part[q, c] == "served", s.is_whole(q, c)))
        return rows & served

    @lemma(source="facts 6.2; B40")
    def pages_follow_an_answer(s) -> Bool:
        """The first page of a further one was answered, and has read its channels."""
        return forall(
            s.Read,
            s.Channel,
            lambda q, c: implies(
                all_of(one_of(s.progress[q], "sent", "answered"), s.is_further(q)),
                (s.progress[s.first[q]] == "answered") & implies(s.asks[q, c], s.asks[s.first[q], c]),
            ),
        )

    @lemma(source="facts 6.2: Strong")
    def what_is_known_was_issued(s) -> Bool:
        """A write that was acknowledged before a read with a recent guarantee began is at or below it."""
        return all_of(
            forall(s.Write, lambda w: s.ts[w] <= s.issued),
            forall(
                s.Read,
                s.Write,
                lambda q, w: implies(
                    s.known[q, w], s.logged[w] & implies(s.recent[q], s.ts[w] <= s.guarantee[q])
                ),
            ),
        )

    @lemma(source="facts 6.2")
    def a_guarantee_is_of_a_first_page(s) -> Bool:
        """A further page has no guarantee of its own."""
        return forall(s.Read, lambda q: implies(s.is_further(q), ~s.recent[q] & (s.guarantee[q] == 0)))
