"""Named mutants of reads of several channels, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import (
    Bool,
    all_of,
    exists,
    forall,
    greatest,
    implies,
    ite,
    least,
    one_of,
    require,
)
from tidemark.spec.parts import Parts
from tidemark.spec.parts.variants.finer_steps import HandOver

SMALL = "parts-small"
TINY = "parts-tiny"
REFUSED = "parts-refused"


@mutant(killer="parts.pages_show_what_the_first_has_shown", source="B40", instance=SMALL)
class PagesNameNoMoment(Parts):
    """A further page reaches the guarantee of the first, and is answered at the service times."""

    def may_be_moment(s, q: Parts.Read, c: Parts.Channel, value: Parts.Ts) -> Bool:
        return (value <= s.safe[c]) & (value >= s.guarantee[s.first[q]])


@mutant(killer="parts.pages_show_what_the_first_has_shown", source="B40", instance=SMALL)
class PagesNameTheGreatestMoment(Parts):
    """A further page names the greatest moment of the first one for all channels: rows come that the first
    page has not shown.
    """

    def named(s, q: Parts.Read, c: Parts.Channel) -> Parts.Ts:
        f = s.first[q]
        return greatest(
            s.Ts,
            lambda t: exists(s.Channel, lambda d: s.asks[f, d] & (s.moment[f, d] == t)),
            upto=s.issued,
            default=0,
        )


@mutant(killer="parts.pages_of_a_channel_are_of_one_moment", source="B40", instance=SMALL)
class PagesNameTheLeastMoment(Parts):
    """A further page names the least moment of the first one for all channels: rows go that the first page
    has shown.
    """

    def named(s, q: Parts.Read, c: Parts.Channel) -> Parts.Ts:
        f = s.first[q]
        return least(
            s.Ts, lambda t: exists(s.Channel, lambda d: s.asks[f, d] & (s.moment[f, d] == t)), default=0
        )


@mutant(killer="parts.every_channel_reaches_the_guarantee", source="facts 6.1", instance=TINY)
class OneChannelReachesTheGuarantee(Parts):
    """The guarantee is waited for on one channel; the others answer as they are."""

    def may_be_moment(s, q: Parts.Read, c: Parts.Channel, value: Parts.Ts) -> Bool:
        reached = exists(s.Channel, lambda d: s.safe[d] >= s.guarantee[q])
        return (value <= s.safe[c]) & ite(s.is_further(q), value == s.named(q, c), reached)


@mutant(killer="parts.every_channel_reaches_the_guarantee", source="B40", instance=REFUSED)
class PagesAskOtherChannels(Parts):
    """A further page asks a channel that the first has not read, where it has no moment."""

    def begin_page(s, q: Parts.Read) -> None:
        require((s.progress[q] == "new") & s.is_further(q))
        require(s.progress[s.first[q]] == "answered")
        s.send(q)


@mutant(killer="parts.every_channel_is_exact", source="facts 6.1", instance=TINY)
class RowsOfNoMoment(Parts):
    """A channel sends what it has when the rows are collected, not what it had at its moment."""

    def collect(s, q: Parts.Read, w: Parts.Write) -> None:
        require(all_of(s.part[q, s.place(w)] == "reading", ~s.seen[q, w], s.logged[w]))
        s.seen[q, w] = True

    def is_whole(s, q: Parts.Read, c: Parts.Channel) -> Bool:
        return forall(
            s.Write,
            lambda w: implies((s.place(w) == c) & s.is_visible(w, s.moment[q, c]), s.seen[q, w]),
        )


@mutant(killer="parts.recent_reads_reach_what_was_acknowledged", source="facts 6.2: Strong", instance=TINY)
class SomeChannelsAreEnough(Parts):
    """A read is answered when one of its channels has answered."""

    def finish(s, q: Parts.Read) -> None:
        require(s.progress[q] == "sent")
        require(exists(s.Channel, lambda c: s.part[q, c] == "served"))
        s.progress[q] = "answered"


@mutant(killer="parts.recent_reads_reach_what_was_acknowledged", source="facts 6.2: Strong", instance=TINY)
class GuaranteeOfAnotherTime(Parts):
    """A read counts as recent whatever its guarantee."""

    def begin(s, q: Parts.Read, value: Parts.Ts) -> None:
        super().begin(q, value)
        s.recent[q] = True


@mutant(killer="parts.answers_are_final", source="facts 6.1", instance=TINY)
class AnswersAreTakenBack(Parts):
    """A read fails after it was answered."""

    def fail(s, q: Parts.Read) -> None:
        require(one_of(s.progress[q], "sent", "answered"))
        s.progress[q] = "failed"


@mutant(killer="parts.answers_are_final", source="facts 6.1", instance=TINY)
class RowsComeAfterTheAnswer(Parts):
    """A channel that has answered sends the rows that come later, too."""

    def collect(s, q: Parts.Read, w: Parts.Write) -> None:
        require(all_of(s.part[q, s.place(w)] != "none", ~s.seen[q, w], s.logged[w]))
        s.seen[q, w] = True


@mutant(killer="parts.a_read_ends", source="facts 4; seed 002, watermark", instance=TINY)
class IdleChannelsHaveNoTicks(Parts):
    """The service time of a channel rises only to its own writes: a read of an idle channel waits."""

    def raise_safe(s, c: Parts.Channel, upto: Parts.Ts) -> None:
        require(exists(s.Write, lambda w: all_of(s.place(w) == c, s.logged[w], s.ts[w] >= upto)))
        super().raise_safe(c, upto)


@mutant(
    killer="parts.every_channel_is_exact",
    source="facts 6.1, 6.3: growing and sealed segments",
    instance="parts-hand-over",
)
class RowsOfTwoReplicas(HandOver):
    """Rows of the old replica stay, and those of the new one are added: an answer of two moments."""

    def throw_away(s, q: HandOver.Read, c: HandOver.Channel) -> None:
        """They stay."""

    def is_whole(s, q: HandOver.Read, c: HandOver.Channel) -> Bool:
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

    def may_be_moment(s, q: HandOver.Read, c: HandOver.Channel, value: HandOver.Ts) -> Bool:
        moved = exists(s.Replica, lambda r: s.left[q, c, r])
        return super().may_be_moment(q, c, value) | (moved & ~s.is_further(q) & (value <= s.safe[c]))


@mutant(
    killer="parts.pages_show_what_the_first_has_shown",
    source="facts 6.3; B40",
    instance="parts-hand-over-pages",
)
class PagesForgetTheirMoment(HandOver):
    """The new replica answers a further page at its service time."""

    def may_be_moment(s, q: HandOver.Read, c: HandOver.Channel, value: HandOver.Ts) -> Bool:
        moved = exists(s.Replica, lambda r: s.left[q, c, r])
        return ite(
            moved & s.is_further(q),
            (value <= s.safe[c]) & (value >= s.guarantee[s.first[q]]),
            super().may_be_moment(q, c, value),
        )
