"""Mutants of a proxy that asks all query nodes at once, and of these nodes.

What each does wrong is a variant of the specification, with which it is compared, where there is one.
"""

from dataclasses import replace
from typing import Any

from tidemark.impl.errors import RpcError
from tidemark.impl.queries.reads import AskedRead, NodeFollower
from tidemark.impl.queries.requests import PendingQuery
from tidemark.impl.queries.values import QueryResult
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.timestamp import ZERO
from tidemark.impl.types import ChannelName
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.reads.asking_all import NotingCollector, asks_all
from tidemark.models.protocols.reads.mutants.all_at_once import AsksAll
from tidemark.models.protocols.reads.program import ReadsProgram
from tidemark.spec.language import action, require

_HERE = "tidemark.models.protocols.reads.mutants.asking_all"
_ALL, _BESIDE = "reads-impl-asks-all", "reads-impl-asks-all-beside"


class _EndsWithARefusal(NotingCollector):
    def _end_if_told(self, number: int, query: PendingQuery) -> None:
        super()._end_if_told(number, query)
        if query.refusal is not None and number in self.pending:
            del self.pending[number]
            query.over.set()


@mutant(killer="refinement", source="seed 004, 6.6.1", instance=_ALL)
def one_refusal_ends(**scenario: Any) -> ReadsProgram:
    """A read ends with the first refusal, although another node may answer."""
    return asks_all(collector=_EndsWithARefusal, **scenario)


class TheDeadAnswer(AsksAll):
    """The refusal of a replica that has stopped is taken for an answer without rows."""

    @action(source="facts 6.3")
    def choose_nothing(s, q: AsksAll.Read, r: AsksAll.Replica):
        """What comes first is a refusal."""
        require((s.progress[q] == "waiting") & s.stopped[r])
        s.progress[q] = "reading"
        s.at[q] = r
        s.moment[q] = 0


class _TakesRefusals(NotingCollector):
    def take(self, result: QueryResult) -> None:
        query = self.pending.get(result.number)
        if query is not None and result.refusal is not None:
            nothing = dict.fromkeys(query.shards, ShardAnswer(ZERO, ()))
            result = replace(result, shards=nothing, refusal=None)
        super().take(result)


@mutant(killer="reads.answers_reach_their_guarantee", source="facts 6.3; seed 004, 6.6.1", instance=_ALL)
def a_dead_node_answers(**scenario: Any) -> ReadsProgram:
    """What is refused in the name of a dead node counts as its answer: it has no rows."""
    return asks_all(collector=_TakesRefusals, protocol=f"{_HERE}:TheDeadAnswer", **scenario)


class OneDoesNotWait(AsksAll):
    """A replica answers at once, whatever the guarantee."""

    def may_look(s, q, r):
        return ~s.stopped[r] & (s.safe[r] >= 0)


class _OneDoesNotWait(NodeFollower):
    async def _serve(self, asked: AskedRead, channel: ChannelName) -> ShardAnswer | RpcError:
        guarantee = ZERO if self._node.node_id == "node 1" else asked.guarantee
        return await super()._serve(replace(asked, guarantee=guarantee), channel)


@mutant(killer="reads.answers_reach_their_guarantee", source="facts 6.3; B40", instance=_ALL)
def one_node_does_not_wait(**scenario: Any) -> ReadsProgram:
    """The second node is asked without the guarantee, and its answer comes first although that of the other
    node is due.
    """
    return asks_all(follower=_OneDoesNotWait, protocol=f"{_HERE}:OneDoesNotWait", **scenario)


class AtALaterMoment(AsksAll):
    """An answer may name any moment that its replica has reached."""

    @action(source="facts 6.1; B40")
    def choose_later(s, q: AsksAll.Read, r: AsksAll.Replica, value: AsksAll.Ts):
        """This answer comes first."""
        require((s.progress[q] == "waiting") & s.looked[q, r])
        require((s.shows[q, r] < value) & (value <= s.safe[r]))
        s.progress[q] = "reading"
        s.at[q] = r
        s.moment[q] = value


class _TheServiceTime(NodeFollower):
    async def _serve(self, asked: AskedRead, channel: ChannelName) -> ShardAnswer | RpcError:
        found = await super()._serve(asked, channel)
        if isinstance(found, RpcError):
            return found
        return replace(found, moment=self._node.service_time(channel))


@mutant(killer="reads.answers_are_exact", source="facts 6.1; B40", instance=_BESIDE)
def the_moment_is_that_of_the_end(**scenario: Any) -> ReadsProgram:
    """A node names its service time when it sends the rows, not the moment at which they were found."""
    return asks_all(follower=_TheServiceTime, protocol=f"{_HERE}:AtALaterMoment", **scenario)
