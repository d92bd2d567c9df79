"""The opening example of seed 002: two clients, one event after the other, every answer as on one machine.

Any script of writes and strong reads can be given: ``write_turn`` and ``read_turn`` say when each happens. An
event begins when the one before it was acknowledged or answered. In each variant one layer is missing.
"""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Set,
    TypeAlias,
    all_of,
    any_of,
    assumption,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    invariant,
    ite,
    lemma,
    one_of,
    other_parameters,
    removed,
    require,
)
from tidemark.spec.reads import Reads
from tidemark.spec.reads.variants.other_rules import StrongReads


class OneAfterTheOther(StrongReads):
    """Writes and strong reads in a fixed order, each after the end of the one before."""

    Turn: TypeAlias = Nat

    fail_write = removed
    stop = removed
    cancel = removed

    write_turn: Map[Reads.Write, Turn] = constant()
    read_turn: Map[Reads.Read, Turn] = constant()
    expected: Set[Reads.Read, Reads.Write] = constant()
    turn: Turn = 0

    @assumption(source="seed 002, opening example")
    def events_have_turns_of_their_own(s) -> Bool:
        """No two events happen at the same time."""
        return all_of(
            forall(s.Write, s.Write, lambda v, w: (v == w) | (s.write_turn[v] != s.write_turn[w])),
            forall(s.Read, s.Read, lambda a, b: (a == b) | (s.read_turn[a] != s.read_turn[b])),
            forall(s.Read, s.Write, lambda q, w: s.read_turn[q] != s.write_turn[w]),
        )

    @assumption(source="seed 002, opening example")
    def one_machine_would_answer_as_expected(s) -> Bool:
        """A row is expected if it was inserted before the read, and its key not deleted in between."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: (
                s.expected[q, w]
                == all_of(
                    ~s.deletes[w],
                    s.write_turn[w] < s.read_turn[q],
                    ~exists(s.Write, lambda d: s.deletes_between(d, w, q)),
                )
            ),
        )

    def deletes_between(s, d: Reads.Write, w: Reads.Write, q: Reads.Read) -> Bool:
        """The delete ``d`` of the key of ``w`` happens after it, and before the read."""
        return all_of(
            s.deletes[d],
            s.key[d] == s.key[w],
            s.write_turn[w] < s.write_turn[d],
            s.write_turn[d] < s.read_turn[q],
        )

    def ask_write(s, w: Reads.Write) -> None:
        require(s.turn == s.write_turn[w])
        super().ask_write(w)

    def acknowledge(s, w: Reads.Write) -> None:
        super().acknowledge(w)
        s.turn = s.turn + 1

    def begin_strong(s, q: Reads.Read) -> None:
        require(s.turn == s.read_turn[q])
        super().begin_strong(q)

    def answer(s, q: Reads.Read) -> None:
        super().answer(q)
        s.turn = s.turn + 1

    @invariant(source="seed 002, opening example")
    def answers_are_as_expected(s) -> Bool:
        """Every read shows what it would show on one machine that does one thing after the other."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(s.is_answered(q), s.seen[q, w] == s.expected[q, w]),
        )


class AnyScript(OneAfterTheOther):
    """Why the answers are as expected, for any script: any number of writes, reads, keys and replicas."""

    stop = Reads.stop  # a replica may stop, and the read at it fails: no later event begins then

    @lemma(source="seed 002, opening example")
    def no_write_fails(s) -> Bool:
        """Every write that begins comes into the log."""
        return forall(s.Write, lambda w: s.stage[w] != "failed")

    @lemma(source="seed 002, opening example")
    def a_write_has_its_turn(s) -> Bool:
        """A write is under way in its turn, and acknowledged afterwards."""
        return forall(
            s.Write,
            lambda w: all_of(
                s.acknowledged[w] == (s.write_turn[w] < s.turn),
                implies(s.stage[w] != "new", s.write_turn[w] <= s.turn),
            ),
        )

    @lemma(source="seed 002, opening example")
    def a_read_has_its_turn(s) -> Bool:
        """A read is under way in its turn, and answered afterwards; all are strong."""
        return forall(
            s.Read,
            lambda q: all_of(
                s.is_answered(q) == (s.read_turn[q] < s.turn),
                implies(s.progress[q] != "new", (s.read_turn[q] <= s.turn) & (s.level[q] == "strong")),
            ),
        )

    @lemma(source="seed 002, opening example")
    def timestamps_are_in_the_order_of_turns(s) -> Bool:
        """A later write has a greater timestamp, or will have."""
        return forall(
            s.Write,
            s.Write,
            lambda v, w: implies(
                (s.write_turn[v] < s.write_turn[w]) & one_of(s.stage[w], "asked", "stamped", "logged"),
                ite(s.stage[w] == "asked", s.ts[v] <= s.floor[w], s.ts[v] < s.ts[w]),
            ),
        )

    @lemma(source="seed 002, opening example")
    def a_read_knows_what_was_before(s) -> Bool:
        """When a read begins, exactly the writes of earlier turns are acknowledged."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                one_of(s.progress[q], "asked", "waiting", "asleep", "reading", "answered"),
                s.known[q, w] == (s.write_turn[w] < s.read_turn[q]),
            ),
        )

    @lemma(source="seed 002, opening example")
    def later_writes_lie_above_an_answer(s) -> Bool:
        """A write of a later turn has a timestamp above the moment of the answer, or will have."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                (s.read_turn[q] < s.write_turn[w]) & (s.stage[w] != "new"),
                ite(s.stage[w] == "asked", s.floor[w] >= s.moment[q], s.ts[w] > s.moment[q]),
            ),
        )

    @lemma(source="seed 002, opening example")
    def a_guarantee_has_what_was_before(s) -> Bool:
        """Writes of earlier turns are in the log, at or below the guarantee of a read."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                s.has_guarantee(q) & (s.write_turn[w] < s.read_turn[q]),
                (s.stage[w] == "logged") & (s.ts[w] <= s.guarantee[q]),
            ),
        )

    @lemma(source="seed 002, opening example")
    def later_writes_wait_for_an_answer(s) -> Bool:
        """As long as a read is under way, no write of a later turn has begun."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                one_of(s.progress[q], "asked", "waiting", "asleep", "reading")
                & (s.read_turn[q] < s.write_turn[w]),
                s.stage[w] == "new",
            ),
        )

    @lemma(source="seed 002, opening example")
    def a_moment_shows_what_is_expected(s) -> Bool:
        """The rows visible at the moment of a read are those that one machine would show."""
        return forall(
            s.Read,
            s.Write,
            lambda q, w: implies(
                one_of(s.progress[q], "reading", "answered"),
                s.is_visible(w, s.moment[q]) == s.expected[q, w],
            ),
        )


