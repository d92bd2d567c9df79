"""A query node whose segments have positions of their own, as a program under exploration.

Each step must be a step of ``SealedAreClosed`` (``mutants/positions.py``), or change nothing of it. The
coordinator records the files of a segment together with their position; the channel's checkpoint stays behind
it, or is ahead.
"""

from collections.abc import Mapping
from typing import Any

from tidemark.impl.querynode.query_node import QueryNode
from tidemark.impl.types import BinlogRecord, EndPosition, SegmentRecord
from tidemark.models.protocols.common.growing_log import LOG
from tidemark.models.protocols.segments.ports import CHANNEL, Storage, Stored
from tidemark.models.protocols.segments.program import NODE, SegmentsProgram, SegmentsScenario
from tidemark.models.protocols.segments.refinement.positions import (
    SPECIFICATION,
    FilterView,
    NotingDelegators,
    abstract,
    filter_view,
)
from tidemark.models.refinement.program import Abstraction
from tidemark.models.refinement.scenario import mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.world.world import World

FILTER = "filter of node"


class PositionedStorage(Storage):
    """Files and records of segments with positions: ``sync G N`` saves the rows of a segment up to there."""

    async def perform(self, step: str) -> None:
        """See Storage."""
        kind, *numbers = step.split()
        if kind != "sync":
            await super().perform(step)
            return
        segment, value = (int(number) for number in numbers)

        def make() -> None:
            self._world.touch(writes=self._bit)
            rows = [
                w for w in self.logged() if self.writes[w].segment == segment and self.writes[w].ts <= value
            ]
            stored = self.stored
            self.stored = stored._replace(
                saved=tuple(sorted({*stored.saved, *rows})),
                positions=tuple(sorted({**dict(stored.positions), segment: value}.items())),
            )
            self.log.gate.look()

        await self.log.gate.operation(f"sync {segment} {value}", lambda: value <= self.log.highest, make)

    def is_complete(self, segment: int) -> bool:
        """See Storage."""
        upto = dict(self.stored.positions).get(segment, 0)
        rows = [w for w in self.logged() if self.writes[w].segment == segment]
        return bool(rows) and all(self.writes[w].ts <= upto for w in rows)

    def records(self, stored: Stored) -> tuple[SegmentRecord, ...]:
        """See Storage."""
        return tuple(self.record(segment, stored) for segment, _ in stored.positions)

    def record(self, segment: int, stored: Stored) -> SegmentRecord:
        """See Storage."""
        upto = dict(stored.positions)[segment]
        files = (BinlogRecord(f"rows/{segment}/{upto}", (1,)),)
        flushed = segment in stored.flushed
        return SegmentRecord(segment + 1, CHANNEL, EndPosition(upto), flushed=flushed, binlogs=files)


class PositionsScenario(SegmentsScenario):
    """See ``SegmentsScenario``. ``sync G N`` is stored too: the rows of segment G up to N are in files."""

    protocol: str = SPECIFICATION


class PositionsProgram(SegmentsProgram):
    """See ``SegmentsProgram``."""

    def abstraction_of(self, scenario: SegmentsScenario) -> Abstraction:
        """See SegmentsProgram."""
        return mapped(scenario, _values, ignored=("faults",))

    def look_at(self, node: QueryNode) -> None:
        """See SegmentsProgram."""
        node.delegators = NotingDelegators()

    def storage_of(self, world: World) -> Storage:
        """See SegmentsProgram."""
        return PositionedStorage(world, self.scenario.writes, self.scenario.failures)

    def observe(self) -> Observation:
        """Return what each part holds, under its name."""
        found, delegator = super().observe(), self.delegator
        assert found is not None
        seen = FilterView() if delegator is None else filter_view(delegator)
        return {LOG: found[LOG], NODE: (found[NODE], seen)}


def _values(scenario: SegmentsScenario, known: Any) -> Mapping[str, Any]:
    (entries, stored), (node, seen) = known[LOG], known[NODE]
    return abstract(entries, stored, node, seen, scenario.writes)


positions = program(PositionsProgram, PositionsScenario)
