"""Drives real caches and allocator by the actions of ``tidemark.spec.ids``, in the controlled world.

A step is offered when an event that may happen now is that step, and has its arguments. A question is asked
by a row that finds nothing left; by chance it wants one id or two. By chance the coordinator crashes between
two questions, and another one begins.
"""

from __future__ import annotations

from typing import ClassVar

from tidemark.models.conformance.adapter import BrokenRunError
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.ids.ports import COORDINATOR
from tidemark.models.protocols.ids.program import IdsProgram, IdsScenario
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.settings import FaultBudget
from tidemark.models.simulation.world.process import Process

_MANY = 40
_FAULTS = 8


class DrivenIds(IdsProgram):
    """Each proxy has a client for each row, which asks until the row has an id.

    counts: how many ids a row wants; to be set before its client asks.
    """

    def __init__(self, scenario: IdsScenario, *, protocol: str) -> None:
        super().__init__(scenario, protocol=protocol)
        self.counts: dict[int, int] = {}

    def count_of(self, number: int) -> int:
        """What was set for it."""
        return self.counts[number]

    async def clients(self, process: Process, place: int) -> None:
        """A client for each row."""
        for number in range(len(self.scenario.takes)):
            process.spawn(self._row(process, place, number), f"row {number}")

    async def _row(self, process: Process, place: int, number: int) -> None:
        while not self.has(number):
            await process.point("client.take")
            await self.client(self.askers[place], number)

    def has(self, number: int) -> bool:
        """Whether a proxy has given the row its ids."""
        return any(number in asker.begun and asker.begun[number].runs for asker in self.askers)

    def waits(self, number: int) -> bool:
        """Whether the row waits for its ids at some proxy."""
        return any(number in asker.begun and number not in asker.over for asker in self.askers)


