"""The oracle as a program under exploration: servers that take turns, their clients, the store.

Each step of it must be a step of the specification, or change nothing that the specification speaks of. Each
server owns one component of what is observed, and so does each key of the store; the refinement mapping joins
them.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

from impl.errors import NoTimestampError, NotLeaderError, StoreError
from impl.tso.oracle import Published
from impl.tso.ports import OraclePorts
from impl.tso.server import OracleParts, OracleServer
from impl.tso.timestamp import Batch, compose, milliseconds
from models.refinements.step import Matched, Refuted, State, StepChecker
from models.refinements.tso import FIRST_SAVE, CallView, ServerView, Shape, StoreView, abstract, oracle_view
from models.scheduled import tso_edges
from models.scheduled.process import Process
from models.scheduled.program import Observation, Program
from models.scheduled.tso_edges import STORE, Pauses, PickedClock, SharedStore
from models.scheduled.tso_scenario import Scenario
from models.scheduled.world import World

ANSWERS_ARE_COMPOSED = "answers_are_composed"
"""Claim id: an answer is as many timestamps as were asked for, made of the millisecond of the object that the
call has loaded, and of a counter."""

_ENDS = ("crash", "resume lease.ends")
"""How the labels of the steps begin in which a server ends of itself."""


class ServerMemory:
    """What the program knows of one server beyond what the server itself holds.

    Attributes:
        objects: what it has published.
        calls: the calls that it was asked, by number.
    """

    def __init__(self) -> None:
        self.server: OracleServer | None = None
        self.store: SharedStore | None = None
        self.pauses: Pauses | None = None
        self.clock: PickedClock | None = None
        self.objects: list[Published] = []
        self.calls: dict[int, CallView] = {}

    def make(self, physical: int) -> Published:
        """Make what is published, and remember it."""
        made = Published(physical)
        self.objects.append(made)
        return made

    def note(self, call: int, progress: str, *, physical: int = 0, last: int = 0) -> None:
        """Remember how far a call has come."""
        self.calls[call] = self.calls[call]._replace(progress=progress, object=physical, last=last)

    def loads(self, call: int) -> None:
        """A call has loaded the pointer to what is published."""
        assert self.server is not None
        assert self.server.oracle is not None
        published = self.server.oracle.published
        self.note(call, "loaded", physical=0 if published is None else published.physical)

    def retries(self, call: int) -> None:
        """A call has got nothing and tries again."""
        self.note(call, "begun")


class OracleProgram(Program):
    """Servers, clients and the store.

    Args:
        scenario: what happens.
        parts: which class plays which part of a server: a variant replaces one of them.
        store: the store as a server sees it.
        protocol: the specification that each step must follow.
    """

    claims = (ANSWERS_ARE_COMPOSED,)

    def __init__(
        self,
        scenario: Scenario,
        *,
        parts: OracleParts | None = None,
        store: type[SharedStore] = SharedStore,
        protocol: str = "spec.tso:Tso",
    ) -> None:
        self.scenario = scenario
        self.settings = scenario.settings()
        self.parts = parts if parts is not None else OracleParts()
        self.memories = [ServerMemory() for _ in scenario.names]
        self._store_class = store
        self._world: World | None = None
        self._abstraction = _abstraction(scenario, self.parts.updaters, protocol)
        self._matched: set[str] = set()
        self._wrong: list[str] = []

    def build(self, world: World) -> None:
        """Define the servers."""
        self._world = world
        tso_edges.begin(world.store(STORE))
        for place, name in enumerate(self.scenario.names):
            world.process(name, functools.partial(self._run, place), daemon=True)

    # A server and its clients.

    async def _run(self, place: int, process: Process) -> None:
        """A server; after its death, its lease."""
        memory = self.memories[place]
        store = self._edge_store(place, process)
        if process.incarnation > 1:
            await self._after_death(memory, store)
            return
        memory.store = store
        memory.clock = self._clock(place, process)
        memory.pauses = self.pauses(place, process)
        ports = OraclePorts(
            store=store, wall=memory.clock, steady=memory.pauses, clock=memory.pauses, preemption=memory.clock
        )
        if place == 0:
            store.vacant.set()
        process.serve("vacant", functools.partial(_set, store))
        parts = replace(self.parts, published=memory.make)
        memory.server = OracleServer(
            name=process.name, ports=ports, config=self.scenario.config(), parts=parts
        )
        await memory.server.run()

    def _edge_store(self, place: int, process: Process) -> SharedStore:
        others = tuple(name for name in self.scenario.names[place + 1 : place + 2])
        return self._store_class(
            process, place, elected=functools.partial(self._elected, place, process), others=others
        )

    def _clock(self, place: int, process: Process) -> PickedClock:
        unit = self.scenario.units.time
        readings = tuple(time * unit for time in self.scenario.clocks[place])
        return PickedClock(process, readings, self.memories[place].loads)

    def pauses(self, place: int, process: Process) -> Pauses:
        """Return the clock by which a server waits."""
        return Pauses(
            process,
            updates=self.scenario.updates,
            step_down=place < self.scenario.step_downs,
            retries=self.memories[place].retries,
        )

    def _elected(self, place: int, process: Process) -> None:
        """From now on the server is asked."""
        for call, (target, count) in enumerate(self.scenario.calls):
            if target == place:
                process.spawn(self._ask(place, process, call, count), f"call {call}")
        if not self.scenario.lease_rule:
            store = self.memories[place].store
            assert store is not None
            process.spawn(store.expire(), "lease")

    async def _ask(self, place: int, process: Process, call: int, count: int) -> None:
        """Ask for timestamps at some time while the server runs."""
        memory = self.memories[place]
        await process.point("client.begin")
        assert memory.server is not None
        if memory.server.stopped:
            return
        memory.calls[call] = CallView(call, "begun", 0, 0, self._answered())
        await process.point("call.load")
        try:
            batch = await memory.server.allocate(count * self.scenario.units.logical)
        except (NotLeaderError, NoTimestampError):
            memory.note(call, "failed")
        else:
            self._check_answer(memory, call, count, batch)

    def _answered(self) -> tuple[int, ...]:
        """The calls that have their answer."""
        self._touch_answers(write=False)
        views = [view for memory in self.memories for view in memory.calls.values()]
        return tuple(sorted(view.call for view in views if view.progress == "answered"))

    def _check_answer(self, memory: ServerMemory, call: int, count: int, batch: Batch) -> None:
        self._touch_answers(write=True)
        asked = count * self.scenario.units.logical
        physical = memory.calls[call].object
        last = batch.last - compose(milliseconds(physical), 0)
        if batch.last - batch.first + 1 != asked or last % self.scenario.units.logical:
            self._wrong.append(f"{asked} asked for in the millisecond of {physical} ns, {batch} answered")
        memory.note(call, "answered", physical=physical, last=last)

    def _touch_answers(self, *, write: bool) -> None:
        assert self._world is not None
        bit = self._world.interner.bit("answers")
        self._world.touch(reads=0 if write else bit, writes=bit if write else 0)

    async def _after_death(self, memory: ServerMemory, store: SharedStore) -> None:
        """The lease of a dead server ends."""
        if memory.store is None or memory.server is None or memory.server.oracle is None:
            return
        store.sent, store.first_save_is_open = memory.store.sent, memory.store.first_save_is_open
        try:
            await store.end()
        except StoreError:
            await store.end()

    # What is looked at.

    def observe(self) -> Observation:
        """Return what each server and the store hold, each under its own name."""
        assert self._world is not None
        store = self._world.store(STORE)
        view = tso_edges.store_view(store)
        servers = {name: self._server_view(place) for place, name in enumerate(self.scenario.names)}
        return {
            **servers,
            store.owner(tso_edges.WINDOW): view.saved,
            store.owner(tso_edges.LEADER): (view.leader, view.led),
            store.owner(tso_edges.SETTLED): view.settled,
        }

    def _server_view(self, place: int) -> ServerView:
        assert self._world is not None
        lane = self._world.lanes[self.scenario.names[place]]
        memory = self.memories[place]
        oracle = memory.server.oracle if memory.server is not None else None
        sent = memory.store.sent if memory.store is not None else {}
        return ServerView(
            alive=lane.alive and lane.incarnation == 1,
            oracle=None if oracle is None else oracle_view(oracle, memory.objects, sent),
            first_sent=sent.get(FIRST_SAVE, 0),
            calls=tuple(view for _, view in sorted(memory.calls.items())),
        )

    def values(self) -> Mapping[str, Any]:
        """Return the present abstract state by variable name."""
        return self._abstraction.values(self.observe())

    def declared(self) -> Hashable:
        """Return the mutable data of the servers that influence what they do next."""
        return tuple(self._declared(memory) for memory in self.memories), self._state(self.observe())

    def _declared(self, memory: ServerMemory) -> Hashable:
        server, store, pauses, clock = memory.server, memory.store, memory.pauses, memory.clock
        if server is None or store is None or pauses is None or clock is None:
            return None
        return (
            server.stopped,
            server.term.ended if server.term is not None else "",
            store.vacant.is_set(),
            tuple(sorted(store.sent.items())),
            store.first_save_is_open,
            pauses.over,
            tuple(sorted(pauses.ran.items())),
            clock.shown,
            tuple((made.physical, made.logical) for made in memory.objects),
            tuple(memory.calls.values()),
            None if server.oracle is None else oracle_view(server.oracle, memory.objects, store.sent),
        )

    # What must hold.

    def on_start(self, state: Observation) -> str | None:
        """The first state must be an initial state of the specification."""
        return _words(self.checker.start(self._state(state)))

    def on_step(self, before: Observation, after: Observation, label: str) -> str | None:
        """Each step must be a step of the specification, after which every invariant holds."""
        if self._wrong:
            return f"{ANSWERS_ARE_COMPOSED}: {self._wrong[0]}"
        old, new = self._state(before), self._state(after)
        answer = self.checker.check(old, new)
        if isinstance(answer, Matched):
            self._matched.add(self.action(old, new, label, answer))
            self._matched |= self._abstraction.witnessed(old, new, answer)
        return _words(answer if isinstance(answer, Refuted) else None)

    def covered(self) -> frozenset[str]:
        """Return the actions of the specification that steps have matched, and the witnesses reached."""
        return frozenset(self._matched)

    @property
    def checker(self) -> StepChecker:
        """The specification that the steps must follow."""
        return self._abstraction.checker

    def action(self, before: State, after: State, label: str, matched: Matched) -> str:
        """Return the action that a step is meant to be, among those with the effect of ``matched``."""
        if not label.startswith(_ENDS) or matched.step.action == "crash":
            return matched.step.action
        return self._abstraction.crash_or(before, after, matched)

    def abstract(self, observation: Observation) -> State:
        """Return the state of the specification that an observation stands for."""
        return self._state(observation)

    def final(self) -> Hashable:
        """Return the abstract state at the end."""
        return self._state(self.observe())

    def _state(self, observation: Observation) -> State:
        return self._abstraction.state(observation)


class Abstraction:
    """Joins views to states of the specification, and remembers the answers: views repeat all the time."""

    def __init__(self, scenario: Scenario, updaters: int, protocol: str) -> None:
        self.checker = StepChecker(scenario.instance(protocol, updaters=updaters))
        self._names = scenario.names
        self._shape: Shape = scenario.shape(updaters)
        self._states: dict[tuple[Hashable, ...], State] = {}
        self._witnessed: dict[tuple[State, State], frozenset[str]] = {}
        self._crashes: dict[tuple[State, State], str] = {}

    def witnessed(self, before: State, after: State, matched: Matched) -> frozenset[str]:
        """Return the reachability properties that a step satisfies."""
        key = (before, after)
        if key not in self._witnessed:
            interpreter = self.checker.interpreter
            self._witnessed[key] = frozenset(
                prop.id
                for prop in self.checker.spec.of_kind("reachable")
                if interpreter.holds(prop, before, after, matched.step)
            )
        return self._witnessed[key]

    def crash_or(self, before: State, after: State, matched: Matched) -> str:
        """Return ``crash`` if that has the effect of the step. A start that fails has the same one."""
        key = (before, after)
        if key not in self._crashes:
            found = {t.step.action for t in self.checker.successors(before) if t.state == after}
            self._crashes[key] = "crash" if "crash" in found else matched.step.action
        return self._crashes[key]

    def state(self, observation: Observation) -> State:
        """Return the state of the specification that an observation stands for."""
        key = tuple(observation.values())
        known = self._states.get(key)
        if known is None:
            known = self._states[key] = self.checker.encode(self.values(observation))
        return known

    def values(self, observation: Observation) -> Mapping[str, Any]:
        """Return the same by variable name."""
        parts: Any = list(observation.values())
        servers, (saved, (leader, led), settled) = parts[: len(self._names)], parts[len(self._names) :]
        store = StoreView(saved=saved, led=led, leader=leader, settled=settled)
        return abstract(servers, store, self._shape)


async def _set(store: SharedStore) -> None:
    store.vacant.set()


@functools.cache
def _abstraction(scenario: Scenario, updaters: int, protocol: str) -> Abstraction:
    """A pure function of its arguments: it may outlive executions."""
    return Abstraction(scenario, updaters, protocol)


def _words(refuted: Refuted | None) -> str | None:
    return None if refuted is None else f"{refuted.claim}: {refuted.text}"
