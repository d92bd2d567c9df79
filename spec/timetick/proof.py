"""Lemmas and ranks: why the claims about the coordinator's time tick are true for any size."""

from tidemark.spec.language import Bool, HelpfulCase, Measure, all_of, forall, helpful, implies, lemma, rank
from tidemark.spec.timetick.claims import TimeTickClaims


class TimeTick(TimeTickClaims):
    """Sessions, reports, rounds and ticks of one root coordinator; the log refuses removed sources."""

    @rank("an_open_message_ends")
    def what_a_message_waits_for(s, m: TimeTickClaims.Message) -> Measure:
        """Its append."""
        return s.message[m] == "open"

    @helpful("an_open_message_ends", action="append")
    def it_is_appended(s, m: TimeTickClaims.Message) -> HelpfulCase:
        return (s.message[m] == "open") & ~s.refused(s.sender[m]), (m,)

    @lemma(source="facts 3.3")
    def promises_are_below_all_to_come(s) -> Bool:
        """A source's reported value for a channel is below all that it has still to append there."""
        return forall(
            s.Message,
            lambda m: implies(
                s.may_append(m) & (s.message[m] != "lost"),
                s.lies_above(m, s.promised[s.sender[m], s.channel_of[m]]),
            ),
        )

    @lemma(source="facts 4")
    def entries_are_below_all_to_come(s) -> Bool:
        """So does the report that the coordinator holds."""
        return forall(
            s.Message,
            lambda m: implies(
                s.may_append(m),
                s.lies_above(m, s.entry_ts[s.sender[m], s.channel_of[m]]),
            ),
        )

    @lemma(source="facts 4")
    def rounds_are_below_all_to_come(s) -> Bool:
        """So do the values of the queued round and of the one that is being sent."""
        return forall(
            s.Message,
            lambda m: implies(
                s.may_append(m),
                s.lies_above(m, s.queued_ts[s.channel_of[m]]) & s.lies_above(m, s.round_ts[s.channel_of[m]]),
            ),
        )

    @lemma(source="facts 2, 4")
    def nothing_is_above_issued(s) -> Bool:
        """Floors, timestamps, reports, rounds and ticks were issued."""
        return all_of(
            forall(s.Message, lambda m: (s.floor[m] <= s.issued) & (s.ts[m] <= s.issued)),
            forall(
                s.Source,
                s.Channel,
                lambda p, c: (s.promised[p, c] <= s.issued) & (s.entry_ts[p, c] <= s.issued),
            ),
            forall(
                s.Channel,
                lambda c: (s.queued_ts[c] <= s.issued) & (s.round_ts[c] <= s.issued),
            ),
        )

    @lemma(source="facts 3.4, 4")
    def sessions_are_in_step(s) -> Bool:
        """Known, serving and fenced sources agree with their leases in the store."""
        return all_of(
            implies(s.up, s.known[s.ddl]),
            s.session[s.ddl] == "none",
            ~s.serves[s.ddl],
            ~s.fenced[s.ddl],
            forall(
                s.Source,
                lambda p: all_of(
                    implies(s.known[p], s.up & ((p == s.ddl) | (s.session[p] != "none"))),
                    implies(s.fenced[p], (s.session[p] == "expired") & ~s.known[p]),
                    implies(s.serves[p], s.session[p] != "none"),
                    implies(s.entry[p], s.known[p]),
                ),
            ),
        )

    @lemma(source="facts 3.4, 4")
    def messages_begin_at_sources_that_serve(s) -> Bool:
        """A begun message belongs to a source that took writes."""
        return forall(
            s.Message,
            lambda m: implies(s.is_begun(m), s.takes_writes(s.sender[m])),
        )

    @lemma(source="hazard 12")
    def no_message_is_lost(s) -> Bool:
        """The outcome of every append is known."""
        return forall(s.Message, lambda m: s.message[m] != "lost")

    @lemma(source="facts 4")
    def no_tick_is_above_the_highest(s) -> Bool:
        """The greatest tick of a channel is the greatest."""
        return forall(s.Channel, lambda c: s.tick[c] <= s.highest[c])

    @lemma(source="facts 4; hazard 30")
    def the_last_tick_is_remembered(s) -> Bool:
        """Where ticks are compared, a running coordinator remembers the last one, or a later try."""
        return forall(
            s.Channel,
            lambda c: implies(
                s.MONOTONE & s.RESUMES,
                (s.tick[c] == s.highest[c]) & implies(s.up, s.tick[c] <= s.last[c]),
            ),
        )

    @lemma(source="facts 4")
    def what_is_idle_is_empty(s) -> Bool:
        """Finished messages, reports and rounds leave no state, nor does a dead coordinator."""
        return all_of(
            forall(
                s.Message,
                lambda m: all_of(
                    (s.message[m] == "asked") | (s.floor[m] == 0),
                    (s.message[m] == "open")
                    | (s.message[m] == "appended")
                    | (s.message[m] == "lost")
                    | (s.ts[m] == 0),
                ),
            ),
            forall(s.Channel, lambda c: s.up | (s.promised[s.ddl, c] == 0)),
            forall(s.Source, s.Channel, lambda p, c: s.entry[p] | (s.entry_ts[p, c] == 0)),
            forall(s.Channel, lambda c: s.queued | (s.queued_ts[c] == 0)),
            forall(s.Channel, lambda c: s.sending | (s.round_ts[c] == 0) & ~s.to_send[c]),
            s.up
            | ~s.queued
            & ~s.sending
            & forall(s.Source, lambda p: ~s.entry[p])
            & forall(s.Channel, lambda c: (s.last[c] == 0) & (s.synced[c] == 0)),
        )
