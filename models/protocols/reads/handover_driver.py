"""Drives real query nodes and proxies that ask one node after the other, by the actions of ``HandOver``."""

from __future__ import annotations

from typing import ClassVar

from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.reads.driver import DrivenReads, ReadsAdapter, brings_rows, node_of
from tidemark.models.protocols.reads.handover import HandOverProgram
from tidemark.models.protocols.reads.handover_refinement import order_of
from tidemark.models.protocols.reads.program import ReadsScenario
from tidemark.models.simulation.loop.lane import Event


class DrivenMoves(DrivenReads, HandOverProgram):
    """Clients as the driver wishes, whose proxies ask one node after the other."""


class MovesAdapter(ReadsAdapter):
    """One run of clients, proxies and query nodes."""

    quiet_again: ClassVar[tuple[str, ...]] = ("take_pack", "fail_read", "follow")

    def driven(self, scenario: ReadsScenario, protocol: str) -> DrivenReads:
        """The program that is driven."""
        self._moves = DrivenMoves(scenario, protocol=protocol)
        return self._moves

    def _of_read(self, step: Step, read: int) -> list[Event]:
        if step.action in ("check", "answer", "stamp_read"):
            return super()._of_read(step, read)
        following = self._following(read)
        if step.action in ("follow", "ask_another"):
            if following[:1] != [step.args[1]]:
                return []
            if step.action == "follow":
                return self._refuses(read)
            return self._loses(read) if self._runs(self._place(read)) else []
        if step.action == "cancel" and following:
            return self._labelled("allocate", owner=f"read {read}")
        return [] if step.action == "fail_read" and following else super()._of_read(step, read)

    def _carried(self, verb: str, read: int) -> list[Event]:
        place = self._place(read)
        return [event for event in super()._carried(verb, read) if node_of(event) == place]

    def _place(self, read: int) -> int:
        return self._order(read)[len(self._tried(read))]

    def _following(self, read: int) -> list[int]:
        """The nodes that the read has not asked."""
        return self._order(read)[len(self._tried(read)) + 1 :]

    def _order(self, read: int) -> list[int]:
        scenario = self._moves.scenario
        return order_of(scenario.reads[read][1], scenario.nodes)

    def _tried(self, read: int) -> list[int]:
        """The nodes that the read has left."""
        asked = self._moves.asked[read]
        refused = bool(asked) and self._moves.nodes[asked[-1]].reads.get(read, read) is None
        return asked if refused and len(asked) < self._moves.scenario.nodes else asked[:-1]

    def _quiet(self) -> list[Event]:
        """The refusal of a node that the read has left is quiet, too."""
        late = [
            event
            for event in self._labelled("reply client")
            if event.message is not None
            and not brings_rows(event)
            and node_of(event) != self._place(event.message.arguments[0])
        ]
        return super()._quiet() + late
