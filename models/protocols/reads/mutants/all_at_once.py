"""Wrong protocols beside those of ``spec/reads/variants/all_at_once.py``."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import (
    exists,
    greatest,
    require,
)
from tidemark.spec.reads.variants.all_at_once import StrongAsksAll


@mutant(
    killer="reads.answers_are_exact",
    source="facts 6.1; seed 004, 6.6.1",
    instance="reads-asks-all",
)
class TheGreatestMoment(StrongAsksAll):
    """The answer has the rows of one replica, and the greatest moment of all."""

    def choose(s, q, r):
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

    def fail_read(s, q):
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

    def may_look(s, q, r):
        return ~s.stopped[r] & exists(s.Replica, lambda o: s.safe[o] >= s.guarantee[q])
