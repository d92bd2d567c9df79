"""Lemmas and ranks: why no row is lost or stored twice however a channel moves."""

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
    rank,
)
from tidemark.spec.ownership.claims import OwnershipClaims


class Ownership(OwnershipClaims):
    """One virtual channel and its records: tenures of nodes, saves, checkpoints, drop, collection."""

    @rank("a_dropped_channel_is_collected")
    def what_a_collection_waits_for(s) -> Measure:
        """Segments: no further one is dropped, and none comes back, while the channel is dropped."""
        return each(s.Segment, lambda g: s.record[g] == "dropped")

    @helpful("a_dropped_channel_is_collected", action="collect_segment")
    def a_segment_is_collected(s, g: OwnershipClaims.Segment) -> HelpfulCase:
        return (s.life == "dropped") & (s.record[g] == "dropped"), (g,)

    @helpful("a_dropped_channel_is_collected", action="collect")
    def the_checkpoint_is_collected(s) -> HelpfulCase:
        return (s.life == "dropped") & forall(s.Segment, lambda g: s.record[g] != "dropped"), ()

    @lemma(source="hazard 22")
    def epochs_are_given_once(s) -> Bool:
        """No two tenures have one epoch, and none has one that was not given."""
        return forall(s.Tenure, lambda t: s.epoch_of[t] <= s.epoch) & forall(
            s.Tenure,
            s.Tenure,
            lambda t, u: implies((s.epoch_of[t] > 0) & (s.epoch_of[t] == s.epoch_of[u]), t == u),
        )

    @lemma(source="facts 10.4")
    def what_has_not_begun_is_empty(s) -> Bool:
        """A tenure that has not begun has sent no message."""
        return forall(
            s.Tenure,
            lambda t: implies(
                s.epoch_of[t] == 0,
                all_of(
                    ~s.alive[t],
                    ~s.asks[t],
                    s.read[t] == 0,
                    s.top[t] == 0,
                    forall(s.Segment, lambda g: (s.high[t, g] == 0) & (s.save[t, g] == "idle")),
                ),
            ),
        )

    @lemma(source="facts 7.2, 7.9")
    def positions_lie_in_the_log(s) -> Bool:
        """No position is beyond what a tenure could have read."""
        return all_of(
            implies(s.assigned, s.life == "living"),
            implies(s.life != "living", s.ended),
            implies(s.life == "living", s.start <= s.stored),
            s.start <= s.seen,
            s.stored <= s.seen,
            implies(s.ended, s.end == s.seen),
            forall(s.Tenure, lambda t: (s.top[t] <= s.read[t]) & (s.read[t] <= s.seen)),
            forall(s.Segment, lambda g: s.dml[g] <= s.seen),
            forall(
                s.Tenure, s.Segment, lambda t, g: (s.low[t, g] <= s.high[t, g]) & (s.high[t, g] <= s.seen)
            ),
        )

    @lemma(source="facts 10.2, 7.1")
    def rows_up_to_the_position_are_settled(s) -> Bool:
        """Every row up to its segment's recorded position is settled, and no row beyond it is recorded."""
        return forall(
            s.Position,
            lambda p: (
                implies(s.is_row(p) & (p <= s.dml[s.segment_of[p]]), s.is_settled(p))
                & implies(s.copies[p] >= 1, p <= s.dml[s.segment_of[p]])
            ),
        )

    @lemma(source="facts 7.6")
    def answered_saves_are_recorded(s) -> Bool:
        """A save that was taken is at or below the recorded position, or its segment is dropped."""
        return forall(
            s.Tenure,
            s.Segment,
            lambda t, g: implies(
                (s.low[t, g] < s.high[t, g]) & (s.save[t, g] != "sent"),
                (s.high[t, g] <= s.dml[g]) | (s.record[g] != "kept"),
            ),
        )

    @lemma(source="facts 7.5")
    def what_is_known_is_settled(s) -> Bool:
        """Every row that a tenure knows to be settled is settled, and so are all rows below its reports."""
        return forall(
            s.Tenure,
            s.Position,
            lambda t, p: implies(
                s.is_row(p) & ((p <= s.known(t, s.segment_of[p])) | (p <= s.top[t])), s.is_settled(p)
            ),
        )

    def is_last(s, t: OwnershipClaims.Tenure) -> Bool:
        return (s.epoch_of[t] > 0) & (s.epoch_of[t] == s.epoch)

    @lemma(source="facts 10.2; B19")
    def only_the_owner_records(s) -> Bool:
        """Beyond the knowledge of the last tenure only its own save is recorded."""
        return forall(
            s.Tenure,
            s.Segment,
            lambda t, g: implies(
                s.is_last(t),
                s.dml[g] <= ite(s.save[t, g] == "sent", s.low[t, g], s.high[t, g]),
            ),
        )

    @lemma(source="facts 7.9; hazard 14")
    def a_drop_that_is_taken_is_due(s) -> Bool:
        """When the last tenure asks for the drop, all rows are settled."""
        return forall(
            s.Tenure,
            s.Position,
            lambda t, p: implies(
                s.asks[t] & (s.epoch_of[t] == s.epoch),
                s.ended & implies(s.is_row(p), s.is_settled(p)),
            ),
        )
