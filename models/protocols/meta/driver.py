"""Drives the real coordinator and caches by the actions of ``tidemark.spec.meta``, in the controlled world.

A step is offered when an event that may happen now is that step. A fetch has the number of the request that
asks. Each proxy has one session, and is told in the order of its name. What waits for nothing else and
changes nothing happens by itself; by chance a request goes on that is over, or its client leaves.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.proxy.meta_cache import MetaCache
from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.meta.program import CLUSTER, MetaProgram, MetaScenario
from tidemark.models.protocols.meta.refinement import NAME, abstract
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event

_MANY = 20
_FAILURES = 4
_SESSION = {"start": "session.start", "learn": "session.learn", "leave": "session.leave"}
_LEAVE = "resume client.leave"


class MetaAdapter(DrivenRun):
    """One run of coordinator and proxies."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        at = tuple(int(str(proxy)) for proxy in instance.map_constants["at"])
        scenario = MetaScenario(
            requests=at,
            changes=int(str(instance.bounds["Version"])),
            leaves=tuple(range(1 + max(at))),
            failures=_FAILURES,
            cancels=tuple(range(len(at))),
        )
        self._checker = checker
        self._program = MetaProgram(scenario)
        super().__init__(self._program)

    def _look(self) -> State:
        observed: Any = self._program.observe()
        return self._checker.encode(abstract(*observed[CLUSTER]))

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. A session lasts until all its requests have come, there are no more changes than
        requests, and answers are slow, or slow to be taken: or else hardly anything would meet.
        """
        requests, one = self._program.requests, int(step.args[0]) if step.args else 0
        match step.action:
            case "leave":
                ready = all(request.begun for request in requests if request.proxy == one)
            case "change":
                ready = self._may_change()
            case "answer":
                ready = not self._is_being_created() and (one % 2 == 1 or not self._may_be_joined(one))
            case "insert":
                ready = one % 2 == 0 or not (self._may_change() or self._enabled("invalidate"))
            case _:
                ready = True
        return ready and bool(self._events_of(step))

    def _may_change(self) -> bool:
        meta = self._program.meta
        assert meta is not None
        return meta.change is None and meta.last < sum(one.begun for one in self._program.requests)

    def _is_being_created(self) -> bool:
        """The answer to a question waits."""
        meta = self._program.meta
        return meta is not None and meta.describe(NAME).is_being_created

    def _may_be_joined(self, fetch: int) -> bool:
        """A request waits for nothing yet, or has not come, and may wait for this answer."""
        flight = self._cache_of(fetch).shared.get(NAME)
        return flight is not None and any(
            not request.failed
            and request.version is None
            and request.proxy == self._program.scenario.requests[fetch]
            and f"request {number}" not in flight.waiting
            for number, request in enumerate(self._program.requests)
        )

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        events = self._events_of(step)
        if not events:
            raise BrokenRunError(f"{step} was offered, and no event is that step any more")
        self._fire(events[chance % len(events)])
        if step.action == "change":
            self._must_fire("store")
        if step.action == "answer" and events[0].label.startswith("draw"):
            self._must_fire("describe", f"request {step.args[0]}")
        self._state = self._look()
        self._settle()
        if chance:
            self._disturb(chance)

    # Which events are a step.

    def _events_of(self, step: Step) -> list[Event]:
        one = int(step.args[0]) if step.args else 0
        request = f"request {one}"
        match step.action:
            case "start" | "learn" | "leave":
                return self._enabled(f"resume {_SESSION[step.action]}", f"proxy {one}")
            case "begin":
                return self._enabled("resume client.come", request)
            case "hit" | "ask" | "join":
                return self._looking(step)
            case "answer":
                return self._enabled("draw answer=0", request) or self._enabled("describe", request)
            case "insert":
                return self._enabled("resume meta.insert", request)
            case "fail":
                return self._failing(one) if one == int(step.args[1]) else []
            case "cancel":
                return self._enabled(_LEAVE, f"leaver {one}") if not self._asks(one) else []
            case "change":
                return self._enabled("resume client.alter")
            case "invalidate":
                return self._enabled(f"invalidate {one} ")
            case "stamp":
                return self._enabled("allocate")
        return self._enabled("resume meta.acknowledge")

    def _looking(self, step: Step) -> list[Event]:
        """The request looks into the cache: what it does there depends on what others have asked."""
        request = int(step.args[0])
        flight = self._cache_of(request).shared.get(NAME)
        expected = {
            "hit": True,
            "ask": flight is None and int(step.args[-1]) == request,
            "join": flight is not None and flight.leader == f"request {int(step.args[-1])}",
        }
        owner = f"request {request}"
        found = [*self._enabled("resume meta.look", owner), *self._enabled("resume meta.again", owner)]
        return found if expected[step.action] else []

    def _failing(self, request: int) -> list[Event]:
        """The coordinator does not answer, or the client of the request that asks leaves."""
        if not self._asks(request):
            return []
        return [
            *self._enabled("draw answer=1", f"request {request}"),
            *self._enabled(_LEAVE, f"leaver {request}"),
        ]

    def _asks(self, request: int) -> bool:
        return any(flight.leader == f"request {request}" for flight in self._cache_of(request).flights)

    def _cache_of(self, request: int) -> MetaCache:
        return self._program.caches[self._program.scenario.requests[request]]

    # Letting things happen.

    def _settle(self) -> None:
        """A proxy that has left is told in vain; one that has come meanwhile is found in the list. A change
        gets its time.
        """
        for _ in range(_MANY):
            meta, listed = self._program.meta, self._program.listed
            assert meta is not None
            told = meta.change.told if meta.change is not None else set()
            left = [event for event in self._enabled("invalidate") if event.label.split()[1] not in listed]
            again = self._enabled("resume meta.acknowledge") if listed - told else []
            event = next(iter([*left, *again, *self._enabled("note")]), None)
            if event is None:
                return
            self._fire(event)
            self._state = self._look()
        raise BrokenRunError("the change does not come to rest")

    def _disturb(self, chance: int) -> None:
        """A request that is over goes on, or its client leaves."""
        over = [
            number
            for number, request in enumerate(self._program.requests)
            if request.failed
            or request.version is not None
            or (request.begun and self._cache_of(number).closed)
        ]
        events = [
            event
            for event in self._world.enabled()
            for n in over
            if event.owner in (f"request {n}", f"leaver {n}")
        ]
        if events:
            self._fire(events[chance % len(events)])
            self._state = self._look()
