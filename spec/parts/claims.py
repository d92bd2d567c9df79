"""Claims about reads of several channels: the rows of pages and answers, channel by channel; witnesses.

It is *not* claimed that an answer of several channels is of one moment: each channel answers at its own. See
``spec/parts/variants``.
"""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    assumption,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    one_of,
    reachable,
    transition_invariant,
)
from tidemark.spec.parts.actions import PartsActions


class PartsClaims(PartsActions):
    """Writes, service times and reads of any number of channels; further pages."""

    # ---- facts about the constants ----

    @assumption(source="facts 6.2")
    def a_page_is_of_a_first_page(s) -> Bool:
        """The read that a further page names as its first page is no further page."""
        return forall(s.Read, lambda q: s.first[s.first[q]] == s.first[q])

    # ---- helpers ----

    def is_answered(s, q: PartsActions.Read) -> Bool:
        return s.progress[q] == "answered"

    def is_read(s, q: PartsActions.Read, w: PartsActions.Write) -> Bool:
        return s.asks[q, s.place(w)]

    # ---- safety ----

    @invariant(source="facts 6.2; B40; property R")
    def pages_show_what_the_first_has_shown(s) -> Bool:
        """A further page shows the same rows of each channel as the first page."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                s.is_answered(q) & s.is_read(q, w),
                s.seen[q, w] == s.seen[s.first[q], w],
            ),
        )

    @invariant(source="facts 6.2; B40")
    def pages_of_a_channel_are_of_one_moment(s) -> Bool:
        """All pages of an iterator are, on each channel, of the moment of the first page there."""
        return forall(
            s.Read,
            s.Channel,
            lambda q, c: implies(s.is_answered(q) & s.asks[q, c], s.moment[q, c] == s.moment[s.first[q], c]),
        )

    @invariant(source="facts 6.1, 6.2; property R")
    def every_channel_reaches_the_guarantee(s) -> Bool:
        """An answer reaches the guarantee on every channel; a further page reaches that of the first."""
        return forall(
            s.Read,
            s.Channel,
            lambda q, c: implies(s.is_answered(q) & s.asks[q, c], s.moment[q, c] >= s.guarantee[s.first[q]]),
        )

    @invariant(source="facts 6.1; property R")
    def every_channel_is_exact(s) -> Bool:
        """Of each channel an answer has exactly the rows that are visible at its moment there."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                s.is_answered(q) & s.is_read(q, w),
                s.seen[q, w] == s.is_visible(w, s.moment[q, s.place(w)]),
            ),
        )

    @invariant(source="seed 002, consistency; facts 6.2: Strong; property R")
    def recent_reads_reach_what_was_acknowledged(s) -> Bool:
        """A read whose guarantee is the present time of the oracle is, on every channel that it asks, of a
        moment at or above each write there that was acknowledged before it began.
        """
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                all_of(s.is_answered(q), s.recent[q], s.known[q, w], s.is_read(q, w)),
                s.moment[q, s.place(w)] >= s.ts[w],
            ),
        )

    @invariant(source="facts 6.1")
    def moments_were_issued(s) -> Bool:
        """No channel answers at a moment that the oracle has not issued."""
        return forall(s.Read, s.Channel, lambda q, c: s.moment[q, c] <= s.issued)

    @transition_invariant(source="facts 6.1")
    def answers_are_final(before, after: Self) -> Bool:
        """Answers do not change."""
        return forall(
            after.Read,
            after.Write,
            lambda q, w: implies(
                before.is_answered(q), after.is_answered(q) & (after.seen[q, w] == before.seen[q, w])
            ),
        )

    # ---- liveness ----

    @leads_to(source="facts 6.1; property WL")
    def a_read_ends(s, q: PartsActions.Read) -> tuple[Bool, Bool]:
        """A read gets its answer, or an error."""
        return s.progress[q] == "sent", one_of(s.progress[q], "answered", "failed")

    # ---- witnesses ----

    @reachable(after="finish", source="facts 6.1")
    def an_answer_is_of_two_moments(before, after: Self, q: PartsActions.Read) -> Bool:
        """An answer shows a row, and misses an older acknowledged one of another channel."""
        return exists(
            after.Write,
            after.Write,
            lambda v, w: all_of(
                after.seen[q, w],
                after.known[q, v],
                after.is_read(q, v),
                ~after.deletes[v],
                after.ts[v] < after.ts[w],
                after.ts[v] > after.moment[q, after.place(v)],
            ),
        )

    @reachable(after="finish", source="facts 6.2: Strong")
    def a_recent_read_shows_what_was_there(before, after: Self, q: PartsActions.Read) -> Bool:
        """A read with a recent guarantee shows a row that was acknowledged before."""
        return after.recent[q] & exists(after.Write, lambda w: after.known[q, w] & after.seen[q, w])

    @reachable(after="finish", source="facts 6.2; B40")
    def a_page_misses_what_has_come_since(before, after: Self, q: PartsActions.Read) -> Bool:
        """A further page does not show a row that was acknowledged before the page began."""
        return after.is_further(q) & exists(
            after.Write,
            lambda w: all_of(
                after.known[q, w],
                after.is_read(q, w),
                after.is_visible(w, after.safe[after.place(w)]),
                ~after.seen[q, w],
            ),
        )

    @reachable(after="raise_safe", source="facts 6.1")
    def a_read_waits_for_one_channel(
        before, after: Self, c: PartsActions.Channel, upto: PartsActions.Ts
    ) -> Bool:
        """A channel reaches the guarantee of a read when another has answered it."""
        return exists(
            after.Read,
            after.Channel,
            lambda q, d: all_of(
                after.progress[q] == "sent",
                after.asks[q, c],
                before.safe[c] < after.guarantee[q],
                upto >= after.guarantee[q],
                after.part[q, d] == "served",
            ),
        )

    @reachable(after="fail", source="facts 6.1")
    def a_read_fails_beside_an_answer(before, after: Self, q: PartsActions.Read) -> Bool:
        """One channel has answered, and the read fails."""
        return exists(before.Channel, lambda c: before.part[q, c] == "served")
