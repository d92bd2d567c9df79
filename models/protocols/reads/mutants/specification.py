"""Named mutants of service time and reads, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import (
    Bool,
    Set,
    action,
    all_of,
    each,
    everywhere,
    exists,
    forall,
    greatest,
    ite,
    one_of,
    other_parameters,
    removed,
    require,
)
from tidemark.spec.reads import Reads
from tidemark.spec.reads.variants.all_at_once import StrongAsksAll
from tidemark.spec.reads.variants.finer_steps import (
    EventualHandOver,
    HandOver,
    LeavesTheDeadAlone,
    SessionHandOver,
    StrongHandOver,
    StrongInPieces,
)
from tidemark.spec.reads.variants.other_rules import (
    BoundedReads,
    DeletesMarkRows,
    EventualReads,
    SessionReads,
    StrongReads,
)

# ---- the service time ----


@mutant(killer="reads.service_time_never_goes_back", source="H33", instance="reads-tiny")
class TwoPipelines(Reads):
    """A second writer of the service time has passed its comparison, and stores an older value."""

    @action(source="hazard 33")
    def raise_again(s, r: Reads.Replica, value: Reads.Ts) -> None:
        """The other pipeline stores what it had compared before."""
        require(~s.stopped[r] & (value < s.safe[r]))
        s.safe[r] = value


@mutant(killer="reads.service_time_is_applied", source="facts 6.1: the delete node", instance="reads-small")
class RaisedBeforeTheDeletes(Reads):
    """The insert node raises the service time; the deletes of the pack are still to come."""

    def raise_safe(s, r: Reads.Replica) -> None:
        require(~s.stopped[r] & (s.pack[r] > s.safe[r]))
        require(forall(s.Write, lambda w: s.deletes[w] | ~s.is_in_pack(r, w)))
        s.safe[r] = s.pack[r]
        s.wake(r)


@mutant(killer="reads.service_time_follows_the_oracle", source="B41", instance="reads-tiny")
class ReplayHoldsTheLock(Reads):
    """A replay of deletes holds the lock that the pipeline needs, and need not end."""

    @action(source="facts 6.1")
    def raise_safe(s, r: Reads.Replica) -> None:
        """The service time is raised, if ever the lock is free."""
        super().raise_safe(r)


@mutant(killer="reads.a_waiting_read_ends", source="B48", instance="reads-tiny")
class IdleChannelsGetNoTick(Reads):
    """A channel gets a tick only up to the last write in it."""

    def send_tick(s, upto: Reads.Ts) -> None:
        super().send_tick(upto)
        require(exists(s.Write, lambda w: (s.stage[w] == "logged") & (s.ts[w] >= upto)))


@mutant(
    killer="reads.nothing_above_the_pack_is_applied", source="seed 002, service time", instance="reads-tiny"
)
class RowsWithoutAPack(Reads):
    """A row is applied as soon as it is in the log, with no tick behind it."""

    def is_in_pack(s, r: Reads.Replica, w: Reads.Write) -> Bool:
        return (s.stage[w] == "logged") & ~s.applied[r, w]


@mutant(killer="reads.answers_are_exact", source="seed 002, insert before delete", instance="reads-small")
@mutant(
    killer="reads.deletes_find_the_rows_of_their_pack",
    source="seed 002, insert before delete",
    instance="reads-small",
    name="deletes-do-not-wait-for-rows",
)
@mutant(
    killer="reads.marks_hide_what_all_deletes_hide",
    source="seed 002, insert before delete",
    instance="reads-deletes-mark-rows",
    name="deletes-mark-what-is-there",
)
class DeletesBeforeRows(DeletesMarkRows):
    """A replica applies rows and deletes of a pack in any order: a delete marks the rows that it finds, and
    its row may come after it.
    """

    def apply_delete(s, r: DeletesMarkRows.Replica, w: DeletesMarkRows.Write) -> None:
        require(~s.stopped[r] & s.is_in_pack(r, w))
        require(s.deletes[w])
        s.applied[r, w] = True
        s.mark_rows(r, w)


# ---- the wait ----


@mutant(
    killer="reads.answers_reach_their_guarantee", source="facts 6.1: downgradeTsafe", instance="reads-tiny"
)
class AnswersWhatItHas(Reads):
    """A read does not wait: it is answered at the service time that there is."""

    def is_served(s, q: Reads.Read) -> Bool:
        return s.guarantee[q] >= 0


@mutant(killer="reads.answers_reach_their_guarantee", source="B39, H34", instance="reads-small")
class WokenIsServed(Reads):
    """A read that was woken does not look again: any raise of the service time is taken for its own."""

    def wake(s, r: Reads.Replica) -> None:
        s.moment = each(
            s.Read,
            lambda q: ite((s.progress[q] == "asleep") & (s.replica[q] == r), s.safe[r], s.moment[q]),
        )
        s.progress = each(
            s.Read,
            lambda q: ite((s.progress[q] == "asleep") & (s.replica[q] == r), "reading", s.progress[q]),
        )


@mutant(
    killer="reads.a_waiting_read_ends", source="H34: the update without a broadcast", instance="reads-tiny"
)
class RaiseWakesNobody(Reads):
    """The service time is raised and the sleepers are not told."""

    def raise_safe(s, r: Reads.Replica) -> None:
        require(~s.stopped[r] & (s.pack[r] > s.safe[r]))
        require(forall(s.Write, lambda w: ~s.is_in_pack(r, w)))
        s.safe[r] = s.pack[r]


@mutant(
    killer="reads.a_waiting_read_ends", source="H34: a signal for a broadcast", instance="reads-two-bounded"
)
class RaiseSignalsOne(BoundedReads):
    """The service time is raised and one of the sleepers is told: the others wait for the next raise."""

    @other_parameters
    def raise_safe(s, r: BoundedReads.Replica, told: BoundedReads.Read) -> None:
        one = s.progress[told] == "asleep"
        require(one | forall(s.Read, lambda q: s.progress[q] != "asleep"))
        asleep = s.progress
        super().raise_safe(r)
        s.progress = each(s.Read, lambda q: ite(q == told, s.progress[q], asleep[q]))


@mutant(killer="reads.a_waiting_read_ends", source="H34: close must broadcast too", instance="reads-tiny")
class CloseWakesNobody(Reads):
    """A delegator is closed and the sleepers are not told."""

    def stop(s, r: Reads.Replica) -> None:
        require(~s.stopped[r])
        s.stopped[r] = True


@mutant(killer="reads.a_waiting_read_ends", source="H34: looks without the lock", instance="reads-tiny")
class SleepsOnAnOldLook(Reads):
    """Looking and falling asleep are two steps: a raise in between is missed."""

    decided: Set[Reads.Read] = everywhere(False)

    def check(s, q: Reads.Read) -> None:
        require(~s.decided[q])
        super().check(q)
        s.decided[q] = s.progress[q] == "asleep"
        s.progress[q] = ite(s.decided[q], "waiting", s.progress[q])

    @action(fairness="weak", source="hazard 34")
    def fall_asleep(s, q: Reads.Read) -> None:
        """The read sleeps, because of what it saw before."""
        require((s.progress[q] == "waiting") & s.decided[q])
        s.progress[q] = "asleep"
        s.decided[q] = False


# ---- what an answer shows ----


@mutant(killer="reads.answers_are_exact", source="facts 6.1: rows without MVCC", instance="reads-small")
class RowsOfTheFuture(Reads):
    """All rows that are applied are shown, also those above the timestamp of the answer."""

    def finds(s, r: Reads.Replica, w: Reads.Write, value: Reads.Ts) -> Bool:
        return all_of(
            s.applied[r, w],
            ~s.deletes[w],
            ~exists(s.Write, lambda d: s.applied[r, d] & s.removes(d, w, value)),
        )


# ---- guarantees ----


@mutant(killer="reads.strong_sees_what_was_acknowledged", source="B40", instance="reads-small")
class PartWithoutItsGuarantee(Reads):
    """A part of the request does not carry the guarantee."""

    def wait_for(s, q: Reads.Read, value: Reads.Ts) -> None:
        s.progress[q] = "waiting"
        s.guarantee[q] = 0


@mutant(killer="reads.strong_sees_what_was_acknowledged", source="facts 3.1", instance="reads-small")
class AcknowledgedBeforeTheLog(Reads):
    """A client is told before the write is in the log, and a tick does not wait for it."""

    def acknowledge(s, w: Reads.Write) -> None:
        require(s.is_begun(w) & ~s.acknowledged[w])
        s.acknowledged[w] = True
        s.keep(s.writer[w], s.ts[w])


@mutant(
    killer="reads.strong_sees_what_was_acknowledged",
    source="facts 6.1: the delete node",
    instance="reads-strong-after-a-delete",
)
class StrongReadsPassDeletesOver(StrongReads):
    """The service time does not wait for the deletes of the pack: a strong read shows a row whose delete was
    acknowledged.
    """

    raise_safe = RaisedBeforeTheDeletes.raise_safe


@mutant(
    killer="reads.strong_sees_what_was_acknowledged",
    source="seed 002, insert before delete",
    instance="reads-strong-after-a-delete",
)
class AnswersKeepNoRows(StrongReads):
    """An answer holds the rows of deleted keys only: a row that is there is not shown."""

    def finds(s, r: StrongReads.Replica, w: StrongReads.Write, value: StrongReads.Ts) -> Bool:
        gone = exists(s.Write, lambda d: s.applied[r, d] & s.removes(d, w, value))
        return all_of(s.applied[r, w], ~s.deletes[w], s.ts[w] <= value, gone)


@mutant(killer="reads.strong_never_goes_back", source="facts 6.2: Strong", instance="reads-strong")
class StrongReadsShareATimestamp(Reads):
    """A strong read takes a timestamp that was issued before, to save a call."""

    begin_session = removed
    begin_bounded = removed
    begin_customized = removed
    begin_page = removed

    def stamp_read(s, q: Reads.Read, ts: Reads.Ts) -> None:
        require(s.progress[q] == "asked")
        require(ts <= s.began[q])
        s.wait_for(q, ts)


@mutant(killer="reads.session_sees_its_own_writes", source="facts 6.2: Session", instance="reads-sessions")
class WritesAreNotKept(SessionReads):
    """A client does not keep the timestamps of its writes."""

    def acknowledge(s, w: SessionReads.Write) -> None:
        require((s.stage[w] == "logged") & ~s.acknowledged[w])
        s.acknowledged[w] = True


@mutant(killer="reads.session_never_goes_back", source="facts 6.2: Session", instance="reads-sessions")
class TheLastIsKept(SessionReads):
    """A client keeps the last timestamp that it was told, and not the greatest."""

    def keep(s, c: SessionReads.Client, value: SessionReads.Ts) -> None:
        s.carried[c] = value


@mutant(
    killer="reads.bounded_misses_only_what_is_recent",
    source="facts 6.2: Bounded; H35",
    instance="reads-bounded",
)
class TheGraceIsTakenTwice(BoundedReads):
    """Client and proxy both take the grace off."""

    def wait_for(s, q: BoundedReads.Read, value: BoundedReads.Ts) -> None:
        super().wait_for(q, ite(value >= s.graceful, value - s.graceful, 0))


@mutant(killer="reads.guarantees_were_issued", source="H35", instance="reads-bounded")
class TheGraceIsForgotten(BoundedReads):
    """A bounded read waits for the proxy's own clock."""

    def wait_for(s, q: BoundedReads.Read, value: BoundedReads.Ts) -> None:
        super().wait_for(q, value + s.graceful)


