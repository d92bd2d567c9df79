"""Drives a streaming node with transactions and a reader by the actions of ``tidemark.spec.transactions``, in
the controlled world.

A step is offered when an event that may happen now is that step, and has its arguments; a client asks for
begin, commit and rollback when the step is chosen. A tick is under way as soon as there is something to tell,
or by chance. By chance a client asks for what has to be refused, or too early, or the node dies while bodies
are under way.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tidemark.impl.streaming.transaction_messages import Part
from tidemark.models.conformance.adapter import BrokenRunError
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.transactions.program import (
    NODE,
    READER,
    TransactionProgram,
    TransactionScenario,
)
from tidemark.models.protocols.transactions.refinement import TICK, landed
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.settings import FaultBudget
from tidemark.models.simulation.world.process import Process

_MANY = 80
_TIMES = 60
_LONG = "x" * 400
_ENDS = {"commit": Part.COMMIT, "roll_back": Part.ROLLBACK}
_DIES = 9
"""The chance by which the node dies while bodies are under way."""
_EARLY = 2
"""Up to this chance, a client may ask for a begin or an end that is not chosen yet."""
_AT_MOST = {"start_anew": 2, "truncate": 2}
"""How often the reader dies, and cuts the log, in a run."""
_TICKS = 6
"""From this chance on, a tick follows a tick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrivenScenario(TransactionScenario):
    """A scenario whose log has so many places. most: how many."""

    most: int

    @property
    def places(self) -> int:
        """See TransactionScenario. It is as long as the driver's bounds say."""
        return self.most


class DrivenTransactions(TransactionProgram):
    """Its clients wait before each append until they are told to ask; the last body is too large."""

    def __init__(self, scenario: TransactionScenario, *, protocol: str) -> None:
        super().__init__(scenario, protocol=protocol)
        self.large = len(self.bodies) - 1
        self.bodies[self.large].rows = ((1, self.large, _LONG),)

    async def _client(self, process: Process, t: int) -> None:
        """A task for each append of the transaction. What an earlier term has left undone is dead."""
        begun = any(one.part == Part.BEGIN.value and one.ts == self.begins[t].ts for one in self.log.landed)
        if not begun:
            self.begins[t] = replace(self.begins[t], ts=0, place=0)
        term = self.term
        await self.log.gate.operation("client.comes", lambda: self._may_come(term, t), lambda: None)
        if not begun:
            process.spawn(self._begin(process, t), f"begin {t}")
        for action, part in _ENDS.items():
            process.spawn(self._end(process, t, part), f"{action} {t}")
        for b, of in enumerate(self.scenario.of):
            if of == t:
                process.spawn(self._body(process, t, b), f"send {b}")

    async def _begin(self, process: Process, t: int) -> None:
        await process.point("client.asks")
        await self._ask(self.begins[t])

    async def _end(self, process: Process, t: int, part: Part) -> None:
        """Ask again and again: after the end, it has to be refused."""
        while True:
            await process.point("client.asks")
            await self._ask(replace(self.begins[t], part=part, transaction=self.begins[t].ts, ts=0, place=0))

    async def _body(self, process: Process, t: int, b: int) -> None:
        body = self.bodies[b]
        while body not in self._asked:
            await process.point("client.asks")
            body.transaction = self.begins[t].ts
            await self._ask(body)

    def is_taken(self, t: int) -> bool:
        """The node knows the transaction as open, with its begin, and has not been asked for its end."""
        kept = None if self.term is None else self.term.transactions.kept.get(self.begins[t].ts)
        return kept is not None and kept.begun > 0 and not kept.ends


