"""Inductive lemmas: why the repaired forms keep the claims for any size."""

from tidemark.spec.language import Bool, forall, implies, lemma
from tidemark.spec.paused.claims import PausedClaims


class Paused(PausedClaims):
    """Proxies with leases, one channel with its tick, segments that are flushed, a data node that crashes."""

    @lemma(source="facts 2.1")
    def timestamps_were_issued(s) -> Bool:
        """Ticks, seals and rows have timestamps of the oracle."""
        rows = forall(s.Row, lambda r: s.ts[r] <= s.issued)
        seals = forall(s.Segment, lambda g: s.sealed_at[g] <= s.issued)
        return (s.tick <= s.issued) & rows & seals

    @lemma(source="property W")
    def rows_of_live_proxies_are_above_the_tick(s) -> Bool:
        """The tick waits for every proxy that has a session."""
        return forall(s.Row, lambda r: implies((s.stage[r] == "stamped") & ~s.of_ended(r), s.ts[r] > s.tick))

    @lemma(source="facts 7.6")
    def rows_of_live_proxies_are_older_than_the_seal(s) -> Bool:
        """A proxy that has a session gives no row to a sealed segment."""
        return forall(
            s.Row,
            lambda r: implies(
                (s.stage[r] == "stamped") & ~s.of_ended(r) & (s.phase[s.segment[r]] != "growing"),
                s.ts[r] <= s.sealed_at[s.segment[r]],
            ),
        )

    @lemma(source="facts 7.6")
    def a_flushed_segment_lies_below_the_tick(s) -> Bool:
        """A flush waits for the tick."""
        return forall(s.Segment, lambda g: implies(s.phase[g] == "flushed", s.sealed_at[g] <= s.tick))

    @lemma(source="facts 3.1")
    def only_appended_rows_are_known(s) -> Bool:
        """Acknowledged, seen, copied and replayed rows are in the log."""
        return forall(
            s.Row,
            lambda r: implies(
                s.acknowledged[r] | s.seen[r] | s.replayed[r] | (s.copy[r] != "none"),
                s.stage[r] == "appended",
            ),
        )