@mutant(killer="reads.pages_are_of_one_moment", source="B40: iterators", instance="reads-pages")
class PagesHaveTheirOwnTime(EventualReads):
    """A further page is answered at the service time that there is."""

    def timestamp_of_answer(s, q: EventualReads.Read) -> EventualReads.Ts:
        return s.safe[s.replica[q]]


@mutant(killer="reads.one_replica_never_goes_back", source="H33", instance="reads-pages")
class TwoPipelinesAndTwoReads(EventualReads):
    """The second writer of the service time takes it back between two reads."""

    @action(source="hazard 33")
    def raise_again(s, r: Reads.Replica, value: Reads.Ts) -> None:
        """The other pipeline stores what it had compared before."""
        require(~s.stopped[r] & (value < s.safe[r]))
        s.safe[r] = value


@mutant(
    killer="reads.answers_are_exact",
    source="facts 6.1; seed 004, 6.6.1",
    instance="reads-asks-all",
)
class TheGreatestMoment(StrongAsksAll):
    """The answer has the rows of one replica, and the greatest moment of all."""

    def choose(s, q: StrongAsksAll.Read, r: StrongAsksAll.Replica) -> None:
        require((s.progress[q] == "waiting") & s.looked[q, r])
        s.progress[q] = "reading"
        s.at[q] = r
        s.moment[q] = greatest(
            s.Ts,
            lambda t: exists(s.Replica, lambda o: s.looked[q, o] & (s.shows[q, o] == t)),
            upto=s.issued,
            default=0,
        )


