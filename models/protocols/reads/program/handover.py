"""Reads whose proxy asks one query node after the other, as a program under exploration.

Each step must be a step of ``HandOver``, or change nothing of it.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tidemark.impl.proxy.reads import Replicas
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import ChannelName
from tidemark.models.protocols.reads.ports import NodeCalls
from tidemark.models.protocols.reads.program import ReadsProgram, ReadsScenario, whole_of
from tidemark.models.protocols.reads.refinement.handover import (
    HAND_OVER,
    AskingView,
    abstract_asking,
    order_of,
)
from tidemark.models.refinement.program import Abstraction
from tidemark.models.refinement.scenario import mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.world.process import Process


class NotedCalls(NodeCalls):
    """Notes that the node was asked."""

    def __init__(self, process: Process, node: int, read: int, asked: list[int]) -> None:
        super().__init__(process, f"node {node}", read)
        self._number = node
        self._asked = asked

    async def query(
        self,
        channel: ChannelName,
        *,
        guarantee: Timestamp,
        mvcc: Timestamp | None,
        keys: tuple[int, ...] | None,
        deadline: float,
    ) -> ShardAnswer:
        """See Replica."""
        self._asked.append(self._number)
        return await super().query(channel, guarantee=guarantee, mvcc=mvcc, keys=keys, deadline=deadline)


class AllReplicas:
    """Who serves the channel: all nodes, in the order of a read."""

    def __init__(self, calls: Sequence[NodeCalls]) -> None:
        self._calls = calls

    def of(self, channel: ChannelName) -> Sequence[NodeCalls]:
        """See Replicas."""
        del channel
        return self._calls


class HandOverProgram(ReadsProgram):
    """Each read asks its own node first, and then the others."""

    def __init__(self, scenario: ReadsScenario) -> None:
        super().__init__(scenario)
        self.asked: list[list[int]] = [[] for _ in scenario.reads]

    @staticmethod
    def abstraction_of(scenario: ReadsScenario) -> Abstraction:
        """The refinement mapping."""
        return mapped(scenario, _values)

    def replicas_of(self, process: Process, number: int) -> Replicas:
        """All nodes."""
        order = order_of(self.scenario.reads[number][1], self.scenario.nodes)
        return AllReplicas([NotedCalls(process, node, number, self.asked[number]) for node in order])

    def observe(self) -> Observation:
        """Return what each part holds, under its name."""
        found: dict[str, Hashable] = dict(super().observe())
        for number in range(len(self.sessions)):
            client: Any = found[f"client {number}"]
            asked = tuple((q, tuple(self.asked[q])) for q, _ in client.reads)
            found[f"client {number}"] = AskingView(client, asked)
        return found


def _values(scenario: ReadsScenario, observation: Any) -> Mapping[str, Any]:
    asking: list[Any] = [observation[f"client {c}"] for c in range(len(scenario.clients))]
    clients = {f"client {c}": view.client for c, view in enumerate(asking)}
    whole = whole_of(scenario, {**observation, **clients})
    return abstract_asking(whole, dict(pair for view in asking for pair in view.asked))


class HandOverScenario(ReadsScenario):
    """What happens; see ``ReadsScenario``."""

    protocol: str = HAND_OVER


hand_over = program(HandOverProgram, HandOverScenario)