class AnyScriptWithoutWaiting(AnyScript):
    """No wait for the service time, in any script."""

    def is_served(s, q: AnyScript.Read) -> Bool:
        return s.guarantee[q] >= 0


class OpeningExample(OneAfterTheOther):
    """The script of seed 002. The oracle answers these two clients alone, one number after the other."""

    others_allocate = removed

    def stamp_write(s, w: OneAfterTheOther.Write, ts: OneAfterTheOther.Ts) -> None:
        require(ts == s.issued + 1)
        super().stamp_write(w, ts)

    def stamp_read(s, q: OneAfterTheOther.Read, ts: OneAfterTheOther.Ts) -> None:
        require(ts == s.issued + 1)
        super().stamp_read(q, ts)


class AtOtherLevels(OpeningExample):
    """The script with reads of the levels that are given."""

    begin_session = Reads.begin_session
    begin_bounded = Reads.begin_bounded
    begin_eventually = Reads.begin_eventually

    asked: Map[Reads.Read, Reads.Level] = constant()

    def begin(s, q: Reads.Read, level: Reads.Level) -> None:
        require((s.turn == s.read_turn[q]) & (s.asked[q] == level))
        super().begin(q, level)


class WithoutTicks(OpeningExample):
    """No ticks: a replica takes the part of the log that it has read for all of it."""

    send_tick = removed

    def take_pack(s, r: OpeningExample.Replica, upto: OpeningExample.Ts) -> None:
        require(~s.stopped[r])
        require(s.pack[r] == s.safe[r])
        require((upto > s.pack[r]) & (upto <= s.issued))
        s.pack[r] = upto

    def raise_safe(s, r: OpeningExample.Replica) -> None:
        require(~s.stopped[r] & (s.pack[r] > s.safe[r]))
        s.safe[r] = s.pack[r]
        s.wake(r)


class WithoutWaiting(OpeningExample):
    """No wait for the service time: a read is answered with the replica's present rows."""

    def is_served(s, q: OpeningExample.Read) -> Bool:
        return s.guarantee[q] >= 0


class WithoutTimestampsOfDeletes(OpeningExample):
    """A pack's deletes are applied before its rows, to the present rows, whatever their timestamps."""

    gone: Set[Reads.Replica, Reads.Write] = everywhere(False)

    def apply_insert(s, r: OpeningExample.Replica, w: OpeningExample.Write) -> None:
        require(~s.stopped[r] & s.is_in_pack(r, w))
        require(~s.deletes[w])
        require(forall(s.Write, lambda v: implies(s.is_in_pack(r, v), ~s.deletes[v])))
        s.applied[r, w] = True

    def apply_delete(s, r: OpeningExample.Replica, w: OpeningExample.Write) -> None:
        require(~s.stopped[r] & s.is_in_pack(r, w))
        require(s.deletes[w])
        s.applied[r, w] = True
        s.gone = each(
            s.Replica,
            s.Write,
            lambda t, v: any_of(s.gone[t, v], all_of(t == r, s.applied[t, v], s.key[v] == s.key[w])),
        )

    def finds(s, r: OpeningExample.Replica, w: OpeningExample.Write, value: OpeningExample.Ts) -> Bool:
        return all_of(s.applied[r, w], ~s.deletes[w], ~s.gone[r, w], s.ts[w] <= value)


class WithTheClientsClock(OpeningExample):
    """The guarantee of a strong read is the client's own clock, which may be late."""

    stamp_read = removed

    @other_parameters
    def begin_strong(s, q: OpeningExample.Read, now: Reads.Ts) -> None:
        require(s.turn == s.read_turn[q])
        s.begin(q, "strong")
        s.wait_for(q, now)
