"""Drives the real query node by the actions of ``tidemark.spec.segments``, in the controlled world.

The driver plays the log, the coordinator and the files. A step of the node is offered when an event that may
happen now is that step, or leads to it. What changes nothing comes just before the step that needs it: the
entries up to a tick are read, a load reads its files and replays deletes. By chance a load does so earlier
and ends later, and a trim asks for more than the loads let go. While listed segments are loaded, the point
before the service time lets the pipeline go on: it is passed on the way to the next pack.

Two rows never have one timestamp, nor have two deletes: timestamps of the oracle are unique, and only the row
and the delete of one upsert share theirs. Segments are flushed as in ``program.py``, with all rows of theirs
at or below the checkpoint. Timestamps are bounded, so writes and ticks come
at the next ones: a run gets further.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from tidemark.impl.querynode.pipeline import ShardPipeline
from tidemark.impl.values.messages import LogMessage, Tick
from tidemark.models.conformance.adapter import BrokenRunError, State
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Step
from tidemark.models.protocols.common.driven import DrivenRun
from tidemark.models.protocols.common.growing_log import LOG
from tidemark.models.protocols.segments.ports import CHANNEL, Stored, WritePlan, number_of
from tidemark.models.protocols.segments.program import NODE, SegmentsProgram, SegmentsScenario
from tidemark.models.protocols.segments.refinement import abstract
from tidemark.models.refinement.step import StepChecker
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.world.world import World

_MANY = 100
_NEAR = 2
"""How far above the last tick a write may be."""

_SLOW = 3
"""How many steps a load takes longer, for each unit of chance."""

_REPLAY = "resume load.replay"


class DrivenSegments(SegmentsProgram):
    """The query node alone: the driver plays the others. A write has its timestamp once it is in the log."""

    def populate(self, world: World) -> None:
        """Define the process."""
        self.storage = self.storage_of(world)
        world.process(NODE, self._run_node, daemon=True)

    def put(self, message: LogMessage) -> None:
        """Append a message or a tick."""
        self.storage.log.entries.append(message)
        self.storage.log.gate.look()

    def write(self, number: int, ts: int) -> None:
        """Append a write. The timestamp is a part of the scenario from now on."""
        writes = list(self.scenario.writes)
        writes[number] = writes[number]._replace(ts=ts)
        self.scenario = replace(self.scenario, writes=tuple(writes))
        self.storage.writes = self.scenario.writes
        self.put(writes[number].message(number))

    def keep(self, stored: Stored) -> None:
        """What is stored changes."""
        self.storage.stored = stored
        self.storage.log.gate.look()

    @property
    def listed(self) -> tuple[int, ...]:
        """The segments that the recovery loads, in its order; empty once it has ended its loads."""
        delegator = self.delegator
        if delegator is None or self.described is None:
            return ()
        listed = tuple(sorted(self.described.flushed))
        return () if all(g + 1 in delegator.sealed for g in listed) else listed

    @property
    def pipeline(self) -> ShardPipeline | None:
        """The node's, once the stream runs."""
        return None if self.node is None else self.node.pipelines.get(CHANNEL)


def scenario_of(instance: Instance) -> SegmentsScenario:
    """The writes of a bounded instance. One that is not in the log is later than all timestamps."""
    constants, last = instance.map_constants, int(str(instance.bounds["Ts"]))
    kinds = zip(constants["deletes"], constants["segment"], strict=True)
    return SegmentsScenario(
        writes=tuple(WritePlan(last + 1, None if deletes else int(str(g))) for deletes, g in kinds),
        ticks=(last,),
        stored=tuple(f"flush {g}" for g in range(int(str(instance.bounds["Segment"])))),
        crashes=int(str(instance.bounds["Faults"])),
    )


