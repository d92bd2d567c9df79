"""Drives the real query node by the actions of ``SealedAreClosed`` (``mutants/positions.py``).

As in ``driver.py``, but segments have positions of their own: the driver saves their rows up to one, and may
flush a segment ahead of the channel's checkpoint.
"""

from __future__ import annotations

from typing import Any

from tidemark.models.conformance.adapter import State
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.growing_log import LOG
from tidemark.models.protocols.segments.driver import DrivenSegments, SegmentsAdapter, scenario_of
from tidemark.models.protocols.segments.positions import PositionsProgram
from tidemark.models.protocols.segments.positions_refinement import abstract
from tidemark.models.protocols.segments.program import NODE


class DrivenPositions(DrivenSegments, PositionsProgram):
    """The query node alone, with positions of segments."""


class PositionsAdapter(SegmentsAdapter):
    """One run of a query node."""

    def _made(self, instance: Instance) -> DrivenPositions:
        return DrivenPositions(scenario_of(instance), protocol=instance.protocol)

    def _look(self) -> State:
        observed: Any = self._program.observe()
        (entries, stored), (node, seen) = observed[LOG], observed[NODE]
        found = abstract(entries, stored, node, seen, self._program.scenario.writes)
        return self._checker.encode({**found, "faults": self._crashes})

    # What is stored.

    def _do_sync(self, g: int, value: int) -> None:
        stored, storage = self._stored, self._program.storage
        rows = {
            w for w in storage.logged() if storage.writes[w].segment == g and storage.writes[w].ts <= value
        }
        self._program.keep(
            stored._replace(
                saved=tuple(sorted({*stored.saved, *rows})),
                positions=tuple(sorted({**dict(stored.positions), g: value}.items())),
            )
        )

    def _may_flush(self, g: int) -> bool:
        return self._program.storage.is_complete(g)

    # The filter.

    def _forgets(self) -> bool:
        """The end of the pack forgets something."""
        delegator, pipeline = self._program.delegator, self._program.pipeline
        if delegator is None or pipeline is None:
            return False
        return any(upto < pipeline.pack for upto in delegator.excluded.upto.values())

    def _may_end_pack(self) -> bool:
        delegator = self._program.delegator
        if delegator is None or delegator.serviceable or not self._forgets():
            return False
        return bool(self._found_by("resume pipeline.tsafe"))

    def _do_end_pack(self) -> None:
        self._fire_one("resume pipeline.tsafe")

    def _passes(self) -> bool:
        return super()._passes() and not self._forgets()
