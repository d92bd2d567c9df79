"""Mutants of a proxy that asks all query nodes at once, and of these nodes.

What each does wrong is a variant of the specification, with which it is compared, where there is one.
"""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.reads.program.asking_all import asks_all
from tidemark.spec.language import Bool, action, require
from tidemark.spec.reads.variants.all_at_once import AsksAll


class TheDeadAnswer(AsksAll):
    """The refusal of a replica that has stopped is taken for an answer without rows."""

    @action(source="facts 6.3")
    def choose_nothing(s, q: AsksAll.Read, r: AsksAll.Replica) -> None:
        """What comes first is a refusal."""
        require((s.progress[q] == "waiting") & s.stopped[r])
        s.progress[q] = "reading"
        s.at[q] = r
        s.moment[q] = 0


class OneDoesNotWait(AsksAll):
    """A replica answers at once, whatever the guarantee."""

    def may_look(s, q: AsksAll.Read, r: AsksAll.Replica) -> Bool:
        return ~s.stopped[r] & (s.safe[r] >= 0)


class AtALaterMoment(AsksAll):
    """An answer may name any moment that its replica has reached."""

    @action(source="facts 6.1; B40")
    def choose_later(s, q: AsksAll.Read, r: AsksAll.Replica, value: AsksAll.Ts) -> None:
        """This answer comes first."""
        require((s.progress[q] == "waiting") & s.looked[q, r])
        require((s.shows[q, r] < value) & (value <= s.safe[r]))
        s.progress[q] = "reading"
        s.at[q] = r
        s.moment[q] = value


def _against(variant: str, entry: str = "reads-impl-asks-all") -> Host:
    return Host(entry, asks_all).like(protocol=f"{__name__}:{variant}")


COLLECTOR = "queries/requests.py:ResultCollector."
SERVE = "queries/reads.py:NodeFollower._serve"
REACHED = "reads.answers_reach_their_guarantee"

MUTANTS = patches(
    __name__,
    Patch(
        "one-refusal-ends",
        at=COLLECTOR + "_end_if_told",
        old="query.refused:",
        new="query.refusal is not None:",
        on=Host("reads-impl-asks-all", asks_all),
        source="seed 004, 6.6.1",
        says="A read ends with the first refusal, although another node may answer.",
    ),
    Patch(
        "a-dead-node-answers",
        at=COLLECTOR + "take",
        old="query.rows.update(result.shards)",
        new="if result.refusal is not None:\n"
        "            from tidemark.impl.querynode.values import ShardAnswer\n"
        "\n"
        "            nothing = dict.fromkeys(query.shards, ShardAnswer(0, ()))\n"
        "            result = QueryResult(result.number, nothing, result.node)\n"
        "        query.rows.update(result.shards)",
        killer=REACHED,
        on=_against("TheDeadAnswer"),
        source="facts 6.3; seed 004, 6.6.1",
        says="What is refused in the name of a dead node counts as its answer: it has no rows.",
    ),
    Patch(
        "one-node-does-not-wait",
        at=SERVE,
        old="guarantee = asked.guarantee if",
        new='guarantee = 0 if self._node.node_id == "node 1" else asked.guarantee if',
        killer=REACHED,
        on=_against("OneDoesNotWait"),
        source="facts 6.3; B40",
        says="The second node is asked without the guarantee, and its answer comes before that of the other.",
    ),
    Patch(
        "the-moment-is-that-of-the-end",
        at=SERVE,
        old="return await self._node.serve(channel, read, deadline=asked.deadline)",
        new="found = await self._node.serve(channel, read, deadline=asked.deadline)\n"
        "            return ShardAnswer(self._node.service_time(channel), found.rows)",
        killer="reads.answers_are_exact",
        on=_against("AtALaterMoment", "reads-impl-asks-all-beside"),
        source="facts 6.1; B40",
        says="A node names its service time when it sends the rows, not the moment at which they were found.",
    ),
)