@mutant(
    killer="reads.a_replica_that_runs_is_enough",
    source="seed 004, 6.6.1",
    instance="reads-asks-all",
)
class OneRefusalEnds(StrongAsksAll):
    """A read ends with the first refusal, although another replica may answer."""

    def fail_read(s, q: StrongAsksAll.Read) -> None:
        require(s.progress[q] == "waiting")
        require(exists(s.Replica, lambda r: s.stopped[r]))
        s.end_without_answer(q)


@mutant(
    killer="reads.strong_sees_what_was_acknowledged",
    source="facts 6.3; B40",
    instance="reads-asks-all",
)
class OneReplicaIsEnough(StrongAsksAll):
    """As soon as one replica has reached the guarantee, all answer."""

    def may_look(s, q: StrongAsksAll.Read, r: StrongAsksAll.Replica) -> Bool:
        return ~s.stopped[r] & exists(s.Replica, lambda o: s.safe[o] >= s.guarantee[q])


@mutant(
    killer="reads.strong_sees_what_was_acknowledged",
    source="facts 6.3; B40",
    instance="reads-strong-hand-over",
)
class StrongReadsTakeTheServiceTime(StrongHandOver):
    """A read that moves takes the service time of the new replica in place of its guarantee."""

    def move(s, q: StrongHandOver.Read, r: StrongHandOver.Replica) -> None:
        super().move(q, r)
        s.guarantee[q] = s.safe[r]


