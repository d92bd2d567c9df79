"""The data node with deletes as a program under exploration: the flush program, with deletes in its log.

Each step of it must be a step of ``tidemark.spec.deletes``, or change nothing that it speaks of.
"""

import functools
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field

from tidemark.impl.datanode.data_node import DataNode, DataNodePorts
from tidemark.impl.datanode.sync_task import SyncTask
from tidemark.impl.types import Pack, SegmentId
from tidemark.impl.values.messages import is_level_zero
from tidemark.models.instance import Instance
from tidemark.models.protocols.deletes.refinement import (
    MemoryView,
    RecordsView,
    abstract,
    memory_view,
    records_view,
)
from tidemark.models.protocols.flush.ports import CHANNEL, COORDINATOR, NODE
from tidemark.models.protocols.flush.program import FlushProgram, FlushScenario
from tidemark.models.refinement.program import Abstraction
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.program import Observation

SPECIFICATION = "tidemark.spec.deletes:Deletes"
_KEY = 1
_NOTHING = MemoryView(consumed=0, rows=(), deletes=(), tasks=())


class DeletesScenario(FlushScenario):
    """The log has rows (a segment at the tick) and deletes (a level-zero segment, below 0) of one key."""

    rows: tuple[SegmentId, ...] = Field(alias="log")

    @property
    def segments(self) -> tuple[SegmentId, ...]:
        """The segments that have rows; one if none has."""
        return tuple(sorted({segment for segment in self.rows if segment > 0})) or (1,)

    @property
    def levels(self) -> int:
        """How many level-zero segments of the specification are needed: each delete once in each life."""
        return sum(map(is_level_zero, self.rows)) * (1 + self.crashes)

    def packs(self) -> list[Pack]:
        """Return the log: at most one row or delete a pack."""
        found = FlushScenario.packs(self)
        return [replace(one, rows=tuple(replace(row, key=_KEY) for row in one.rows)) for one in found]

    def instance(self, protocol: str = SPECIFICATION) -> Instance:
        """Return the bounded instance of a specification with this log. Faults are not counted there."""
        place = {segment: index for index, segment in enumerate(self.segments)}
        count = len(place)
        return Instance(
            protocol,
            bounds={
                "Segment": count, "Level": self.levels, "Key": 1, "Position": len(self.rows), "Faults": 0,
            },
            constants={
                "inserts": [False, *(segment > 0 for segment in self.rows)],
                "deletes": [False, *map(is_level_zero, self.rows)],
                "key": [0] * (len(self.rows) + 1),
                "segment_of": [0, *(place.get(segment, 0) for segment in self.rows)],
                "imported": [False] * count,
                "extra": [[False]] * count,
            },
            name="scheduled",
        )  # fmt: skip


class DeletesProgram(FlushProgram):
    """One data node and one coordinator; a client asks for flushes."""

    table = "deletes"
    scenario: DeletesScenario

    def __init__(self, scenario: DeletesScenario) -> None:
        super().__init__(scenario)
        self._syncs: dict[str, tuple[int, ...]] = {}

    def abstraction_of(self, scenario: DeletesScenario) -> Abstraction:
        """See FlushProgram."""
        return _abstraction(scenario)

    def make_node(self, ports: DataNodePorts, session: int) -> DataNode:
        """See FlushProgram. Note when a buffer of deletes is taken: the mapping numbers them."""
        node = super().make_node(ports, session)
        submit = node.sync_manager.submit

        def noting(task: SyncTask) -> None:
            if is_level_zero(task.segment_id):
                self._syncs[task.path] = tuple(row.ts for row in task.rows)
            submit(task)

        node.sync_manager.submit = noting  # type: ignore[method-assign]
        return node

    def meant(self, label: str) -> str | None:
        """No two actions have one effect."""
        del label
        return None

    def observe(self) -> Observation:
        """Return what the node and the coordinator hold, each under its own name."""
        assert self.coordinator is not None
        return {
            NODE: (self._memory(), self._history.sent, tuple(self._syncs.items())),
            COORDINATOR: records_view(self.coordinator, CHANNEL, self._recorded),
        }

    def _memory(self) -> MemoryView:
        """The memory of the last incarnation that has opened the channel."""
        pipeline = self.node.pipelines.get(CHANNEL) if self.node is not None else None
        if pipeline is None:
            return _NOTHING
        return memory_view(pipeline.write_buffer, self._opened, self._history)

    def declared(self) -> Hashable:
        """Return the mutable data of node and coordinator that influence what they do next."""
        rest = (self._alive(), self._view_node() if self.node else None, self._view_coordinator())
        return (super().declared(), rest, tuple(self._syncs.items()))


@functools.cache
def _abstraction(scenario: DeletesScenario) -> Abstraction:
    """A pure function of its argument: it may outlive executions."""

    def values(observation: Observation) -> Mapping[str, Any]:
        node: Any = observation[NODE]
        memory, sent, syncs = node
        records = observation[COORDINATOR]
        assert isinstance(records, RecordsView)
        return abstract(
            memory,
            records,
            dict(syncs),
            sent=sent,
            segments=len(scenario.segments),
            levels=scenario.levels,
            positions=len(scenario.rows),
        )

    return Abstraction(scenario.instance(SPECIFICATION), values, ignored=("faults",))


deletes = program(DeletesProgram, DeletesScenario)
