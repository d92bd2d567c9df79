"""Drives the real store of sessions and its follower by the actions of ``tidemark.spec.sessions``, in the
controlled world.

A step is offered when an event that may happen now is that step. Sessions are numbered in the order in which
they begin; a store forgets all that it has at once.
"""

from __future__ import annotations

from typing import ClassVar

from tidemark.models.conformance.adapter import BrokenRunError
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.sessions.program import (
    COMPACTION,
    COORDINATOR,
    Coordinator,
    SessionsProgram,
    SessionsScenario,
)
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.settings import FaultBudget

_MANY = 40
_TIMES = 8
_PROMPT = ("restart", "resume sync.add", "resume sync.del")


class SessionsAdapter(DrivenRun):
    """One run of nodes, store and coordinator."""

    ignored: ClassVar[tuple[str, ...]] = ("faults",)

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        del checker
        scenario = SessionsScenario(
            lives=(1,) * int(str(instance.bounds["Node"])),
            compactions=_TIMES,
            faults=FaultBudget(crashes=_TIMES),
        )
        self._program = SessionsProgram(scenario, protocol=instance.protocol)
        super().__init__(self._program)
        self._settle()
        self._state = self._look()

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        return bool(self._events_of(step))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        events = self._events_of(step)
        if not events:
            raise BrokenRunError(f"{step} was offered, and no event is that step any more")
        self._fire(events[chance % len(events)])
        self._state = self._look()
        self._settle()

    # Which events represent a step.

    def _events_of(self, step: Step) -> list[Event]:
        if step.action in ("register", "expire", "compact"):
            return self._of_the_store(step)
        if step.action == "crash":
            return self._found_by("crash", COORDINATOR) if self._phase() != "down" else []
        if step.action in ("begin", "serve"):
            point = {"begin": "resume coordinator.begin", "serve": "resume sessions.serve"}[step.action]
            return self._found_by(point, COORDINATOR)
        if step.action == "list_sessions":
            return self._found_by("transaction", COORDINATOR) if self._phase() == "begun" else []
        return self._of_the_follower(step)

    def _of_the_store(self, step: Step) -> list[Event]:
        shared, one = self._program.shared, int(step.args[0])
        if step.action == "compact":
            return self._found_by("compact", COMPACTION) if one == len(shared.changes) else []
        if step.action == "expire":
            return self._found_by(f"end {one + 1} ")
        begun = sum(event.alive for event in shared.changes)
        return self._found_by("register") if one == begun else []

    def _of_the_follower(self, step: Step) -> list[Event]:
        last = self._follower()
        if last is None:
            return []
        if step.action == "lose_watch":
            return self._found_by("watch after", COORDINATOR) if self._is_behind(last) else []
        source = int(step.args[0]) + 1
        if step.action == "fence":
            return self._found_by(f"fence {source} ", COORDINATOR)
        if step.action == "learn":
            told = self._told_next(last) == (source, True)
            return self._found_by("watch after", COORDINATOR) if told else []
        if step.action == "forget":
            is_over = last.store.phase == "serving" and self._is_noted_next(last, source)
            return self._found_by("transaction", COORDINATOR) if is_over else []
        if last.store.phase != "serving" or source not in last.sync.entries or last.sync.lock.users:
            return []
        return [
            event
            for event in self._found_by("deliver", COORDINATOR)
            if event.message is not None and event.message.arguments == (source,)
        ]

    def _follower(self) -> Coordinator | None:
        """The coordinator that runs."""
        last = self._program.coordinators[-1] if self._program.coordinators else None
        return last if last is not None and last.process.alive else None

    def _phase(self) -> str:
        last = self._follower()
        return "down" if last is None else last.store.phase

    def _is_behind(self, last: Coordinator) -> bool:
        return last.watch.revision < self._program.shared.view().compacted

    def _told_next(self, last: Coordinator) -> tuple[int, bool] | None:
        """The source of the next change, and whether it begins."""
        changes = self._program.shared.changes
        if last.store.phase != "serving" or self._is_behind(last) or len(changes) <= last.watch.revision:
            return None
        event = changes[last.watch.revision]
        return int(event.source), event.alive

    def _is_noted_next(self, last: Coordinator, source: int) -> bool:
        """The logs refuse the source, and it is forgotten when that is noted."""
        event = self._program.shared.changes[last.watch.revision - 1]
        return not event.alive and event.source == source and source in self._program.shared.fenced

    def _found_by(self, verb: str, process: str = "") -> list[Event]:
        return [
            event
            for event in self._world.enabled()
            if event.label.startswith(verb) and (not process or event.lane.name == process)
        ]

    # Letting things happen.

    def _settle(self) -> None:
        """Fire what waits for nothing else, and changes nothing."""
        for _ in range(_MANY):
            prompt = next(iter(self._prompt()), None)
            if prompt is None:
                return
            self._fire(prompt)
            self._raise_failures()
        raise BrokenRunError("the coordinator does not come to rest")

    def _prompt(self) -> list[Event]:
        found = self._found_by(_PROMPT[0]) + self._found_by(_PROMPT[1]) + self._found_by(_PROMPT[2])
        last = self._follower()
        if last is None:
            return found
        told = self._told_next(last)
        if told is not None and not told[1]:
            found += self._found_by("watch after", COORDINATOR)
        if last.store.phase == "listed":
            found += self._found_by("transaction", COORDINATOR)
        for source in self._program.shared.fenced:
            found += self._found_by(f"fence {source} ", COORDINATOR)
        return found
