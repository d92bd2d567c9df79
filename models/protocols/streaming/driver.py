"""Drives the real streaming node by the actions of ``tidemark.spec.streaming``, in the controlled world.

A step is offered when an event that may happen now is that step, and has its arguments. Then
what waits for nothing else and changes nothing happens: clients come, a round of the tick operator begins. By
chance an append is lost in another way, or a round of the operator finds that the prefix has not grown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.oracle import ChosenOracle
from tidemark.models.protocols.streaming.ports import number_of
from tidemark.models.protocols.streaming.program import StreamingProgram, StreamingScenario
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.execution import Execution
from tidemark.models.simulation.footprint import Interner
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.settings import FaultBudget

_MANY = 40
_ROUNDS = 30


class DrivenStreaming(StreamingProgram):
    """A node whose oracle gives what its driver has chosen, and whose last message is too large."""

    def __init__(self, scenario: StreamingScenario, **options: Any) -> None:
        super().__init__(scenario, **options)
        self.oracle = self.chosen = ChosenOracle()


class StreamingAdapter:
    """One run of a streaming node."""

    ignored: ClassVar[tuple[str, ...]] = ("faults",)
    never_offered: ClassVar[dict[str, str]] = {}

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        messages = int(str(instance.bounds["Message"]))
        faults = int(str(instance.bounds["Faults"]))
        self._checker = checker
        self._last = int(str(instance.bounds["Ts"]))
        scenario = StreamingScenario(
            appends=messages,
            large=(messages - 1,),
            ticks=_ROUNDS,
            reads=int(str(instance.bounds["Place"])),
            persists=_ROUNDS,
            early=True,
            faults=FaultBudget(crashes=faults, delays=faults, lost_replies=faults),
        )
        self._program = DrivenStreaming(scenario, protocol=instance.protocol)
        self._execution = Execution(self._program, Interner())
        self._execution.start(checked=True)
        self._state = self._look()
        self._settle()

    # What the machine asks.

    def state(self) -> State:
        """See ``Adapter``."""
        return self._state

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        return bool(self._events_of(step))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        if step.action in ("draw", "reopen"):
            self._program.chosen.next = int(step.args[-1])
        while not self._is_last(step, event := self._pick(step, chance)):
            self._fire(event)
        self._fire(event)
        self._settle()
        if chance:
            self._idle_round()

    def close(self) -> None:
        """See ``Adapter``."""
        self._execution.close()

    # Which events stand for a step.

    def _events_of(self, step: Step) -> list[Event]:
        find: dict[str, Callable[..., list[Event]]] = {
            "draw": lambda m, ts: self._allocating(f"append of client {m}", ts),
            "enter": lambda m: self._found("resume ack.enter", f"append of client {m}"),
            "append": lambda m: self._carrying("deliver", int(m), current=True),
            "acknowledge": lambda m: self._answered(int(m), large=False),
            "refuse": lambda m: self._answered(int(m), large=True),
            "collect": self._collecting,
            "write_tick": lambda: self._carrying("deliver", None, current=True),
            "close": lambda: [*self._lost(), *self._found("crash node")],
            "reopen": self._reopening,
            "consume": lambda: self._found("read"),
            "store": lambda m: self._found(f"put {m} "),
            "move_flusher": lambda upto: self._found(f"flusher {upto} "),
            "move_recovery": lambda upto: self._found(f"recovery {upto} "),
            "truncate": lambda upto: self._found(f"truncate {upto} "),
        }
        return find[step.action](*step.args)

    def _found(self, label: str, owner: str = "") -> list[Event]:
        return [
            event
            for event in self._execution.world.enabled()
            if event.label.startswith(label) and event.owner.startswith(owner)
        ]

    def _allocating(self, owner: str, ts: int) -> list[Event]:
        return self._found("allocate", owner) if self._may_be_given(ts) else []

    def _may_be_given(self, ts: int) -> bool:
        """Timestamps are few: an answer leaves out at most one."""
        return self._given() < ts <= self._given() + 2

    def _given(self) -> int:
        return max(self._program.answers.answered, default=0)

    def _carrying(self, verb: str, number: int | None, *, current: bool) -> list[Event]:
        """Calls of the log that carry a message, or a tick. ``current``: of the log's last term."""
        log = self._program.log.log
        assert log is not None
        found = []
        for event in self._found(verb):
            if event.message is None:
                continue
            term, _, message = event.message.arguments
            is_large = number_of(message) in self._program.scenario.large
            if number_of(message) == number and (not current or (term == log.term and not is_large)):
                found.append(event)
        return found

    def _answered(self, number: int, *, large: bool) -> list[Event]:
        if (number in self._program.scenario.large) is not large:
            return []
        term = self._program.term
        append = self._program.appends[number]
        if term is None or append.term != term.opening.term:
            return []
        return self._carrying("reply", number, current=False)

    def _lost(self) -> list[Event]:
        """Calls of the present term that time out."""
        term = self._program.term
        found = [*self._found("delay "), *self._found("lose reply ")]
        return [
            event
            for event in found
            if term is not None
            and event.message is not None
            and event.message.arguments[0] == term.opening.term
            and not term.closed.is_set()
        ]

    def _collecting(self, ts: int, upto: int) -> list[Event]:
        term = self._program.term
        if term is None or term.acks.lock.users[:1] not in ([], ["ticks"]):
            return []
        acks = term.acks
        prefix, start = acks.prefix(), acks._start(acks.prefix())  # noqa: SLF001  # what it would find
        if prefix != ts or max(acks.confirmed, start) != upto:
            return []
        return [*self._found("resume ack.collect"), *self._found("resume ack.prefix")]

    def _reopening(self, ts: int) -> list[Event]:
        if not self._may_be_given(ts):
            return []
        return [
            *self._found("restart node"),
            *self._found("begin term"),
            *self._found("allocate", "node"),
        ]

    def _start(self) -> int:
        checkpoints = self._program.objects.checkpoints()
        return min(checkpoints.flusher, checkpoints.recovery)

    # Letting things happen.

    def _pick(self, step: Step, chance: int) -> Event:
        events = self._events_of(step)
        if not events:
            raise BrokenRunError(f"{step} was offered, and no event is that step any more")
        return events[chance % len(events)]

    def _is_last(self, step: Step, event: Event) -> bool:
        """The event does the step; others come before it."""
        return step.action != "reopen" or event.label.startswith("allocate")

    def _look(self) -> State:
        return self._checker.encode(self._program.values())

    def _fire(self, event: Event) -> None:
        self._execution.step_again(event)
        if self._execution.violation is not None:
            raise BrokenRunError(self._execution.violation.message)
        self._state = self._look()

    def _settle(self) -> None:
        """Fire what waits for nothing else."""
        for _ in range(_MANY):
            prompt = next(iter(self._prompt()), None)
            if prompt is None:
                return
            self._program.chosen.next = None if self._is_closed() else self._given() + 1
            self._fire(prompt)
        raise BrokenRunError("the node does not come to rest")

    def _is_closed(self) -> bool:
        term = self._program.term
        return term is not None and term.closed.is_set()

    def _prompt(self) -> list[Event]:
        found = [
            *(self._found("allocate", "append of") if self._is_closed() else ()),
            *self._found("client.append"),
            *self._found("resume ack.draw"),
            *(self._found("resume timer.persist") if self._is_behind() else ()),
            *(
                event
                for n in self._program.scenario.large
                for event in self._carrying("deliver", n, current=False)
            ),
            *self._carrying("reply", None, current=False),
            *(event for event in self._found("truncate") if self._is_cut(event)),
        ]
        # Few timestamps are kept for the ticks themselves.
        if self._given() < self._last - 1:
            found += [*self._found("resume timer.tick"), *self._found("allocate", "ticks")]
        return found

    def _is_behind(self) -> bool:
        """The node's own records say more than what is saved of them, or the log may be cut further."""
        term, log = self._program.term, self._program.log.log
        if term is None or log is None:
            return False
        return term.recovery.observed > term.recovery.saved.recovery or self._start() > log.cut

    def _is_cut(self, event: Event) -> bool:
        """The log is cut there already."""
        log = self._program.log.log
        return log is not None and int(event.label.split()[1]) <= log.cut

    def _idle_round(self) -> None:
        """A round of the operator that finds nothing new."""
        term = self._program.term
        if term is not None and not term.acks.lock.users and term.acks.prefix() <= term.acks.passed:
            for event in self._found("resume ack.collect"):
                self._fire(event)
                self._settle()
