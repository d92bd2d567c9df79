"""Ticks that promise nothing, and answers of the moment that a read asks for: what each level keeps."""

from tidemark.spec.language import Bool, all_of, exists, forall, implies, invariant, ite, lemma
from tidemark.spec.reads import Reads
from tidemark.spec.reads.variants.other_rules import WritesAlone


class InRows(Reads):
    """What levels and pages promise of moments, said of rows."""

    def keeps(s, a: Reads.Read, b: Reads.Read) -> Bool:
        """The later answer has each row of the earlier one that no delete has removed since."""
        return forall(s.Write, lambda w: implies(s.seen[a, w], s.accounts_for(b, w)))

    def follows(s, a: Reads.Read, b: Reads.Read, level: Reads.Level) -> Bool:
        return all_of(s.precedes[a, b], s.is_answered(b), s.level[b] == level)

    @invariant(source="seed 002, consistency; facts 6.2: Strong")
    def strong_keeps_what_was_shown(s) -> Bool:
        """A strong read shows again what any answer has shown before it began."""
        return forall(s.Read, s.Read, lambda a, b: implies(s.follows(a, b, "strong"), s.keeps(a, b)))

    @invariant(source="seed 002, consistency; facts 6.2: Session")
    def session_keeps_what_was_shown(s) -> Bool:
        """A session read shows again what its client was shown before it began."""
        return forall(
            s.Read,
            s.Read,
            lambda a, b: implies(s.follows(a, b, "session") & (s.reader[a] == s.reader[b]), s.keeps(a, b)),
        )

    @invariant(source="facts 6.2; B40")
    def pages_show_the_same_rows(s) -> Bool:
        """All pages of an iterator, and all parts of a request, show the same rows."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                s.is_answered(q) & (s.level[q] == "page"), s.seen[q, w] == s.seen[s.first[q], w]
            ),
        )


class TicksPromiseNothing(InRows):
    """A tick does not wait for what is under way, and a late write is applied when it comes."""

    def is_below_all_to_come(s, value: Reads.Ts) -> Bool:
        return value <= s.issued

    def was_there(s, q: Reads.Read, w: Reads.Write) -> Bool:
        """The write was acknowledged, or shown, before the read began."""
        return s.known[q, w] | exists(s.Read, lambda a: s.precedes[a, q] & s.seen[a, w])

    @lemma(source="facts 6.1")
    def what_is_shown_is_a_row_of_the_log(s) -> Bool:
        """Rows of answers are in the log, at or below the moment of the answer."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                s.seen[q, w],
                all_of(s.is_answered(q), s.stage[w] == "logged", ~s.deletes[w], s.ts[w] <= s.moment[q]),
            ),
        )

    @lemma(source="seed 002, consistency; facts 6.2: Strong")
    def ticks_behind_a_strong_read_have_what_was_there(s) -> Bool:
        """What was there when a strong read began lies in the log before each tick above that time."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                (s.level[q] == "strong") & s.was_there(q, w),
                all_of(
                    s.stage[w] == "logged",
                    s.ts[w] <= s.began[q],
                    forall(s.Replica, lambda r: implies(s.safe[r] > s.began[q], s.applied[r, w])),
                ),
            ),
        )

    @lemma(source="seed 002, consistency; facts 6.2: Strong")
    def strong_answers_have_what_was_there(s) -> Bool:
        """A strong answer has it, or a delete that is applied has removed it."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                all_of(s.is_answered(q), s.level[q] == "strong", s.was_there(q, w)), s.has_applied(q, w)
            ),
        )

    def has_applied(s, q: Reads.Read, w: Reads.Write) -> Bool:
        no_older_row = forall(s.Write, lambda v: implies(s.seen[q, v], ~s.removes(w, v, s.moment[q])))
        removed = exists(s.Write, lambda d: (s.stage[d] == "logged") & s.removes(d, w, s.moment[q]))
        return ite(s.deletes[w], no_older_row, s.seen[q, w] | removed)


class AtTheGuarantee(InRows):
    """An answer is of the moment of its guarantee, and not of the service time."""

    def timestamp_of_answer(s, q: Reads.Read) -> Reads.Ts:
        return s.guarantee[q]


class AtTheGuaranteeOfWrites(WritesAlone):
    """The same of session reads, whose client carries the timestamps of its writes alone."""

    def timestamp_of_answer(s, q: Reads.Read) -> Reads.Ts:
        return s.guarantee[q]
