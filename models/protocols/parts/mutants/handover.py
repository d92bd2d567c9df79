"""Named mutants of reads whose channels are answered by a second replica, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import exists, forall, implies, ite
from tidemark.spec.parts.variants.finer_steps import HandOver


@mutant(
    killer="parts.every_channel_is_exact",
    source="facts 6.1, 6.3: growing and sealed segments",
    instance="parts-hand-over",
)
class RowsOfTwoReplicas(HandOver):
    """Rows of the old replica stay, and those of the new one are added: an answer of two moments."""

    def throw_away(s, q, c):
        """They stay."""

    def is_whole(s, q, c):
        return forall(
            s.Write,
            lambda w: implies((s.place(w) == c) & s.is_visible(w, s.moment[q, c]), s.seen[q, w]),
        )


@mutant(
    killer="parts.recent_reads_reach_what_was_acknowledged",
    source="facts 6.3; B40",
    instance="parts-hand-over",
)
class AnyServiceTimeAfterwards(HandOver):
    """The new replica is asked without the guarantee."""

    def may_be_moment(s, q, c, value):
        moved = exists(s.Replica, lambda r: s.left[q, c, r])
        return super().may_be_moment(q, c, value) | (moved & ~s.is_further(q) & (value <= s.safe[c]))


@mutant(
    killer="parts.pages_show_what_the_first_has_shown",
    source="facts 6.3; B40",
    instance="parts-hand-over-pages",
)
class PagesForgetTheirMoment(HandOver):
    """The new replica answers a further page at its service time."""

    def may_be_moment(s, q, c, value):
        moved = exists(s.Replica, lambda r: s.left[q, c, r])
        return ite(
            moved & s.is_further(q),
            (value <= s.safe[c]) & (value >= s.guarantee[s.first[q]]),
            super().may_be_moment(q, c, value),
        )
