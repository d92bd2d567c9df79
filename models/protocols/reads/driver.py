"""Drives real query nodes and the read path of proxies by the actions of ``tidemark.spec.reads``.

The driver plays the oracle, the ticks and the clients' wishes. A step is offered when an event that may
happen now represents it. What changes nothing comes just before the step that needs it: a question reaches
its node, rows are collected, entries are read up to a tick. By chance it comes earlier.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, ClassVar

from tidemark.impl.proxy.reads import ReadClock
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.messages import Tick
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.common.oracle import ANSWERS, ChosenOracle
from tidemark.models.protocols.reads.program import Node, ReadsProgram, ReadsScenario
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.settings import FaultBudget

_FAULTS = 3
_BEGIN = "begin_"


class DrivenReads(ReadsProgram):
    """Clients whose reads have the level, the clock and the guarantee that the driver has chosen."""

    def __init__(self, scenario: ReadsScenario, **options: Any) -> None:
        super().__init__(scenario, **options)
        names = frozenset(f"node {number}" for number in range(scenario.nodes))
        self.settings = replace(self.settings, crashable=names)
        self.chosen = self.oracle = ChosenOracle()
        self.time: Timestamp = 0

    def clock(self) -> ReadClock:
        """The driver's."""
        return self

    def now(self) -> Timestamp:
        """See ``ReadClock``."""
        return self.time

    def put_tick(self, value: Timestamp) -> None:
        """A tick is in the log."""
        self.log.tick = value
        self.log.put(Tick(value))


def scenario_of(instance: Instance) -> ReadsScenario:
    """The writes and reads of a bounded instance, each a script of its own. Every node may die."""
    constants = instance.map_constants
    nodes = int(str(instance.bounds["Replica"]))
    writes = [*zip(constants["key"], constants["deletes"], strict=True)]
    clients: list[list[tuple[str, ...]]] = [[] for _ in range(int(str(instance.bounds["Client"])))]
    for number, client in enumerate(constants["writer"]):
        clients[int(client)].append((f"write {number}",))
    for number, client in enumerate(constants["reader"]):
        clients[int(client)].append((f"read {number}",))
    return ReadsScenario(
        writes=tuple((int(key), bool(deletes)) for key, deletes in writes),
        reads=tuple(("eventually", int(node)) for node in constants["replica"]),
        clients=tuple(map(tuple, clients)),
        nodes=nodes,
        ticks=0,
        graceful=int(str(instance.constants["graceful"])),
        release=True,
        faults=FaultBudget(crashes=nodes, drops=_FAULTS, lost_replies=_FAULTS),
    )