class IdsAdapter(DrivenRun):
    """One run of proxies and their coordinator."""

    ignored: ClassVar[tuple[str, ...]] = ("faults",)
    never_offered: ClassVar[dict[str, str]] = {
        "hold_again": "a call has one answer",
        "answer_again": "the answer to a copy of a question reaches nothing",
    }

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        del checker
        rows, by = int(str(instance.bounds["Row"])), [int(str(p)) for p in instance.map_constants["by"]]
        self._places = [(proxy, by[:b].count(proxy)) for b, proxy in enumerate(by)]
        proxies = 1 + max(by)
        scenario = IdsScenario(
            takes=tuple((row % proxies, 1) for row in range(rows)),
            questions=len(by) // proxies,
            crashable=(COORDINATOR, *(f"proxy {p}" for p in range(proxies))),
            faults=FaultBudget(crashes=_FAULTS, drops=_FAULTS, lost_replies=_FAULTS),
        )
        self._program = DrivenIds(scenario, protocol=instance.protocol)
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
        if step.action == "ask":
            row = int(events[0].owner.partition(" ")[2])
            self._program.counts[row] = 1 + chance % 2
        if step.action == "give":
            self._program.counts[int(step.args[1])] = int(step.args[2]) - self._next(int(step.args[0])) + 1
        self._fire(events[0 if step.action in ("ask", "give") else chance % len(events)])
        if step.action == "ask":
            self._fire_all("resume ids.ask", self._name(int(step.args[0])))
        self._state = self._look()
        self._settle()
        if chance and not any(q.open for asker in self._program.askers for q in asker.questions):
            self._fire_all("crash", COORDINATOR)
            self._settle()

    # Which events stand for a step.

    def _events_of(self, step: Step) -> list[Event]:
        one = int(step.args[0])
        if step.action in self.never_offered:
            return []
        if step.action == "crash":
            return self._found_by("crash", f"proxy {one}")
        name, number = self._name(one), self._places[one][1]
        asked = len(self._program.askers[self._places[one][0]].questions)
        if step.action == "ask":
            return self._asking(name) if number == asked else []
        if step.action == "give":
            return self._giving(*(int(value) for value in step.args))
        if number >= asked:
            return []
        verbs = {"lose": ("drop ", "lose reply "), "hold": ("reply ",), "answer": ("resume generate.add",)}
        events = [
            event
            for event in self._world.enabled()
            if event.label.startswith(verbs[step.action]) and self._is_about(event, self._places[one])
        ]
        if step.action == "answer":
            return [event for event in events if self._would_be(one, int(step.args[1]), int(step.args[2]))]
        return events

    def _name(self, batch: int) -> str:
        return f"proxy {self._places[batch][0]}"

    def _found_by(self, verb: str, process: str) -> list[Event]:
        return [
            event
            for event in self._world.enabled()
            if event.label.startswith(verb) and event.lane.name == process
        ]

    def _asking(self, name: str) -> list[Event]:
        """A row that has no id begins to want one, where nothing is left."""
        cache = self._program.askers[int(name.partition(" ")[2])].cache
        if cache is None or cache.left is not None or cache.waiting:
            return []
        return [event for event in self._found_by("resume client.take", name) if self._is_free(event)]

    def _is_free(self, event: Event) -> bool:
        row = int(event.owner.partition(" ")[2])
        return not self._program.has(row) and not self._program.waits(row)

    def _giving(self, batch: int, row: int, last: int) -> list[Event]:
        proxy = self._places[batch][0]
        cache, following = self._program.askers[proxy].cache, self._next(batch)
        if cache is None or not following or self._program.has(row):
            return []
        left = self._program.scenario.key(cache.left.last) if cache.left is not None else 0
        if not following <= last <= left:
            return []
        if cache.waiting:
            request = self._program.askers[proxy].begun.get(row)
            wanted = min(left, following + cache.waiting[0].missing - 1)
            fits = request is cache.waiting[0] and last == wanted
            return self._found_by("resume ids.give", f"proxy {proxy}") if fits else []
        if self._program.waits(row):
            return []
        return [
            event
            for event in self._found_by("resume client.take", f"proxy {proxy}")
            if event.owner == f"row {row}"
        ]

    def _next(self, batch: int) -> int:
        """The specification's number of the next id of what is left; 0 if it is of another batch."""
        proxy, number = self._places[batch]
        asker = self._program.askers[proxy]
        if asker.cache is None or asker.cache.left is None or number >= len(asker.questions):
            return 0
        answer, first = asker.questions[number].answer, asker.cache.left.first
        is_here = answer is not None and answer.first <= first <= answer.last
        return self._program.scenario.key(first) if is_here else 0

    def _is_about(self, event: Event, place: tuple[int, int]) -> bool:
        """The event is one of the question. An incarnation of a proxy has one question at a time."""
        if event.message is not None:
            return tuple(event.message.arguments[1]) == place
        asker = self._program.askers[place[0]]
        title = self._world.lanes[f"proxy {place[0]}"].title
        return asker.questions[place[1]].open and event.owner.endswith(f"/allocate {title}")

    def _would_be(self, batch: int, first: int, last: int) -> bool:
        oracle, scenario = self._program.oracle, self._program.scenario
        cache = self._program.askers[self._places[batch][0]].cache
        if oracle is None or oracle.published is None or cache is None or not cache.waiting:
            return False
        begun = (oracle.published.milli << 18) + oracle.published.logical
        count = min(scenario.most, max(scenario.batch, cache.waiting[0].missing))
        return first == scenario.key(begun + 1) and last == scenario.key(begun + count)

    # Letting things happen.

    def _fire_all(self, verb: str, process: str) -> None:
        for event in self._found_by(verb, process)[:1]:
            self._fire(event)

    def _settle(self) -> None:
        """Fire what waits for nothing else, and changes nothing."""
        for _ in range(_MANY):
            prompt = next(iter(self._prompt()), None)
            if prompt is None:
                return
            self._fire(prompt)
        raise BrokenRunError("proxies and coordinator do not come to rest")

    def _prompt(self) -> list[Event]:
        labels = ("restart", "deliver", "get ", "resume start.", "save ", "resume ids.turn")
        found = [event for event in self._world.enabled() if event.label.startswith(labels)]
        failed = [
            event
            for place, asker in enumerate(self._program.askers)
            if asker.cache is not None and asker.cache.waiting and asker.cache.waiting[0].failure
            for event in self._found_by("resume ids.give", f"proxy {place}")
        ]
        titles = [self._world.lanes[name].title for name in self._program.scenario.proxies]
        dead = [
            event
            for event in self._found_by("resume generate.add", COORDINATOR)
            if not event.owner.endswith(tuple(f"/allocate {title}" for title in titles))
        ]
        return [*found, *failed, *dead]