class SegmentsAdapter(DrivenRun):
    """One run of a query node."""

    never_offered: ClassVar[dict[str, str]] = {"fail_load": "each read of a file succeeds here"}

    def __init__(self, instance: Instance, checker: StepChecker) -> None:
        self._checker = checker
        self._program = self._made(instance)
        self._replayed: Counter[int] = Counter()
        """By segment, how many deletes its load has replayed before it had to."""
        self._crashes = 0
        self._steps = 0
        self._ends: Counter[int] = Counter()
        """By segment, after how many steps of the run its load may end."""
        super().__init__(self._program)

    def _made(self, instance: Instance) -> DrivenSegments:
        return DrivenSegments(scenario_of(instance), protocol=instance.protocol)

    def _look(self) -> State:
        """The abstract state; the timestamps are those that the driver has chosen."""
        observed: Any = self._program.observe()
        entries, stored = observed[LOG]
        found = abstract(entries, stored, observed[NODE], self._program.scenario.writes)
        return self._checker.encode({**found, "faults": self._crashes})

    def offers(self, step: Step) -> bool:
        """See ``Adapter``. What the log and the coordinator may do, the specification says."""
        may = getattr(self, f"_may_{step.action}", None)
        return may is None or bool(may(*step.args))

    def perform(self, step: Step, chance: int) -> None:
        """See ``Adapter``."""
        self._steps += 1
        if step.action in ("begin_load", "load_listed"):
            self._ends[int(step.args[0])] = self._steps + _SLOW * chance
        if step.action == "trim":
            self._do_trim(int(step.args[0]), more=bool(chance % 2))
        else:
            getattr(self, f"_do_{step.action}")(*step.args)
        if chance:
            self._hurry(chance)
        self._raise_failures()
        complaint = self._program.complaint()
        if complaint is not None:
            raise BrokenRunError(complaint)
        self._state = self._look()

    # The log, and what is stored.

    @property
    def _stored(self) -> Stored:
        return self._program.storage.stored

    def _may_append(self, w: int, ts: int) -> bool:
        writes = self._program.scenario.writes
        kind = writes[w].segment is None
        return ts <= self._program.storage.log.highest + _NEAR and all(
            plan.ts != ts or (plan.segment is None) != kind for plan in writes
        )

    def _do_append(self, w: int, ts: int) -> None:
        self._program.write(w, ts)

    def _may_send_tick(self, value: int) -> bool:
        """A tick follows a write and has its timestamp; one may come before all writes."""
        log = self._program.storage.log.view()
        if not log:
            return value == 1
        kind, _, ts = log[-1]
        return kind == "message" and value == ts

    def _do_send_tick(self, value: int) -> None:
        self._program.put(Tick(value))

    def _do_save(self, w: int) -> None:
        self._program.keep(self._stored._replace(saved=(*self._stored.saved, w)))

    def _do_store(self, value: int) -> None:
        self._program.keep(self._stored._replace(checkpoint=value))

    def _may_store_deletes(self, value: int) -> bool:
        """Where the stream begins there is a tick: the one that ends a seek ends no pack."""
        return any(kind == "tick" and ts == value for kind, _, ts in self._program.storage.log.view())

    def _do_store_deletes(self, value: int) -> None:
        self._program.keep(self._stored._replace(delete_checkpoint=value))

    def _may_flush(self, g: int) -> bool:
        storage = self._program.storage
        rows = [plan.ts for w in storage.logged() if (plan := storage.writes[w]).segment == g]
        return bool(rows) and max(rows) <= self._stored.checkpoint

    def _do_flush(self, g: int) -> None:
        self._program.keep(self._stored._replace(flushed=(*self._stored.flushed, g)))

    # The stream at the node.

    def _may_watch(self) -> bool:
        return bool(self._found_by("watch"))

    def _do_watch(self) -> None:
        """The channel is taken up, and what is stored is read."""
        self._fire_one("watch")
        self._fire_while(lambda: self._program.pipeline is None, lambda: self._found_by("get file"))

    def _may_take_pack(self, end: int) -> bool:
        pipeline = self._program.pipeline
        if pipeline is None or not (self._found_by("read") or self._passes()):
            return False
        ticks = (ts for kind, _, ts in self._program.storage.log.view() if kind == "tick")
        return next((ts for ts in ticks if ts > pipeline.pack), None) == end

    def _do_take_pack(self, end: int) -> None:
        pipeline = self._program.pipeline
        assert pipeline is not None
        if self._passes():
            self._fire_one("resume pipeline.tsafe")
        self._fire_while(lambda: pipeline.pack < end, lambda: self._found_by("read"))

    def _passes(self) -> bool:
        """The pipeline is about to raise the service time, and that changes nothing."""
        delegator, pipeline = self._program.delegator, self._program.pipeline
        if delegator is None or pipeline is None or not self._found_by("resume pipeline.tsafe"):
            return False
        return not delegator.serviceable or delegator.service_time.value >= pipeline.pack

    def _may_apply(self, w: int) -> bool:
        pipeline = self._program.pipeline
        return pipeline is not None and bool(pipeline.waiting) and number_of(pipeline.waiting[0]) == w

    _may_apply_insert = _may_apply_delete = _may_apply

    def _do_apply_insert(self, w: int) -> None:
        del w
        self._fire_one("resume pipeline.insert")

    def _do_apply_delete(self, d: int) -> None:
        del d
        self._fire_one("resume pipeline.delete")

    def _may_raise_safe(self) -> bool:
        """The pipeline does, or the recovery at its end."""
        delegator, pipeline = self._program.delegator, self._program.pipeline
        if delegator is None or pipeline is None or self._program.described is None:
            return False
        if delegator.serviceable:
            return bool(self._found_by("resume pipeline.tsafe")) and not self._passes()
        begins_at = self._program.described.delete_checkpoint
        return bool(self._found_by("resume recover.tsafe")) and pipeline.pack > begins_at

    def _do_raise_safe(self) -> None:
        recovers = self._found_by("resume recover.tsafe")
        self._fire_one("resume recover.tsafe" if recovers else "resume pipeline.tsafe")

    def _may_leave(self) -> bool:
        return bool(self._found_by("crash"))

    def _do_leave(self) -> None:
        """The node crashes, and starts again."""
        self._crashes += 1
        self._replayed.clear()
        self._ends.clear()
        self._fire_one("crash")
        self._fire_one("restart")

    # Loads.

    def _may_begin_load(self, g: int) -> bool:
        return bool(self._found_by(f"load {g}"))

    def _do_begin_load(self, g: int) -> None:
        self._fire_one(f"load {g}")

    def _may_load_listed(self, g: int) -> bool:
        delegator = self._program.delegator
        if delegator is None or not self._found_by("resume recover.load"):
            return False
        return next((one for one in self._program.listed if one + 1 not in delegator.begun), None) == g

    def _do_load_listed(self, g: int) -> None:
        del g
        self._fire_one("resume recover.load")

    def _may_end_load(self, g: int) -> bool:
        return bool(self._of_load(g)) and self._steps >= self._ends[g]

    def _do_end_load(self, g: int) -> None:
        self._fire_while(lambda: bool(self._of_load(g)), lambda: self._of_load(g))

    def _hurry(self, chance: int) -> None:
        """Let a load do what changes nothing: it reads a file, or replays one more delete."""
        delegator = self._program.delegator
        if delegator is None:
            return
        found: list[tuple[int, Event]] = []
        for g, since in [*self._program.loads.items(), *((g, 0) for g in self._program.listed)]:
            left = sum(delete.ts > since for delete in delegator.deletes.kept) - self._replayed[g]
            found += [(g, e) for e in self._of_load(g) if left > 0 or not e.label.startswith(_REPLAY)]
        if found:
            g, event = found[chance % len(found)]
            self._replayed[g] += event.label.startswith(_REPLAY)
            self._fire(event)

    def _may_trim(self, value: int) -> bool:
        """What came with files when the channel was taken up, and what is trimmed, is not trimmed again.
        Nothing is during the recovery.
        """
        delegator = self._program.delegator
        return delegator is not None and not self._program.listed and value > delegator.deletes.floor

    def _do_trim(self, value: int, *, more: bool) -> None:
        """If loads allow no more than this, the node may ask for more."""
        node = self._program.node
        assert node is not None
        pins = [upto for g, upto in self._program.loads.items() if self._of_load(g)]
        asks = self._stored.delete_checkpoint if more and value == min(pins, default=0) else value
        node.trim_deletes(CHANNEL, asks)

    # Events.

    def _found_by(self, verb: str) -> list[Event]:
        return [event for event in self._world.enabled() if event.label.startswith(f"{verb} ")]

    def _of_load(self, g: int) -> list[Event]:
        """What a load that has begun waits for. That of a listed segment is a part of the recovery."""
        delegator = self._program.delegator
        recovers = delegator is not None and g + 1 in delegator.begun and g + 1 not in delegator.sealed
        owner = f"{NODE}/main" if recovers else f"load {g}"
        return [
            event
            for event in self._world.enabled()
            if event.owner == owner and event.label.startswith((_REPLAY, "get file"))
        ]

    def _fire_one(self, verb: str) -> None:
        self._fire_while(lambda: True, lambda: self._found_by(verb), once=True)

    def _fire_while(
        self, condition: Callable[[], bool], found: Callable[[], list[Event]], *, once: bool = False
    ) -> None:
        """Let the first of what is found happen, again and again. Raises BrokenRunError if there is none."""
        for _ in range(_MANY):
            if not condition():
                return
            events = found()
            if not events:
                raise BrokenRunError("the node does not do what it was to do next")
            self._fire(events[0])
            if once:
                return
        raise BrokenRunError("the node does not come to rest")
