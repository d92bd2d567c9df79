"""Which step of ``tidemark.spec.tso`` an event of the driven world represents, by its label.

The reading follows ``actions.toml``, the table that ``impl/README.md`` shows. It says what the event is
*meant* to do, from its name and from what waits for it; whether it does that is what the machine finds out.
"""

from __future__ import annotations

import re

from tidemark.impl.tso.oracle import Phase
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.tso.driver_world import DrivenMemory, DrivenOracle
from tidemark.models.protocols.tso.program import ENDS
from tidemark.models.refinement.actions import action_table
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.world.world import World

_CALL = re.compile(r"call (\d+)$")
_UPDATER = 0
_FAULTS = ("fail", "unknown")
_CAN_FAIL = ("load oracle", "save oracle")
_ACTIONS = action_table("tso")
_OF_THE_SERVER = ("elect", "start_publish")
_OF_THE_UPDATER = ("decide", "publish")
_SAVES = {"": "save", "fail": "fail_save", "unknown": "lose_save"}
_FIRST_SAVES = {"": "start_save", "fail": "fail_start_save", "unknown": "lose_start_save"}


class EventReader:
    """Reads the events of one run."""

    def __init__(self, program: DrivenOracle, world: World) -> None:
        self._program = program
        self._world = world
        self._place = {name: place for place, name in enumerate(program.scenario.names)}

    def without_count(self, step: Step) -> Step:
        """The step as ``steps_of`` gives it: how many timestamps are asked for is free."""
        return Step(step.action, step.args[:2]) if step.action == "begin" else step

    def prepare(self, step: Step) -> None:
        """To be called before the event of a step is fired."""
        if step.action == "begin":
            call, _, count = (int(value) for value in step.args)
            self._program.counts[call] = count

    def steps_of(self, event: Event) -> list[Step]:
        """The steps that the event may represent."""
        *words, title = event.label.split()
        server = title.partition("#")[0].partition("@")[0]
        if server not in self._place or words[0] == "restart":
            return []
        fault = words.pop(0) if words[0] in _FAULTS else ""
        place, what = self._place[server], " ".join(words)
        call = _CALL.search(event.owner)
        if call is not None:
            return self._of_call(what, place, int(call[1]))
        if what.startswith("draw "):
            return self._of_clock(what, place)
        return (
            []
            if fault and what not in ("load oracle", "save oracle")
            else self._of_server(fault, what, place)
        )

    def _memory(self, place: int) -> DrivenMemory:
        return self._program.driven[place]

    def _of_server(self, fault: str, what: str, place: int) -> list[Step]:
        if what == "load oracle":
            return [Step("fail_load" if fault else "load", (place,))]
        if what == "save oracle":
            return self._of_save(fault, place)
        if what == "expire oracle":
            return [Step("expire")] if self._program.values()["leader"] == place else []
        if what == "lose oracle":
            return [Step("fail_start_save", (place,))]
        if what in ENDS:
            return [] if self._waits_for_first_save(place) else [Step("crash", (place,))]
        action = "elect" if what == "elect oracle" else _ACTIONS.at(what.removeprefix("resume "))
        if action in _OF_THE_UPDATER:
            return [Step(action, (place, _UPDATER))]
        return [Step(action, (place,))] if action in _OF_THE_SERVER else []

    def _of_save(self, fault: str, place: int) -> list[Step]:
        """A save of one that has ended arrives late, if it is taken."""
        ended = not self._is_up(place)
        if ended and fault == "fail":
            return []
        if self._waits_for_first_save(place):
            return [Step("lose_start_save" if ended else _FIRST_SAVES[fault], (place,))]
        return [Step("lose_save" if ended else _SAVES[fault], (place, _UPDATER))]

    def _waits_for_first_save(self, place: int) -> bool:
        """If such a server ends, the specification sees that when the save has arrived or is lost."""
        return bool(self._program.values()["role"][place] == "decided")

    def _is_up(self, place: int) -> bool:
        lane = self._world.lanes[self._program.scenario.names[place]]
        server = self._memory(place).server
        return lane.alive and lane.incarnation == 1 and server is not None and not server.stopped

    def _of_clock(self, what: str, place: int) -> list[Step]:
        point, _, index = what.removeprefix("draw ").partition("=")
        if _ACTIONS.at(point) == "start_decide":
            return [Step("start_decide", (place, int(index)))]
        return [Step("read_clock", (place, _UPDATER, int(index)))]

    def _of_call(self, what: str, place: int, call: int) -> list[Step]:
        if what == "resume client.begin":
            return [Step("begin", (call, place))] if self._is_up(place) else []
        memory = self._memory(place)
        assert memory.server is not None
        if not self._is_up(place) or (what == "resume call.retry" and memory.out_of_tries(call)):
            return [Step("fail", (call,))]
        if _ACTIONS.at(what.removeprefix("resume ")) == "allocate":
            return [Step("allocate", (call,))]
        oracle = memory.server.oracle
        serves = oracle is not None and oracle.phase is Phase.SERVING
        return [Step("load_object", (call,))] if serves else []
