"""The oracle as a program under exploration: servers that take turns, their clients, the store.

Each step of it must be a step of the specification, or change nothing that the specification speaks of. Each
server owns one component of what is observed, and so does each key of the store; the refinement mapping joins
them.
"""

import contextlib
import functools
from collections.abc import Callable, Hashable, Mapping
from typing import Any

from tidemark.impl.errors import NoTimestampError, NotLeaderError, StoreError
from tidemark.impl.timestamp import Batch, compose, milliseconds
from tidemark.impl.tso.oracle import Phase, Published
from tidemark.impl.tso.ports import OraclePorts
from tidemark.impl.tso.server import OracleServer
from tidemark.models.protocols.tso import ports
from tidemark.models.protocols.tso.ports import STORE, Pauses, PickedClock, SharedStore
from tidemark.models.protocols.tso.program.scenario import OracleScenario
from tidemark.models.protocols.tso.refinement import (
    FIRST_SAVE,
    CallView,
    ServerView,
    StoreView,
    abstract,
    oracle_view,
)
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import mapped, program
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

ANSWERS_ARE_COMPOSED = "answers_are_composed"
"""Claim id: an answer is as many timestamps as were asked for, made of the millisecond of the object that the
call has loaded, and of a counter."""

NOTHING_IS_LEFT = "nothing_is_left"
"""Claim id: an oracle whose term is over has nothing published, whatever was under way (B4)."""

ENDS = ("crash", "resume lease.ends", "resume watch.wakes")
"""How the labels of the steps begin in which a server ends of itself."""


class ServerMemory:
    """What the program knows of one server beyond what the server itself holds.

    Attributes:
        serves: to be called when it publishes for the first time.
        objects: what it has published.
        calls: the calls that it was asked, by number.
        late: it has published after its time had run out.
    """

    def __init__(self) -> None:
        self.serves: Callable[[], None] | None = None
        self.server: OracleServer | None = None
        self.store: SharedStore | None = None
        self.pauses: Pauses | None = None
        self.clock: PickedClock | None = None
        self.objects: list[Published] = []
        self.calls: dict[int, CallView] = {}
        self.late = False

    def make(self, physical: int) -> Published:
        """Make what is published, and remember it."""
        made = Published(physical)
        assert self.pauses is not None
        self.late = self.late or self.pauses.over
        if not self.objects and self.serves is not None:
            self.serves()
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

    def leaves_something(self) -> bool:
        """Whether the term is over and something is published, or was published since."""
        oracle = self.server.oracle if self.server is not None else None
        stopped = oracle is not None and oracle.phase is Phase.STOPPED
        return self.late or (stopped and oracle is not None and oracle.published is not None)

    def retries(self, call: int) -> None:
        """A call has got nothing and tries again."""
        self.note(call, "begun")