@mutant(
    killer="reads.session_sees_its_own_writes",
    source="facts 6.3; B40",
    instance="reads-session-hand-over",
)
class SessionsTakeTheServiceTime(SessionHandOver):
    """The same of a session."""

    def move(s, q: SessionHandOver.Read, r: SessionHandOver.Replica) -> None:
        super().move(q, r)
        s.guarantee[q] = s.safe[r]


@mutant(
    killer="reads.answers_are_exact",
    source="facts 6.1, 6.3",
    instance="reads-eventual-hand-over",
)
class TheMomentGoesAlong(EventualHandOver):
    """The new replica answers at the moment of the old one, which it need not have reached."""

    def move(s, q: EventualHandOver.Read, r: EventualHandOver.Replica) -> None:
        progress, moment = s.progress[q], s.moment[q]
        super().move(q, r)
        s.progress[q] = progress
        s.moment[q] = moment


@mutant(
    killer="reads.answers_are_exact",
    source="facts 6.1, 6.3: growing and sealed segments",
    instance="reads-hand-over-in-pieces",
)
class PiecesOfTwoReplicas(StrongInPieces):
    """Growing rows of the old replica, sealed rows of the new one, which is at another moment."""

    def move(s, q: StrongInPieces.Read, r: StrongInPieces.Replica) -> None:
        has_growing, found = s.has_growing[q], s.found
        super().move(q, r)
        s.has_growing[q] = has_growing
        s.found = found


@mutant(
    killer="reads.answers_are_exact",
    source="facts 6.1, 6.3: not serviceable",
    instance="reads-hand-over-in-pieces",
)
class AnOldReplicaCollects(StrongInPieces):
    """A replica that has stopped goes on collecting: what it has held is gone."""

    def is_serviceable(s, q: StrongInPieces.Read) -> Bool:
        return s.progress[q] == "reading"


@mutant(
    killer="reads.a_waiting_read_ends",
    source="facts 6.3",
    instance="reads-eventual-hand-over",
)
class AsksTheSameAgain(EventualHandOver):
    """A read asks replicas again that it has left: back and forth for ever."""

    def may_ask(s, q: EventualHandOver.Read, r: EventualHandOver.Replica) -> Bool:
        return s.at[q] != r


@mutant(
    killer="reads.a_replica_that_runs_is_enough",
    source="facts 6.3",
    instance="reads-hand-over-of-the-dead",
)
class FailsWithItsFirstReplica(LeavesTheDeadAlone):
    """A read ends with the replica that it waits at, although another one runs."""

    def fail_read(s, q: LeavesTheDeadAlone.Read) -> None:
        require(one_of(s.progress[q], "waiting", "reading"))
        require(s.stopped[s.at[q]])
        s.end_without_answer(q)


@mutant(
    killer="reads.answers_reach_their_guarantee",
    source="facts 6.1, 6.3",
    instance="reads-session-hand-over",
)
class TheMovedDoNotWait(HandOver):
    """A read that has moved is answered at the service time that there is."""

    def is_served(s, q: HandOver.Read) -> Bool:
        return super().is_served(q) | (s.at[q] != s.replica[q])
