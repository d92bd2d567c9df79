"""The flush program as it is driven step by step: every action has an event that does it.

Beyond what the explored programs have: a client that seals segments, an operator that moves the channel, the
look at the memory, named pauses instead of timers, and faults.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datanode.data_node import DataNodeParts
from tidemark.impl.datanode.policies import SegmentView, SyncPolicy, default_policies
from tidemark.impl.errors import RpcError
from tidemark.impl.ports import Clock
from tidemark.impl.types import SegmentId
from tidemark.models.instance import Instance
from tidemark.models.protocols.flush.ports import NODE, NodeCalls
from tidemark.models.protocols.flush.program import FlushProgram
from tidemark.models.protocols.flush.scenario import CHANNEL, FlushScenario
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, Settings
from tidemark.models.simulation.world.process import Process

_CRASHES, _LOSSES, _MOVES = 2, 6, 2
_COPIES, _FAILED_WRITES = 3, 3
_ROW_BYTES = 24
_INTERVAL = 100
_DEADLINE = 1.0


def scenario_of(instance: Instance) -> FlushScenario:
    """The log and the flush requests of a bounded instance.

    ValueError if it has a segment without rows: the implementation never hears of such a segment.
    """
    constants = instance.map_constants
    carries, segment_of = constants["carries"], constants["segment_of"]
    rows = tuple(int(segment_of[p]) + 1 if carries[p] else 0 for p in range(1, len(carries)))
    segments = int(str(instance.bounds["Segment"]))
    if set(rows) - {0} != set(range(1, segments + 1)):
        raise ValueError(
            f"instance {instance.name!r}: the rows lie in the segments {sorted(set(rows) - {0})} of"
            f" {segments}; give each segment a row, or bound Segment by the number of those that have one"
        )
    last = int(instance.constants.get("ask_up_to", 0))
    return FlushScenario(
        rows=rows,
        flushes=tuple(range(1, last + 1)),
        moves=_MOVES,
        faults=FaultBudget(
            crashes=_CRASHES,
            delays=_LOSSES,
            drops=_LOSSES,
            lost_replies=_LOSSES,
            duplicates=_COPIES,
            storage_failures=_FAILED_WRITES,
            storage_lost_acks=_FAILED_WRITES,
            torn_writes=_FAILED_WRITES,
        ),
    )


class DrivenFlush(FlushProgram):
    """One data node, one coordinator, clients and an operator.

    Attributes:
        picked: by name of a policy the segment that it has picked last: the one for which it waits now.
        interval: the node's ``checkpoint_interval_ts``.
    """

    memory_check = True
    interval = _INTERVAL

    def __init__(self, scenario: FlushScenario, *, protocol: str) -> None:
        self.picked: dict[str, SegmentId] = {}

        def watched(config: DataNodeConfig) -> Sequence[SyncPolicy]:
            return [_Watched(policy, self.picked) for policy in default_policies(config)]

        super().__init__(scenario, parts=DataNodeParts(policies=watched), protocol=protocol)
        self.settings = Settings(
            faults=scenario.faults, crashable=frozenset({NODE}), clock=ClockOrder.UNTIMED
        )

    def config(self) -> DataNodeConfig:
        """Every policy has its day: two rows fill a buffer, two ticks make it stale, any row is too much
        memory; a checkpoint is due at every other tick.
        """
        return DataNodeConfig(
            full_buffer_bytes=2 * _ROW_BYTES,
            stale_after_ts=1,
            checkpoint_interval_ts=self.interval,
            memory_watermark_bytes=1,
        )

    def clock(self, process: Process) -> Clock:
        """Pauses are points with a name."""
        return _NamedPauses(process)

    def start_others(self, process: Process) -> None:
        """A client for each segment."""
        calls = NodeCalls(process, _nothing)
        for segment in self.scenario.segments:
            process.spawn(self._seal(process, calls, segment), f"sealer {segment}")

    async def _seal(self, process: Process, calls: NodeCalls, segment: SegmentId) -> None:
        """Ask for the end of a segment, again and again: a new incarnation has to hear it too."""
        last = max(tick for tick, owner in enumerate(self.scenario.rows, start=1) if owner == segment)
        while True:
            await process.point("sealer.ask")
            try:
                await calls.seal_segments(CHANNEL, [segment], expires=last, deadline=_DEADLINE)
            except RpcError:
                continue


def _nothing() -> None:
    """A sealer does not poll: nothing waits for this news."""


@dataclass(frozen=True)
class _NamedPauses:
    process: Process

    async def sleep(self, seconds: float) -> None:
        """Wait until the search picks that the pause ends."""
        del seconds
        await self.process.point("pause")


class _Watched:
    """A policy that leaves a note of what it picks."""

    def __init__(self, policy: SyncPolicy, picked: dict[str, SegmentId]) -> None:
        self._policy = policy
        self._picked = picked
        self._name = policy.name
        self._flushes = policy.flushes

    @property
    def name(self) -> str:
        """As the policy's."""
        return self._name

    @property
    def flushes(self) -> bool:
        """As the policy's."""
        return self._flushes

    def picks(self, view: SegmentView) -> bool:
        """As the policy's, with a note."""
        picks: Callable[[SegmentView], bool] = self._policy.picks
        if not picks(view):
            return False
        self._picked[self._name] = view.segment_id
        return True
