"""Drives the real root coordinator by the actions of ``tidemark.spec.timetick``, in the controlled world.

A step is offered when an event that may happen now represents it. A source that reports what it has reported
before changes nothing until that is accepted: both are one step here.
"""

from __future__ import annotations

from typing import ClassVar

from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.values.report import DDL_SOURCE, SourceId
from tidemark.models.conformance.adapter import BrokenRunError
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.common.oracle import ChosenOracle
from tidemark.models.protocols.timetick.ports import ROOT_COORD
from tidemark.models.protocols.timetick.program import TimeTickProgram, TimeTickScenario
from tidemark.models.refinement.actions import action_table
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.settings import FaultBudget

_ALWAYS = 1_000
_MANY = 200
_FAULTS = 4
_CRASHES = 2
_ACTIONS = action_table("timetick")
_OF_THE_SENDER = ("take_round", "end_round")
_BLOCKED = Step("wait")


def scenario_of(instance: Instance) -> TimeTickScenario:
    """The sources and messages of a bounded instance, whose last source is the DDL source."""
    sources, channels = (int(str(instance.bounds[sort])) for sort in ("Source", "Channel"))
    if int(str(instance.constants["ddl"])) != sources - 1:
        raise ValueError(f"instance {instance.name!r}: ddl is not the last source; give ddl = {sources - 1}")
    names = tuple(f"c{place}" for place in range(channels))
    constants = instance.map_constants
    return TimeTickScenario(
        channels=names,
        proxies=sources - 1,
        messages=tuple(
            (0 if int(str(sender)) == sources - 1 else int(str(sender)) + 1, names[int(str(channel))])
            for sender, channel in zip(constants["sender"], constants["channel_of"], strict=True)
        ),
        reports=(_ALWAYS,) * (sources - 1),
        ddl_reports=_ALWAYS,
        others=_ALWAYS,
        expires=tuple(range(1, sources)),
        greatest=int(str(instance.bounds["Ts"])),
        faults=FaultBudget(crashes=_CRASHES, storage_failures=_FAULTS, storage_lost_acks=_FAULTS),
    )


class DrivenTimeTick(TimeTickProgram):
    """One root coordinator whose surroundings do what the driver has chosen."""

    def __init__(self, scenario: TimeTickScenario, *, protocol: str) -> None:
        super().__init__(scenario, protocol=protocol)
        self.chosen = self.oracle = ChosenOracle()


