"""Named mutants of queries over channels, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import Bool, count, each, forall, ite, one_of, require
from tidemark.spec.queries import Queries

TINY = "queries-tiny"
TWO = "queries-two-requests"
FAULT = "queries-one-crash"


@mutant(killer="queries.an_answer_is_complete", source="seed 004, 6.6.1", instance=TINY)
class AnswersWithWhatHasCome(Queries):
    """A request that has run out of time is answered with what has come."""

    def give_up(s, r: Queries.Request) -> None:
        waits = s.stage[r] == "waiting"
        super().give_up(r)
        s.stage[r] = ite(waits, "answered", "failed")


@mutant(
    killer="queries.results_reach_their_own_request", source="seed 004, 6.6.1: globally unique", instance=TWO
)
class NumbersComeAgain(Queries):
    """The numbers of a proxy begin anew: a late result of an earlier request finds another one."""

    def is_new_number(s, r: Queries.Request, k: Queries.Number) -> Bool:
        return s.number[r] == 0


@mutant(killer="queries.a_caller_is_answered_once", source="seed 004, 6.6.1: Notify", instance=TINY)
class AnswersAfterTheDeadline(Queries):
    """The caller is answered with the results although it was told that its time is over."""

    def reply(s, r: Queries.Request) -> None:
        require(s.is_full(r) & one_of(s.stage[r], "waiting", "failed") & (s.times[r] < 2))
        s.stage[r] = "answered"
        s.times[r] = s.times[r] + 1


@mutant(killer="queries.a_load_finds_what_was_persisted", source="seed 004, 6.4", instance=TINY, tier="full")
class ServesWhatItHas(Queries):
    """A node serves a shard as soon as it has a row of it."""

    def is_whole(s, n: Queries.Node, c: Queries.Shard) -> Bool:
        return count(s.Row, lambda w: s.copy[n, w] != "none") >= count(s.Row, lambda w: s.wanted[w])


@mutant(killer="queries.an_acknowledged_load_is_whole", source="seed 004, 6.4", instance=TINY, tier="full")
class AcknowledgesWhenNodesAreTold(Queries):
    """A load is acknowledged when the nodes have been told."""

    def is_loaded(s) -> Bool:
        return forall(s.Node, lambda n: s.told[n])


@mutant(killer="queries.a_removed_stream_is_closed", source="seed 004, 6.6.2", instance=TINY, tier="full")
class WriterNeverLetsGo(Queries):
    """A request lets go of its stream when it runs out of time, and not when its write returns."""

    def wait(s, r: Queries.Request) -> None:
        uses = s.uses
        super().wait(r)
        s.uses = uses

    def give_up(s, r: Queries.Request) -> None:
        uses, wrote = s.uses, s.written[r]
        super().give_up(r)
        s.uses = each(s.Request, s.Stream, lambda q, u: ite(wrote, uses[q, u], s.uses[q, u]))


@mutant(killer="queries.a_release_ends", source="seed 004, 6.4", instance=TINY, tier="full")
class NodeKeepsWhatItServes(Queries):
    """A node that serves a shard does not hear of the release."""

    def unload(s, n: Queries.Node) -> None:
        require(forall(s.Shard, lambda c: ~s.serves[n, c]))
        super().unload(n)
