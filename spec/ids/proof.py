"""Inductive lemmas: why no id is given twice."""

from tidemark.spec.ids.claims import IdsClaims
from tidemark.spec.language import Bool, all_of, exists, forall, implies, lemma, one_of


class Ids(IdsClaims):
    """Batches of ids: asked for, answered, lost, given in runs; proxies that crash."""

    @lemma(source="seed 004, 6.0")
    def batches_are_apart(s) -> Bool:
        """No id is in two answers; the given ids of a batch are between its ends."""
        return forall(
            s.Batch,
            lambda b: all_of(
                implies(s.is_granted(b), (s.lowest[b] >= 1) & (s.lowest[b] <= s.next[b])),
                implies(s.is_granted(b), s.next[b] <= s.highest[b] + 1),
                implies(one_of(s.stage[b], "new", "asked"), ~s.is_granted(b)),
                implies(one_of(s.stage[b], "answered", "held"), s.is_granted(b)),
            ),
        ) & forall(
            s.Batch,
            s.Batch,
            lambda b, c: implies(
                all_of(b != c, s.is_granted(b), s.is_granted(c)), s.is_apart(b, s.lowest[c], s.highest[c])
            ),
        )

    @lemma(source="seed 004, 6.0")
    def an_id_is_of_a_batch(s) -> Bool:
        """A row has its id from a batch that has passed it."""
        return forall(s.Row, lambda r: implies(s.has[r], exists(s.Batch, lambda b: s.uses[r, b]))) & forall(
            s.Row,
            s.Batch,
            lambda r, b: implies(
                s.uses[r, b],
                all_of(
                    s.has[r],
                    one_of(s.stage[b], "held", "lost"),
                    s.is_granted(b),
                    s.lowest[b] <= s.id[r],
                    s.id[r] <= s.last[r],
                    s.last[r] < s.next[b],
                ),
            ),
        )
