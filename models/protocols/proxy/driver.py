"""Drives the real proxy by the actions of ``tidemark.spec.proxy``, in the controlled world.

A step is offered when an event that may happen now represents it. Performing it fires that event, and then
lets happen what waits for nothing else and changes nothing: answers of the logs, appends that are refused.
By chance more happens that should change nothing: a client, a tick or a pop comes to the lock and has to
wait, an answer of the logs is lost, the logs refuse a task.
"""

from __future__ import annotations

from tidemark.impl.proxy.values import AppendOutcome
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import SettlingRun
from tidemark.models.protocols.proxy.driver_world import DrivenProxy, scenario_of
from tidemark.models.refinement.actions import action_table
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event

_REFUSES = (3, 4, 5)
"""Chances with which a task that is issued will be refused by the logs."""
_FATE_PERIOD = 4
_FATES = {0: "drop", 1: "delay"}
"""What only may happen to an append, by its timestamp modulo the period."""
_ANSWERS = {"stamp": "client", "stamp_now": "ticker", "others_allocate": "others"}
_SILENCE = {"fail_ask": "client", "fail_now": "ticker"}
_ACTIONS = action_table("proxy")
_LOCK_FOLLOWS = ("client.write", "task.pop", "ticker.snapshot")
"""Points after which the lock is taken: with it free, the step; else only a wait for it."""


class ProxyAdapter(SettlingRun):
    """One run of the proxy."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._checker = checker
        self._program = DrivenProxy(scenario_of(instance), protocol=instance.protocol)
        super().__init__(self._program)
        self._settle()

    # What the machine asks.

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        return bool(self._events_of(step))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        events = self._events_of(step)
        oracle = self._program.chosen
        oracle.next = int(step.args[-1]) if step.action in _ANSWERS else None
        if step.action == "issue" and chance in _REFUSES:
            self._program.choosy.rejected.add(self._program.tasks[int(step.args[0])].ts)
        self._fire(events[chance % len(events)])
        self._state = self._look()
        self._settle(loses=bool(chance % 2))
        if chance:
            self._disturb(chance)
            self._settle()

    # Looking.

    def _events_of(self, step: Step) -> list[Event]:
        """The events that represent a step. Which timestamp an answer has, the step says."""
        if self._found is None:
            self._found = {}
            # A request that is lost comes last: one that is late can do more.
            for event in sorted(self._world.enabled(), key=lambda event: event.label.startswith("drop")):
                meant = self._meant(event)
                if meant is not None:
                    self._found.setdefault(meant, []).append(event)
        kind = _ANSWERS.get(step.action) or _SILENCE.get(step.action)
        if kind is None:
            return self._found.get(step, [])
        wanted = Step("allocate", (kind, int(step.args[0]) if kind == "client" else 0))
        return self._found.get(wanted, [])

    def _meant(self, event: Event) -> Step | None:
        """What an event represents by its name; None if it changes nothing, or only waits."""
        verb, _, rest = event.label.partition(" ")
        if verb == "allocate":
            return self._asker(event.owner)
        if verb == "resume":
            return self._resumed(rest.partition(" ")[0], event.owner)
        if verb in ("deliver", "delay", "drop"):
            return self._message(verb, rest)
        return None

    def _asker(self, owner: str) -> Step:
        if owner.startswith("enter"):
            return Step("allocate", ("client", self._task_of(owner)))
        return Step("allocate", ("ticker" if owner.endswith("ticker") else "others", 0))

    def _resumed(self, point: str, owner: str) -> Step | None:
        if point == "timer.tick":
            return Step("ask_now")
        if point == "queue.issue":
            assert self._program.proxy is not None
            return Step("issue", (self._program.tasks.index(self._program.proxy.queue.unissued[0]),))
        if point == "task.finish":
            task = self._task_of(owner)
            lacks = AppendOutcome.REFUSED in self._program.tasks[task].outcomes.values()
            return Step("fail" if lacks else "finish", (task,))
        if point in _LOCK_FOLLOWS and self._lock_is_held():
            return None
        action = _ACTIONS.at(point)
        if action is None:
            return None
        args = () if action in ("publish", "report", "take_snapshot") else (self._task_of(owner),)
        return Step(action, args)

    def _task_of(self, owner: str) -> int:
        kind, _, number = owner.partition(" ")
        if kind == "client":
            return int(number)
        known = [task.number if kind == "enter" else task.ts for task in self._program.tasks]
        return known.index(int(number))

    def _lock_is_held(self) -> bool:
        assert self._program.proxy is not None
        return bool(self._program.proxy.queue.stats_lock.users)

    def _message(self, verb: str, title: str) -> Step | None:
        """What happens to an append, or to the question what became of it.

        By its timestamp a message may be doomed to be lost or late: else that is too rare to be seen.
        """
        _, method, arguments, _ = self._world.network.in_flight()[f"message {title}"]
        channel, ts = arguments
        task = next(place for place, found in enumerate(self._program.tasks) if found.ts == ts)
        place = (task, self._program.scenario.channels.index(channel))
        unknown = self._program.values()["unknown"][place]
        if method == "settle":
            return self._settling(verb, place, late=self._is_late(channel, ts)) if unknown else None
        logs = self._program.choosy
        if verb == "deliver" and (ts in logs.rejected or (channel, ts) in logs.refused):
            return None
        only = _FATES.get(ts % _FATE_PERIOD)
        if only is not None and verb != only and not unknown:
            return Step("wait", place)
        if verb != "deliver":
            return Step("produce_times_out", place)
        return Step("late_append" if unknown else "append", place)

    def _settling(self, verb: str, place: tuple[int, int], *, late: bool) -> Step | None:
        """The question what became of an append, which may overtake it: for some of them."""
        ts = self._program.tasks[place[0]].ts
        if verb != "deliver" or (late and ts % _FATE_PERIOD):
            return Step("wait", place)
        return Step("lose_append", place)

    def _is_late(self, channel: str, ts: int) -> bool:
        """The append is still under way."""
        return any(
            method == "append" and arguments == (channel, ts) and state == "sent"
            for _, method, arguments, state in self._world.network.in_flight().values()
        )

    # Letting things happen.

    def _is_prompt(self, event: Event) -> bool:
        return event.label.startswith("resume others.ask") or super()._is_prompt(event)