class ReadsAdapter(DrivenRun):
    """One run of clients, proxies and query nodes."""

    quiet_again: ClassVar[tuple[str, ...]] = ("take_pack", "fail_read")
    """Steps that take several events: all but the last change nothing. A pack may have several entries, and a
    dead node takes a question before it is refused."""

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._checker = checker
        self._program = self.driven(scenario_of(instance), instance.protocol)
        super().__init__(self._program)

    def driven(self, scenario: ReadsScenario, protocol: str) -> DrivenReads:
        """The program that is driven."""
        return DrivenReads(scenario, protocol=protocol)

    # What the machine asks.

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. No timestamp is given twice."""
        answered: Any = self._program.observe()[ANSWERS]
        if step.action in ("stamp_write", "stamp_read") and step.args[-1] in answered:
            return False
        if step.action in ("send_tick", "others_allocate"):
            return True
        return bool(self._path(step))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        program = self._program
        if step.action == "send_tick":
            program.put_tick(int(step.args[0]))
        elif step.action == "others_allocate":
            program.answers.add(program.answers.latest() + 1)
        else:
            program.chosen.next = int(step.args[-1]) if step.action.startswith("stamp") else None
            self._wish(step)
            for event in self._path(step):
                self._fire(event)
            while step.action in self.quiet_again and self._look() == self._state:
                self._fire(self._path(step)[0])
        self._state = self._look()
        if chance:
            self._hurry(chance)

    def _wish(self, step: Step) -> None:
        """The level of a read that begins, its clock and its guarantee."""
        program = self._program
        if step.action.startswith(_BEGIN):
            program.reads[int(step.args[0])].level = step.action.removeprefix(_BEGIN)
        if step.action == "begin_bounded":
            program.time = int(step.args[1])
        if step.action == "begin_customized":
            program.named = int(step.args[1])

    # Which events a step is.

    def _path(self, step: Step) -> list[Event]:
        """The events that do a step, one after the other; none if it cannot be done now."""
        if step.action.startswith(_BEGIN):
            return self._labelled(f"resume begin {step.args[0]} ")
        if step.action in ("ask_write", "append", "acknowledge", "stamp_write", "fail_write"):
            return self._of_write(step)
        if step.action in ("take_pack", "apply_insert", "apply_delete", "raise_safe", "stop"):
            return self._of_node(step)
        return self._of_read(step, int(step.args[0]))

    def _of_write(self, step: Step) -> list[Event]:
        number = step.args[0]
        if step.action in ("stamp_write", "fail_write"):
            return self._labelled("allocate", owner=f"write {number}")
        verb = {"ask_write": "resume write", "append": "append", "acknowledge": "resume acknowledge"}
        return self._labelled(f"{verb[step.action]} {number} ")

    def _of_node(self, step: Step) -> list[Event]:
        r = int(step.args[0])
        node = self._program.nodes[r]
        if step.action == "take_pack":
            return self._labelled(f"read node {r}") if self._next_tick(node) == step.args[1] else []
        if step.action == "raise_safe":
            return self._labelled(f"resume pipeline.tsafe node {r}")
        if step.action == "stop":
            return (self._labelled(f"resume release node {r}") + self._labelled(f"crash node {r}"))[:1]
        kind = step.action.removeprefix("apply_")
        write = self._program.writes[int(step.args[1])]
        waiting = node.pipeline.waiting
        is_next = bool(waiting) and waiting[0].ts == write.ts
        return self._labelled(f"resume pipeline.{kind} node {r}") if is_next else []

    def _next_tick(self, node: Node) -> Timestamp | None:
        """The end of the next pack."""
        consumer = node.pipeline.consumer
        assert isinstance(consumer, ChannelConsumer)
        found = (entry.message for entry in self._program.log.entries[consumer.read :])
        return next((m.ts for m in found if isinstance(m, Tick) and m.ts > consumer.last), None)

    def _of_read(self, step: Step, read: int) -> list[Event]:
        asks = self._labelled("allocate", owner=f"read {read}")
        if step.action == "stamp_read":
            return asks
        if step.action == "check":
            return self._labelled("resume tsafe.check", owner=f"read {read}")
        if step.action == "answer":
            return [event for event in self._carried("reply", read) if brings_rows(event)]
        if step.action == "cancel":
            return (asks + self._loses(read))[:1]
        return self._refuses(read)

    def _loses(self, read: int) -> list[Event]:
        """A question or its answer is lost."""
        return (self._carried("drop", read) + self._carried("lose reply", read))[:1]

    def _refuses(self, read: int) -> list[Event]:
        """A node that serves no more comes to the read, or its refusal to the client."""
        if self._runs(self._place(read)):
            return []
        return [
            *self._carried("deliver", read),
            *self._labelled("resume tsafe.check", owner=f"read {read}"),
            *self._labelled("resume read.collect", owner=f"read {read}"),
            *(event for event in self._carried("reply", read) if not brings_rows(event)),
        ][:1]

    def _place(self, read: int) -> int:
        """The node that the read is with."""
        return self._program.scenario.reads[read][1]

    def _runs(self, node: int) -> bool:
        """The node lives, and serves the channel."""
        closed = self._program.nodes[node].delegator.service_time.closed
        return self._execution.world.lanes[f"node {node}"].alive and not closed

    def _labelled(self, start: str, *, owner: str = "") -> list[Event]:
        return [
            event
            for event in self._execution.world.enabled()
            if event.label.startswith(start) and owner in ("", event.owner)
        ]

    def _carried(self, verb: str, read: int) -> list[Event]:
        """What may happen to the question of a read, or to its answer."""
        return [
            event
            for event in self._labelled(f"{verb} client")
            if event.message is not None and event.message.arguments[0] == read
        ]

    # Letting things happen.

    def _hurry(self, chance: int) -> None:
        """Something happens that should change nothing: a question arrives, rows are collected."""
        quiet = self._quiet()
        if quiet:
            self._fire(quiet[chance % len(quiet)])
            self._state = self._look()

    def _quiet(self) -> list[Event]:
        """What changes nothing where a node serves."""
        quiet = self._labelled("deliver client") + self._labelled("resume read.collect")
        return [event for event in quiet if self._runs(node_of(event))]


def node_of(event: Event) -> int:
    """The node at which an event happens."""
    found = re.search(r"node (\d+)", event.label)
    assert found is not None, event.label
    return int(found[1])


def brings_rows(reply: Event) -> bool:
    """The node has answered, and not refused."""
    return reply.message is not None and reply.message.answer.startswith("ShardAnswer")
