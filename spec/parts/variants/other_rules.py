"""Reads of several channels by other rules, and stronger promises: each has its own verdict."""

from tidemark.spec.language import (
    Bool,
    Map,
    all_of,
    everywhere,
    exists,
    forall,
    implies,
    invariant,
    ite,
    lemma,
    maximum,
    minimum,
    removed,
)
from tidemark.spec.parts import Parts


def accounts_for(s: Parts, q: Parts.Read, w: Parts.Write) -> Bool:
    """The answer shows the write: a row, unless deleted since; of a delete, no older row of its key."""
    no_older_row = forall(
        s.Write, lambda v: implies(s.seen[q, v] & (s.key[v] == s.key[w]), s.ts[v] >= s.ts[w])
    )
    deleted = exists(s.Write, lambda d: s.removes(d, w, s.moment[q, s.place(w)]))
    return ite(s.deletes[w], no_older_row, s.seen[q, w] | deleted)


class HopeOfOneMoment(Parts):
    """What an answer of several channels does not promise, as claims."""

    def is_of_one_moment(s, q: Parts.Read) -> Bool:
        return forall(
            s.Write,
            s.Write,
            lambda v, w: implies(
                all_of(
                    s.is_answered(q),
                    s.seen[q, w],
                    s.is_read(q, w),
                    s.is_read(q, v),
                    s.logged[v],
                    s.ts[v] <= s.ts[w],
                ),
                accounts_for(s, q, v),
            ),
        )

    @invariant(source="facts 6.1")
    def answers_are_of_one_moment(s) -> Bool:
        """An answer that shows a row shows each older write, on every channel that it asks."""
        return forall(s.Read, s.is_of_one_moment)

    @invariant(source="facts 6.1, 6.2: Strong")
    def strong_answers_are_of_one_moment(s) -> Bool:
        """The same of a read whose guarantee is the present time of the oracle."""
        return forall(s.Read, lambda q: implies(s.recent[q], s.is_of_one_moment(q)))


class OneMoment(HopeOfOneMoment):
    """A read names one moment for all its channels from the beginning: its guarantee."""

    ONE_MOMENT = True


class Greatest(Parts):
    """A further page names the greatest of the first one's moments for all channels."""

    peak: Map[Parts.Read, Parts.Ts] = everywhere(0)  # the greatest moment of a read so far

    def named(s, q: Parts.Read, c: Parts.Channel) -> Parts.Ts:
        return s.peak[s.first[q]]

    def look(s, q: Parts.Read, c: Parts.Channel, value: Parts.Ts) -> None:
        super().look(q, c, value)
        s.peak[q] = maximum(s.peak[q], value)

    def fail(s, q: Parts.Read) -> None:
        super().fail(q)
        s.peak[q] = 0


class Probe(Greatest):
    """The first page is a probe: it is discarded, and further pages are shown."""

    @invariant(source="facts 6.2; B40")
    def shown_pages_agree(s) -> Bool:
        """All pages behind one probe show the same rows of each channel."""
        return forall(
            s.Read,
            s.Read,
            s.Write,
            lambda p, q, w: implies(
                all_of(
                    s.is_answered(p) & s.is_answered(q),
                    s.is_further(p) & s.is_further(q),
                    s.first[p] == s.first[q],
                    s.is_read(p, w) & s.is_read(q, w),
                ),
                s.seen[p, w] == s.seen[q, w],
            ),
        )

    @invariant(source="facts 6.2; B40")
    def shown_pages_are_of_one_moment(s) -> Bool:
        """A page behind a probe that shows a row shows each older write, on all its channels."""
        return forall(
            s.Read,
            s.Write,
            s.Write,
            lambda q, v, w: implies(
                all_of(
                    s.is_answered(q) & s.is_further(q),
                    s.seen[q, w],
                    s.is_read(q, w) & s.is_read(q, v),
                    s.logged[v],
                    s.ts[v] <= s.ts[w],
                ),
                accounts_for(s, q, v),
            ),
        )

    @lemma(source="facts 6.2; B40")
    def peaks_are_the_greatest_moments(s) -> Bool:
        """No moment of a read is above its greatest one."""
        return forall(s.Read, s.Channel, lambda q, c: s.moment[q, c] <= s.peak[q])

    @lemma(source="facts 6.2; B40")
    def shown_pages_have_the_moment_of_the_probe(s) -> Bool:
        """A page behind a probe that has looked at a channel has the probe's greatest moment there."""
        return forall(
            s.Read,
            s.Channel,
            lambda q, c: implies(
                (s.part[q, c] != "none") & s.is_further(q), s.moment[q, c] == s.peak[s.first[q]]
            ),
        )


class Least(Probe):
    """Pages name the least moment of the probe."""

    peaks_are_the_greatest_moments = removed

    def look(s, q: Parts.Read, c: Parts.Channel, value: Parts.Ts) -> None:
        looked = exists(s.Channel, lambda d: s.part[q, d] != "none")
        Parts.look(s, q, c, value)
        s.peak[q] = ite(looked, minimum(s.peak[q], value), value)

    @invariant(source="facts 6.2; B40")
    def no_page_waits(s) -> Bool:
        """Every channel that a page asks has reached the moment that the page names."""
        return forall(
            s.Read,
            s.Channel,
            lambda q, c: implies(
                all_of(s.progress[q] == "sent", s.is_further(q), s.asks[q, c]), s.named(q, c) <= s.safe[c]
            ),
        )

    @lemma(source="facts 6.2; B40")
    def the_least_moment_reaches_the_guarantee(s) -> Bool:
        """It is between the guarantee and each moment of the probe."""
        return forall(
            s.Read,
            s.Channel,
            lambda q, c: implies(
                (s.part[q, c] != "none") & ~s.is_further(q),
                (s.guarantee[q] <= s.peak[q]) & (s.peak[q] <= s.moment[q, c]),
            ),
        )


class NamesNothing(Parts):
    """A further page names no moment, and is answered at the service times (for the proof that must fail)."""

    def named(s, q: Parts.Read, c: Parts.Channel) -> Parts.Ts:
        return ite(s.safe[c] >= s.guarantee[s.first[q]], s.safe[c], s.moment[s.first[q], c])