class TimeTickAdapter(DrivenRun):
    """One run of the root coordinator."""

    ignored: ClassVar[tuple[str, ...]] = ("faults",)
    never_offered: ClassVar[dict[str, str]] = {"overtake": "a source has one report under way at a time"}

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        del checker
        self._program = DrivenTimeTick(scenario_of(instance), protocol=instance.protocol)
        super().__init__(self._program)
        self._settle()

    # What the machine asks.

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        if step.action == "report":
            return bool(self._events_of(Step("report", step.args[:1]))) and self._is_alike(step)
        if step.action == "accept" and not self._events_of(step):
            # What was reported before may be reported again.
            again = self._events_of(Step("report", step.args))
            return bool(again) and not self._lock_is_held()
        return bool(self._events_of(step))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        if step.action in ("stamp", "others_allocate"):
            self._program.chosen.next = int(step.args[-1])
        if step.action == "report":
            self._report(step, int(step.args[1]))
        elif step.action == "accept" and not self._events_of(step):
            self._report(step, 0)
            self._fire(self._one(step))
        else:
            events = self._events_of(step)
            if not events:
                raise BrokenRunError(f"nothing represents {step} any more, although it was offered")
            self._fire(events[chance % len(events)])
        self._state = self._look()
        self._settle()
        if chance:
            self._disturb(chance)
            self._settle()

    def _report(self, step: Step, upto: int) -> None:
        self._program.sources[self._source(step)].upto = upto
        self._fire(self._one(Step("report", step.args[:1])))

    def _one(self, step: Step) -> Event:
        """The first event that represents a step; without one the implementation has gone astray."""
        events = self._events_of(step)
        if not events:
            raise BrokenRunError(f"nothing represents {step}: the source does not do what it should by now")
        return events[0]

    def _is_alike(self, step: Step) -> bool:
        """The DDL source has one value for all channels."""
        source = self._program.sources[self._source(step)]
        source.upto = int(step.args[1])
        return source.source != DDL_SOURCE or len(set(source.values())) == 1

    def _source(self, step: Step) -> SourceId:
        place = int(step.args[0])
        return DDL_SOURCE if place == self._program.scenario.proxies else place + 1

    # Looking.

    def _coordinator(self) -> RootCoord:
        return self._program.coordinators[-1]

    def _lock_is_held(self) -> bool:
        return bool(self._coordinator().sync.lock.users)

    def _events_of(self, step: Step) -> list[Event]:
        """The events that represent a step. Which timestamp an answer or a report has, the step says."""
        if self._found is None:
            self._found = {}
            for event in self._world.enabled():
                meant = self._meant(event)
                if meant is not None:
                    self._found.setdefault(meant, []).append(event)
        if step.action in ("stamp", "others_allocate"):
            return self._found.get(Step(step.action, step.args[:-1]), [])
        return self._found.get(step, [])

    def _meant(self, event: Event) -> Step | None:
        """What an event represents by its name; None if it changes nothing."""
        verb, _, rest = event.label.partition(" ")
        name = rest.partition(" ")[0]
        if verb == "resume":
            return self._resumed(name, event)
        if verb == "allocate":
            number = self._number(event)
            return Step("others_allocate") if number is None else Step("stamp", (number,))
        if verb == "append":
            fenced = self._program.sessions.fenced
            sender = self._program.scenario.messages[int(name)][0]
            return Step("drop" if sender in fenced else "append", (int(name),))
        if verb == "take":
            return Step("restart")
        if verb == "fence":
            return Step("forget", (int(name) - 1,))
        if verb == "crash":
            return Step("crash_coordinator")
        if verb in ("put", "fail", "unknown"):
            return self._tick(verb, rest)
        return self._delivered(rest) if verb == "deliver" else None

    def _tick(self, verb: str, rest: str) -> Step:
        channel = rest.removeprefix("put ").partition(" ")[0].partition("/")[2]
        place = self._program.scenario.channels.index(channel)
        return Step("send_tick", (place,)) if verb == "put" else Step("fail_send", (place, verb == "unknown"))

    def _number(self, event: Event) -> int | None:
        kind, _, number = event.owner.partition(" ")
        return int(number) if kind in ("client", "ddl") else None

    def _resumed(self, point: str, event: Event) -> Step | None:
        proxy = int(event.lane.name.partition(" ")[2] or 0) - 1 if event.lane.name != ROOT_COORD else -1
        ddl = self._program.scenario.proxies
        if point in ("client.write", "ddl.write"):
            return Step("ask", (self._number(event) or 0,))
        if point in ("proxy.register", "lease.ends"):
            return Step("register" if point == "proxy.register" else "expire", (proxy,))
        if point in ("timer.report", "timer.ddl"):
            return Step("report", (proxy if point == "timer.report" else ddl,))
        if point == "ddl.report":
            return _BLOCKED if self._lock_is_held() else Step("accept", (ddl,))
        if point == "sync.update":
            caller = event.owner.rpartition(" ")[2]
            return Step("accept", (int(caller) - 1 if caller.isdigit() and "proxy" in event.owner else ddl,))
        if point == "sync.close_round":
            return Step("drop_round" if self._coordinator().sync.rounds.waiting else "close_round")
        if point in ("sync.add", "sync.del"):
            return self._of_watch()
        if point == "watch.next":
            return self._next_change()
        if point == "sender.skip":
            return Step("send_tick", (self._program.scenario.channels.index(event.owner.partition(" ")[2]),))
        action = _ACTIONS.at(point)
        return Step(action) if action in _OF_THE_SENDER else None

    def _of_watch(self) -> Step | None:
        """The change that the watch has read last."""
        events, revision = self._program.sessions.events, self._coordinator().watch.revision
        if not 0 < revision <= len(events):
            raise BrokenRunError(f"the watch is at revision {revision}; the session store has {len(events)}")
        event = events[revision - 1]
        return Step("learn", (event.source - 1,)) if event.alive else None

    def _delivered(self, title: str) -> Step | None:
        _, method, arguments, _ = self._world.network.in_flight()[f"message {title}"]
        up = self._world.lanes[ROOT_COORD].alive and bool(self._coordinator().sync.entries)
        if method == "session_changed":
            return self._told() if up else None
        if method != "update_channel_time_tick":
            return None
        source = arguments[0].source
        if not up or self._lock_is_held():
            return _BLOCKED
        return Step("accept", (source - 1,)) if source in self._coordinator().sync.entries else _BLOCKED

    def _told(self) -> Step | None:
        """The watch hears of the next change, unless it is at work already."""
        return None if self._program.calls[-1].told else self._next_change()

    def _next_change(self) -> Step | None:
        """The watch reads the next change; it can pass it on only while the lock is free."""
        events, revision = self._program.sessions.events, self._coordinator().watch.revision
        if self._lock_is_held() or revision >= len(events):
            return None
        if revision < 0:
            raise BrokenRunError(f"the watch is at revision {revision}; the first change has revision 1")
        event = events[revision]
        return Step("learn", (event.source - 1,)) if event.alive else None

    # Letting things happen.

    def _fire(self, event: Event) -> None:
        super()._fire(event)
        self._raise_failures()

    def _settle(self) -> None:
        """Fire what waits for nothing else. If that changes the abstract state, the machine will see it."""
        for _ in range(_MANY):
            event = next((event for event in self._world.enabled() if self._is_prompt(event)), None)
            if event is None:
                return
            self._fire(event)
            now = self._look()
            if now != self._state:
                self._state = now
                return
        raise BrokenRunError("the coordinator does not come to rest")

    def _is_prompt(self, event: Event) -> bool:
        label = event.label
        if event.fault:
            return False
        if label.startswith(("reply", "restart", "resume others.ask")):
            return True
        if label.startswith(("resume watch.next", "resume sync.", "deliver")):
            return self._meant(event) is None
        return False

    def _disturb(self, chance: int) -> None:
        """Fire one event that should change nothing: a report that is refused, or that waits for the lock."""
        waiting = [event for event in self._world.enabled() if self._meant(event) == _BLOCKED]
        if waiting:
            self._fire(waiting[(chance - 1) % len(waiting)])
            self._state = self._look()
