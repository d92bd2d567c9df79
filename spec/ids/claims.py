"""Claims about ids in batches: safety and witnesses."""

from tidemark.spec.ids.actions import IdsActions
from tidemark.spec.language import Bool, Self, all_of, exists, forall, implies, invariant, reachable


class IdsClaims(IdsActions):
    """Batches of ids: asked for, answered, lost, given in runs; proxies that crash."""

    @invariant(source="seed 004, 6.0; seed 004, 6.6.1: globally unique")
    def ids_are_unique(s) -> Bool:
        """No two rows have one id, whichever proxies gave them, in spite of losses."""
        return forall(
            s.Row,
            s.Row,
            lambda q, r: implies(
                all_of(q != r, s.has[q], s.has[r]), (s.last[q] < s.id[r]) | (s.last[r] < s.id[q])
            ),
        )

    @reachable(after="give", source="seed 004, 6.0")
    def a_later_row_has_a_smaller_id(
        before, after: Self, b: IdsActions.Batch, r: IdsActions.Row, last: IdsActions.Key
    ) -> Bool:
        """Ids of two proxies are not in the order in which they are given."""
        return exists(before.Row, lambda q: before.has[q] & (before.id[q] > after.id[r]))

    @reachable(after="give", source="seed 004, 6.0")
    def a_batch_goes_on_where_another_ended(
        before, after: Self, b: IdsActions.Batch, r: IdsActions.Row, last: IdsActions.Key
    ) -> Bool:
        """A proxy gives from a second batch when the first is used up."""
        return exists(
            before.Batch,
            lambda c: all_of(
                c != b,
                before.by[c] == before.by[b],
                before.stage[c] == "held",
                before.next[c] > before.highest[c],
            ),
        )

    @reachable(after="give", source="seed 004, 6.0")
    def ids_of_a_lost_batch_are_left_out(
        before, after: Self, b: IdsActions.Batch, r: IdsActions.Row, last: IdsActions.Key
    ) -> Bool:
        """An id is given although a smaller granted one can no longer be given."""
        return exists(
            before.Batch,
            lambda c: all_of(
                before.stage[c] == "lost",
                before.is_granted(c),
                before.next[c] <= before.highest[c],
                before.highest[c] < after.id[r],
            ),
        )
