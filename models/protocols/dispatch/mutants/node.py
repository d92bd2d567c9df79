"""Mutants of the dispatchers of a node and of the reader that takes their packs: each overrides one method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.dispatch.node:node``.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.broker.packs import PackReader
from tidemark.impl.stream.dispatchers import MainDispatcher
from tidemark.impl.stream.manager import DispatcherManager, DispatcherParts
from tidemark.impl.stream.node_dispatchers import NodeDispatchers
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.stream.targets import Target
from tidemark.impl.types import ChannelName, Pack, Position
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.dispatch.node import NodeProgram, node


class _Forgets(PackReader):
    async def next_pack(self, channel: ChannelName, after: Position) -> Pack:
        await super().next_pack(channel, after)
        return self.ready.pop(channel)


@mutant(
    killer="a_pack_begins_where_the_last_one_was_stored",
    source="facts 5.2: packs once and in order",
    instance="dispatch-node-cancel",
)
def the_pack_of_who_was_cancelled_is_lost(**scenario: Any) -> NodeProgram:
    """A pack is handed over once: who was cancelled before it was stored has taken it along."""
    return node(reader=_Forgets, **scenario)


class _EndsNothing(NodeDispatchers):
    def deregister(self, channel: ChannelName) -> None:
        manager = self.managers.get(channel)
        if manager is not None:
            manager.deregister(channel)


@mutant(
    killer="a_dropped_channel_is_let_go", source="facts 5.2: a target goes", instance="dispatch-node-drop"
)
def the_end_of_a_target_is_told_to_nobody(**scenario: Any) -> NodeProgram:
    """The manager is looked for by the virtual channel: its dispatcher goes on, and waits for room."""
    return node(dispatchers=_EndsNothing, **scenario)


class _ManagerOfEach(NodeDispatchers):
    def register(self, channel: ChannelName, position: StreamPosition) -> Target:
        return self._manager(channel).register(channel, position)


@mutant(
    killer="a_channel_has_one_manager", source="facts 5.2: one main dispatcher", instance="dispatch-node-drop"
)
def each_virtual_channel_is_read_by_itself(**scenario: Any) -> NodeProgram:
    """A node reads the physical channel once for each virtual one."""
    return node(dispatchers=_ManagerOfEach, **scenario)


class _StopsItself(NodeDispatchers):
    async def stop(self) -> None:
        await self.supervisor.stop()


@mutant(
    killer="a_node_that_has_stopped_does_nothing",
    source="facts 5.2: targets come and go",
    instance="dispatch-node-stop",
)
def managers_are_not_stopped(**scenario: Any) -> NodeProgram:
    """A node that stops leaves its managers at work."""
    return node(dispatchers=_StopsItself, **scenario)


class _WaitsForAll(MainDispatcher):
    def patience(self) -> float | None:
        return None


class _SplitsNobody(DispatcherManager):
    def __init__(self, **options: Any) -> None:
        super().__init__(**{**options, "parts": DispatcherParts(main=_WaitsForAll)})


@mutant(
    killer="dispatch.ticks_reach_who_takes_them",
    source="facts 5.2: maxTolerantLag",
    instance="dispatch-node-stuck",
)
def a_slow_target_stops_the_node(**scenario: Any) -> NodeProgram:
    """Who takes nothing is not split off: the other channels of the node get no tick."""
    return node(manager=_SplitsNobody, **scenario)


class _OpensAnew(PackReader):
    async def next_pack(self, channel: ChannelName, after: Position) -> Pack:
        if channel in self.sources and self._dispatchers is not None:
            self._dispatchers.deregister(channel)
            del self.sources[channel]
        return await super().next_pack(channel, after)


@mutant(killer="dispatch.packs_come_in_order", source="facts 5.2: positions", instance="dispatch-node-cancel")
def each_pack_is_a_stream_of_its_own(**scenario: Any) -> NodeProgram:
    """The reader lets its target go, and registers it again for each pack."""
    return node(reader=_OpensAnew, **scenario)
