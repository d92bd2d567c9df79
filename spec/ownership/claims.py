"""Claims about the ownership of a virtual channel: safety, liveness, witnesses."""

from tidemark.spec.language import (
    Bool,
    Self,
    all_of,
    exists,
    forall,
    implies,
    invariant,
    leads_to,
    reachable,
    transition_invariant,
)
from tidemark.spec.ownership.actions import OwnershipActions


class OwnershipClaims(OwnershipActions):
    """One virtual channel and its records: tenures of nodes, saves, checkpoints, drop, collection."""

    # ---- safety ----

    @invariant(source="seed 001, GetCheckpoint; facts 10.1; property S")
    def checkpoint_before_earliest_unsettled(s) -> Bool:
        """The records have every row that the stored checkpoint claims, whichever node reported it."""
        return forall(
            s.Position,
            lambda p: implies(s.is_row(p) & (p <= s.stored), s.is_settled(p)),
        )

    @invariant(source="seed 001, recovery; B19; property 1")
    def stored_once(s) -> Bool:
        """No row is recorded twice."""
        return forall(s.Position, lambda p: s.copies[p] <= 1)

    @invariant(source="seed 001, recovery; property S")
    def nothing_is_lost(s) -> Bool:
        """A row is settled, or each tenure that has read it holds it."""
        return forall(
            s.Tenure,
            s.Position,
            lambda t, p: implies(s.is_row(p), s.is_settled(p) | (p > s.known(t, s.segment_of[p]))),
        )

    @invariant(source="hazard 22; B27")
    def one_tenure_is_taken(s) -> Bool:
        """The coordinator takes requests of one node, however many believe that they own the channel."""
        return forall(s.Tenure, s.Tenure, lambda t, u: implies(s.is_taken(t) & s.is_taken(u), t == u))

    @invariant(source="facts 10.2; B19", frame=True)
    def only_an_open_save_brings_rows(s) -> Bool:
        """A save whose answer its tenure has brings no row, however late it comes again."""
        return forall(
            s.Tenure,
            s.Segment,
            lambda t, g: implies(
                all_of(s.low[t, g] < s.high[t, g], s.high[t, g] > s.dml[g], s.record[g] == "kept"),
                s.save[t, g] == "sent",
            ),
        )

    @invariant(source="hazard 14; B30")
    def what_is_gone_has_no_checkpoint(s) -> Bool:
        """The checkpoint of a dropped channel does not come back."""
        return implies(s.life == "gone", ~s.has_checkpoint)

    @invariant(source="facts 10.1; B31", frame=True)
    def what_lives_has_a_checkpoint(s) -> Bool:
        """The checkpoint of a living channel is not collected."""
        return implies(s.life == "living", s.has_checkpoint)

    @transition_invariant(source="facts 7.9; hazard 14")
    def dropped_means_settled(before, after: Self) -> Bool:
        """When a channel is dropped, every row of its collection is settled already."""
        return implies(
            (before.life == "living") & (after.life != "living"),
            forall(before.Position, lambda p: implies(before.is_row(p), before.is_settled(p))),
        )

    @transition_invariant(source="facts 10.1; property M")
    def stored_never_goes_back(before, after: Self) -> Bool:
        """The stored checkpoint of a living channel never goes back."""
        return implies(after.life == "living", after.stored >= before.stored)

    @transition_invariant(source="facts 7.9, 10.1", frame=True)
    def dropped_stays_dropped(before, after: Self) -> Bool:
        """A dropped channel lives again only after its checkpoint was collected, as another collection's."""
        return implies((before.life != "living") & (after.life == "living"), before.life == "gone")

    @transition_invariant(source="facts 10.2", frame=True)
    def dropped_segments_stay_dropped(before, after: Self) -> Bool:
        """No save brings back the record of a dropped segment."""
        return forall(
            after.Segment,
            lambda g: implies(before.record[g] != "kept", after.record[g] != "kept"),
        )

    # ---- liveness ----

    @leads_to(source="facts 10.1; B31")
    def a_dropped_channel_is_collected(s) -> tuple[Bool, Bool]:
        """The checkpoint of a dropped channel is collected."""
        return s.life == "dropped", s.life != "dropped"

    # ---- witnesses ----

    @reachable(after="take", source="hazard 22")
    def a_node_comes_back(before, after: Self, t: OwnershipActions.Tenure) -> Bool:
        """A node is given the channel again after another has had it."""
        return exists(
            before.Tenure,
            before.Tenure,
            lambda u, v: all_of(
                before.epoch_of[u] > 0,
                before.epoch_of[u] < before.epoch_of[v],
                before.of[u] == before.of[t],
                before.of[v] != before.of[t],
            ),
        )

    @reachable(after="send", source="hazard 22; B27")
    def two_nodes_believe_to_own_it(before, after: Self, t: OwnershipActions.Tenure) -> Bool:
        """A tenure saves although another has followed it and saves as well."""
        return exists(
            before.Tenure,
            before.Segment,
            lambda u, g: all_of(
                before.alive[u], before.epoch_of[u] > before.epoch_of[t], before.save[u, g] == "sent"
            ),
        )

    @reachable(after="record_save", source="hazard 22")
    def a_save_of_the_dead(
        before, after: Self, t: OwnershipActions.Tenure, segment: OwnershipActions.Segment
    ) -> Bool:
        """A save brings rows after its sender has crashed."""
        return ~before.alive[t] & (after.dml[segment] > before.dml[segment])

    @reachable(after="record_save", source="facts 10.2")
    def a_save_of_a_dropped_segment(
        before, after: Self, t: OwnershipActions.Tenure, segment: OwnershipActions.Segment
    ) -> Bool:
        """A save comes after its segment was collected, and counts as done."""
        return (before.save[t, segment] == "sent") & (before.record[segment] == "collected")

    @reachable(after="collect", source="hazard 14")
    def a_node_outlives_the_channel(before, after: Self) -> Bool:
        """A node still has a report on the way when the checkpoint is collected."""
        return exists(before.Tenure, lambda t: before.alive[t] & (before.top[t] > 0))

    @reachable(after="create", source="hazard 14")
    def an_old_drop_is_on_the_way(before, after: Self) -> Bool:
        """A collection is created again while a request to drop the last one may still arrive."""
        return exists(before.Tenure, lambda t: before.asks[t] & (before.top[t] > 0))