class OracleProgram(RefiningProgram):
    """Servers, clients and the store."""

    table = "tso"
    at_rest = ("tso.calls_end",)
    claims: tuple[str, ...] = (ANSWERS_ARE_COMPOSED, NOTHING_IS_LEFT)

    def __init__(self, scenario: OracleScenario) -> None:
        super().__init__(mapped(scenario, _values, sound=scenario.sound))
        self.scenario = scenario
        self.settings = scenario.settings()
        self.memories = [ServerMemory() for _ in scenario.names]
        self._wrong: list[str] = []

    def populate(self, world: World) -> None:
        """Define the servers."""
        ports.begin(world.store(STORE))
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
        if place == 0:  # they take turns, in the order of their names
            store.vacant.set()
        process.serve("vacant", functools.partial(_set, store))
        memory.server = OracleServer(
            name=process.name, ports=ports, config=self.scenario.config(), make=memory.make
        )
        await memory.server.run()

    def _edge_store(self, place: int, process: Process) -> SharedStore:
        return SharedStore(
            process,
            place,
            elected=functools.partial(self._elected, place, process),
            others=self.told_of_the_end(place),
            conditional=self.scenario.conditional,
            raises=self.scenario.raises,
        )

    def told_of_the_end(self, place: int) -> tuple[str, ...]:
        """Return the servers that are told when this one's lease has ended."""
        return self.scenario.names[place + 1 : place + 2]

    def _clock(self, place: int, process: Process) -> PickedClock:
        unit = self.scenario.units.time
        times = [tuple(time * unit for time in each) for each in self.scenario.clocks[place]]
        readings = {"start.decide": times[0], "update.read_clock": times[-1]}
        return PickedClock(process, readings, self.memories[place].loads)

    def pauses(self, place: int, process: Process) -> Pauses:
        """Return the clock by which a server waits."""
        return Pauses(
            process,
            updates=self.scenario.updates,
            step_down=place < self.scenario.step_downs,
            late_watch=self.scenario.late_watch,
            retries=self.memories[place].retries,
        )

    def _elected(self, place: int, process: Process) -> None:
        """From now on, or from the first publication on, the server is asked."""
        memory = self.memories[place]

        def ask() -> None:
            for call, (target, _) in enumerate(self.scenario.calls):
                if target == place:
                    process.spawn(self._ask(place, process, call), f"call {call}")

        if self.scenario.early:
            ask()
        else:
            memory.serves = ask
        # That the last one loses its lease would change nothing: none comes after it.
        if not self.scenario.lease_rule and place + 1 < len(self.memories):
            assert memory.store is not None
            process.spawn(memory.store.expire(), "lease")

    async def _ask(self, place: int, process: Process, call: int) -> None:
        """Ask for timestamps at some time while the server runs."""
        memory = self.memories[place]
        await process.point("client.begin")
        assert memory.server is not None
        if memory.server.stopped:
            return
        count = self.scenario.calls[call][1] * self.scenario.units.logical
        memory.calls[call] = CallView(call, count, "begun", 0, 0, self._answered())
        await process.point("call.load")
        try:
            batch = await memory.server.allocate(count)
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
        physical = memory.calls[call].object
        last = batch.last - compose(milliseconds(physical), 0)
        if batch.last - batch.first + 1 != count or last % self.scenario.units.logical:
            self._wrong.append(f"{count} asked for in the millisecond of {physical} ns, {batch} answered")
        memory.note(call, "answered", physical=physical, last=last)

    def _touch_answers(self, *, write: bool) -> None:
        bit = self.world.interner.bit("answers")
        self.world.touch(reads=0 if write else bit, writes=bit if write else 0)

    async def _after_death(self, memory: ServerMemory, store: SharedStore) -> None:
        """The lease of a dead server ends."""
        if memory.store is None or memory.server is None or memory.server.oracle is None:
            return None
        store.sent, store.first_save_is_open = memory.store.sent, memory.store.first_save_is_open
        while True:
            with contextlib.suppress(StoreError):
                return await store.end()

    # What is looked at.

    def condition(self, name: str, event: Event) -> bool:
        """The table's conditions: the time of an event's server is "over"; what it saves is "useless", since
        it is dead, its time is over, or another one leads.
        """
        server = event.label.rpartition(" ")[2].partition("#")[0].partition("@")[0]
        place = self.scenario.names.index(server)
        pauses, lane = self.memories[place].pauses, self.world.lanes[server]
        over = pauses is None or pauses.over
        if name == "over":
            return over
        view = ports.store_view(self.world.store(STORE))
        dead = not lane.alive or lane.incarnation > 1
        return over or dead or not view.led or view.leader != place

    def element(self, name: str, value: Any) -> Any:
        """Return a server's place, or a number."""
        return self.scenario.names.index(value) if name == "server" else int(value)

    def observe(self) -> Observation:
        """Return what each server and the store hold, each under its own name."""
        store = self.world.store(STORE)
        view = ports.store_view(store)
        servers = {name: self._server_view(place) for place, name in enumerate(self.scenario.names)}
        return {
            **servers,
            store.owner(ports.WINDOW): view.saved,
            store.owner(ports.LEADER): (view.leader, view.led),
            store.owner(ports.SETTLED): view.settled,
        }

    def _server_view(self, place: int) -> ServerView:
        lane = self.world.lanes[self.scenario.names[place]]
        memory = self.memories[place]
        oracle = memory.server.oracle if memory.server is not None else None
        sent = memory.store.sent if memory.store is not None else {}
        return ServerView(
            alive=lane.alive and lane.incarnation == 1,
            oracle=None if oracle is None else oracle_view(oracle, memory.objects, sent),
            first_sent=sent.get(FIRST_SAVE, 0),
            calls=tuple(view for _, view in sorted(memory.calls.items())),
        )

    def declared(self) -> Hashable:
        """Return the mutable data of the servers that influence what they do next."""
        return tuple(self._declared(memory) for memory in self.memories), self.final()

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

    def complaint(self) -> str | None:
        """Return what is wrong with an answer, or with what is left when a term has ended."""
        if self._wrong:
            return f"{ANSWERS_ARE_COMPOSED}: {self._wrong[0]}"
        if any(memory.leaves_something() for memory in self.memories):
            return f"{NOTHING_IS_LEFT}: an oracle has stopped, and has something published"
        return None

    def meant(self, label: str) -> str | None:
        """Return the action that a step represents: a start that fails has the effect of a crash."""
        return "crash" if label.startswith(ENDS) else None


def _values(scenario: OracleScenario, observation: Any) -> Mapping[str, Any]:
    shape, names = scenario.shape(), scenario.names
    parts: Any = list(observation.values())
    servers, (saved, (leader, led), settled) = parts[: len(names)], parts[len(names) :]
    return abstract(servers, StoreView(saved=saved, led=led, leader=leader, settled=settled), shape)


async def _set(store: SharedStore) -> None:
    store.vacant.set()


oracle = program(OracleProgram, OracleScenario)