class TransactionsAdapter(DrivenRun):
    """One run of a node, its log and a reader."""

    ignored: ClassVar[tuple[str, ...]] = ("faults",)
    never_offered: ClassVar[dict[str, str]] = {}

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        of = [int(str(t)) for t in instance.map_constants["of"]]
        transactions = range(int(str(instance.bounds["Transaction"])))
        scenario = DrivenScenario(
            bodies=tuple(of.count(t) for t in transactions),
            ends=tuple("" for _ in transactions),
            lasts=tuple(6 + 8 * t for t in transactions),
            eager=True,
            ordered=False,
            ticks=_TIMES,
            cuts=True,
            reads=True,
            crashable=(NODE, READER),
            faults=FaultBudget(crashes=_TIMES),
            most=int(str(instance.bounds["Place"])),
        )
        self._checker = checker
        self._is_due = False
        self._left = dict(_AT_MOST)
        self._program = DrivenTransactions(scenario, protocol=instance.protocol)
        super().__init__(self._program)
        self._open()
        self._settle()

    def offers(self, step: Step) -> bool:
        """See ``Adapter``."""
        if step.action in self._left and not self._left[step.action]:
            return False
        return step.action == "crash" or bool(self._events_of(step))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        self._is_due = chance >= _TICKS
        if step.action in self._left:
            self._left[step.action] -= 1
        if step.action == "crash":
            self._fire_all("crash", NODE)
            self._open()
        else:
            self._do(step)
        self._settle()
        if chance == _DIES and self._is_alive() and "sent" in self._values["sent"].values():
            self._fire_all("crash", NODE)
        elif chance:
            self._disturb(chance)
        if not self._is_alive() and not self._would_change("crash"):
            self._open()
        self._settle()

    def _do(self, step: Step) -> None:
        event = self._first(step)
        if event.label.startswith("resume client.asks") and step.action != "send":
            self._fire(event)
            self._settle()
            event = self._first(step)
        self._fire(event)
        if step.action == "start_anew":
            self._fire_all("restart", READER)

    def _first(self, step: Step) -> Event:
        events = self._events_of(step)
        if not events:
            raise BrokenRunError(f"{step} was offered, and no event is that step any more")
        return events[0]

    def _look(self) -> Any:
        state = super()._look()
        assert isinstance(self._run, RefiningProgram)
        self._values = self._run.values()
        return state

    def _fire(self, event: Event) -> None:
        super()._fire(event)
        self._raise_failures()
        self._state = self._look()

    # Which events represent a step.

    def _events_of(self, step: Step) -> list[Event]:
        one = int(step.args[0]) if step.args else 0
        match step.action:
            case "begin" | "commit" | "roll_back":
                return self._of_a_client(step.action, one, int(step.args[-1]))
            case "send":
                is_taken = self._program.is_taken(self._program.scenario.of[one])
                return self._asking(f"send {one}") if is_taken else []
            case "append":
                return [] if one == self._program.large else self._carrying("deliver", Part.BODY, body=one)
            case "refuse":
                large = self._events("reply", NODE) if one == self._program.large else []
                return [event for event in large if self._number_of(event) == one]
            case "write_tick":
                return [event for event in self._found_tick("deliver") if self._message(event).ts == one]
            case "expire":
                return self._found_tick("reply") if self._over() else []
            case "read":
                place, upto = self._next_read()
                return self._events("read", READER) if (one, int(step.args[1])) == (place, upto) else []
            case "truncate":
                return self._events(f"truncate {one} ", READER)
        return self._events("crash", READER)

    def _of_a_client(self, action: str, t: int, value: int) -> list[Event]:
        """Its message on the way; or else a client asks, and would be given the next timestamp."""
        part = _ENDS.get(action, Part.BEGIN)
        number = self._program.begins[t].ts
        for event in self._carrying("deliver", part, transaction=number) if number else ():
            message = self._message(event)
            if action == "roll_back" or value == (message.until if action == "begin" else message.ts):
                return [event]
            return []
        lasts = self._program.scenario.lasts[t] if action == "begin" else 0
        if action != "roll_back" and value != self._program.oracle.given + 1 + lasts:
            return []
        if action != "begin" and not self._program.is_taken(t):
            return []
        if action != "begin" and not self._may_end(action, t):
            return []
        return self._asking(f"{action} {t}")

    def _may_end(self, action: str, t: int) -> bool:
        """The node takes no end while a body is under way. A client commits a body at least, and gives up
        once it has asked for every body.
        """
        sent = self._sent(t)
        if "sent" in sent:
            return False
        return set(sent) != {"no"} if action == "commit" else "no" not in sent

    def _is_busy(self, t: int) -> bool:
        return "sent" in self._sent(t)

    def _sent(self, t: int) -> list[str]:
        return [self._values["sent"][b] for b, of in enumerate(self._program.scenario.of) if of == t]

    def _events(self, verb: str | tuple[str, ...], process: str = "") -> list[Event]:
        return [
            event
            for event in self._world.enabled()
            if event.label.startswith(verb) and (not process or event.lane.name == process)
        ]

    def _asking(self, owner: str) -> list[Event]:
        return [event for event in self._events("resume client.asks", NODE) if event.owner == owner]

    def _message(self, event: Event) -> Any:
        assert event.message is not None
        return event.message.arguments[2]

    def _number_of(self, event: Event) -> int | None:
        return landed(self._message(event)).body

    def _carrying(
        self, verb: str, part: Part, *, transaction: int = 0, body: int | None = None
    ) -> list[Event]:
        """Appends of the log's last term that are on their way."""
        return [
            event
            for event in self._current(verb)
            if landed(self._message(event)).part == part.value
            and self._number_of(event) == body
            and transaction in (0, landed(self._message(event)).transaction)
        ]

    def _current(self, verb: str) -> Iterator[Event]:
        log = self._program.log.log
        for event in self._events(verb):
            if log is not None and event.message is not None and event.message.arguments[0] == log.term:
                yield event

    def _found_tick(self, verb: str) -> list[Event]:
        return [one for one in self._current(verb) if landed(self._message(one)).part == TICK]

    def _over(self) -> list[int]:
        """The open transactions that the last tick ends."""
        values = self._values
        return [
            t for t, one in values["stage"].items() if one == "open" and values["until"][t] <= values["tick"]
        ]

    def _next_read(self) -> tuple[int, int]:
        """The place of the next new tick, and behind which place a reader would then begin anew: before the
        begin of each transaction that it has read and that is not over.
        """
        values, places = self._values, self._program.log.landed
        ticks = [
            place
            for place, one in enumerate(places, start=1)
            if place > values["reading"] and one.part == TICK and one.ts > values["passed"]
        ]
        if not ticks:
            return 0, 0
        tick, read = places[ticks[0] - 1].ts, places[: ticks[0]]
        ended = {one.transaction: one for one in read if one.part in ("commit", "rollback")}
        needed = [ticks[0]]
        for place, one in enumerate(read, start=1):
            if one.part == Part.BEGIN.value and place > values["origin"]:
                end = ended.get(one.transaction)
                is_given_up = end is not None and end.part == Part.ROLLBACK.value
                over_at = one.until if end is None else end.ts
                needed += [place] if over_at > tick and not is_given_up else []
        return ticks[0], min(needed) - 1

    # Letting things happen.

    def _is_alive(self) -> bool:
        return self._world.lanes[NODE].alive

    def _would_change(self, action: str) -> bool:
        found = self._checker.successors(self._state)
        return any(one.step.action == action and one.state != self._state for one in found)

    def _fire_all(self, verb: str, process: str) -> None:
        for event in self._events(verb, process)[:1]:
            self._fire(event)

    def _open(self) -> None:
        """Let a term begin, the first or the next one."""
        before = self._program.term
        while self._program.term is before:
            found = self._events(("restart", "begin term", "allocate"), NODE)
            if not found:
                raise BrokenRunError("the node opens no term")
            self._fire(found[0])

    def _disturb(self, chance: int) -> None:
        """A client asks for what has to be refused; by some chances, for something that is to come."""
        found = [event for event in self._events("resume client.asks", NODE) if self._is_refused(event.owner)]
        if chance <= _EARLY:
            found = [one for one in self._events("resume client.asks", NODE) if "send" not in one.owner]
        if found:
            self._fire(found[chance % len(found)])

    def _is_refused(self, owner: str) -> bool:
        action, _, number = owner.partition(" ")
        if action == "begin":
            return False
        t = self._program.scenario.of[int(number)] if action == "send" else int(number)
        is_late = self._program.oracle.given >= self._values["until"][t]
        return not self._program.is_taken(t) or (action == "commit" and (is_late or self._is_busy(t)))

    def _settle(self) -> None:
        """Fire what waits for nothing else, and changes nothing."""
        for _ in range(_MANY):
            prompt = next(self._prompt(), None)
            if prompt is None:
                return
            self._fire(prompt)
        raise BrokenRunError("the node does not come to rest")

    def _prompt(self) -> Iterator[Event]:
        if self._is_alive():
            yield from self._events(("client.comes", "resume ack.", "allocate"), NODE)
            yield from (one for one in self._events("reply", NODE) if self._is_silent(one))
        yield from (one for one in self._events("deliver") if self._is_in_vain(one))
        yield from (one for one in self._events("truncate", READER) if self._is_cut(one))
        if self._reads_again():
            yield from self._events("read", READER)
        term = self._program.term
        if self._is_alive() and term is not None:
            acks = term.acks
            is_new = bool(self._program.log.landed) and self._program.log.landed[-1].part != TICK
            if (is_new or self._is_due) and (not acks.waiting or acks.prefix() > acks.passed):
                yield from self._events("resume timer.tick", NODE)

    def _is_silent(self, event: Event) -> bool:
        """An answer that ends no transaction, and fails no body."""
        picture = landed(self._message(event))
        if picture.part == TICK:
            return not self._over()
        return picture.body != self._program.large

    def _is_in_vain(self, event: Event) -> bool:
        """The log refuses it: it is too large, or of an earlier term."""
        return self._number_of(event) == self._program.large or event not in list(self._current("deliver"))

    def _is_cut(self, event: Event) -> bool:
        """The log is cut there already."""
        log = self._program.log.log
        return log is not None and int(event.label.split()[1]) <= log.cut

    def _reads_again(self) -> bool:
        """The next tick is one that the reader has handed over in an earlier life."""
        consumer, log = self._program.consumer, self._program.log
        if consumer is None:
            return False
        place = log.tick_from(max(self._program.position.place, consumer.records.last + 1))
        return place > 0 and log.landed[place - 1].ts <= self._program.reader.passed
