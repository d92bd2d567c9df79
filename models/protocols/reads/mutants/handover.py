"""Named mutants of reads that move from one replica to another, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import one_of, require
from tidemark.spec.reads.variants.finer_steps import (
    EventualHandOver,
    HandOver,
    LeavesTheDeadAlone,
    SessionHandOver,
    StrongHandOver,
    StrongInPieces,
)


@mutant(
    killer="reads.strong_sees_what_was_acknowledged",
    source="facts 6.3; B40",
    instance="reads-strong-hand-over",
)
class StrongReadsTakeTheServiceTime(StrongHandOver):
    """A read that moves takes the service time of the new replica in place of its guarantee."""

    def move(s, q, r):
        super().move(q, r)
        s.guarantee[q] = s.safe[r]


@mutant(
    killer="reads.session_sees_its_own_writes",
    source="facts 6.3; B40",
    instance="reads-session-hand-over",
)
class SessionsTakeTheServiceTime(SessionHandOver):
    """The same of a session."""

    def move(s, q, r):
        super().move(q, r)
        s.guarantee[q] = s.safe[r]


@mutant(
    killer="reads.answers_are_exact",
    source="facts 6.1, 6.3",
    instance="reads-eventual-hand-over",
)
class TheMomentGoesAlong(EventualHandOver):
    """The new replica answers at the moment of the old one, which it need not have reached."""

    def move(s, q, r):
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

    def move(s, q, r):
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

    def is_serviceable(s, q):
        return s.progress[q] == "reading"


@mutant(
    killer="reads.a_waiting_read_ends",
    source="facts 6.3",
    instance="reads-eventual-hand-over",
)
class AsksTheSameAgain(EventualHandOver):
    """A read asks replicas again that it has left: back and forth for ever."""

    def may_ask(s, q, r):
        return s.at[q] != r


@mutant(
    killer="reads.a_replica_that_runs_is_enough",
    source="facts 6.3",
    instance="reads-hand-over-of-the-dead",
)
class FailsWithItsFirstReplica(LeavesTheDeadAlone):
    """A read ends with the replica that it waits at, although another one runs."""

    def fail_read(s, q):
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

    def is_served(s, q):
        return super().is_served(q) | (s.at[q] != s.replica[q])
