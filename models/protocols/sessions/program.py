"""Sessions as a program under exploration: nodes whose leases end while they work and that come back, a store
that forgets old changes, and the part of a root coordinator that follows them.

Each step must be a step of ``tidemark.spec.sessions``, or change nothing of it.
"""

import functools
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.impl.errors import UnknownSessionError
from tidemark.impl.rootcoord.round_queue import RoundQueue
from tidemark.impl.rootcoord.session_watch import SessionWatch
from tidemark.impl.rootcoord.time_tick_sync import TimeTickSync
from tidemark.impl.values.report import DDL_SOURCE, TimeTickReport
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.calls import Alone
from tidemark.models.protocols.sessions.ports import LOGS, STORE, Shared, SharedSessions, Takeover
from tidemark.models.protocols.sessions.refinement import CoordinatorView, abstract
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

COORDINATOR, COMPACTION = "coordinator", "compaction"
SPECIFICATION = "tidemark.spec.sessions:Sessions"
_DOWN = CoordinatorView("down", 0, 0, (), ())


class SessionsScenario(FaultyScenario):
    """What happens.

    Attributes:
        lives: by node how many sessions it has, one after the other; each of them ends.
        compactions: how often the store forgets all changes so far.
        protocol: the specification, or a variant of it.
    """

    lives: tuple[int, ...]
    compactions: int = 0
    protocol: str = SPECIFICATION

    def settings(self) -> Settings:
        """The bounds of the world."""
        return Settings(faults=self.faults, crashable=frozenset({COORDINATOR}), clock=ClockOrder.UNTIMED)

    def instance(self) -> Instance:
        """The bounded instance of a specification with these sessions."""
        count = sum(self.lives)
        return Instance(
            self.protocol,
            bounds={"Node": count, "Revision": 2 * count, "Faults": 1},
            constants={},
            name="scheduled",
        )


@dataclass(eq=False)
class Coordinator:
    """One incarnation."""

    process: Process
    store: Takeover
    sync: TimeTickSync
    watch: SessionWatch

    def view(self, accepted: tuple[int, ...]) -> CoordinatorView:
        """The picture of it."""
        if not self.process.alive or self.store.phase == "down":
            return CoordinatorView("down", 0, 0, (), accepted)
        entries = tuple(source for source in sorted(self.sync.entries) if source != DDL_SOURCE)
        is_listed = self.store.phase == "listed"
        return CoordinatorView(
            self.store.phase,
            self.store.first,
            self.store.first if is_listed else self.store.number_of(self.watch.revision),
            self.store.listed if is_listed else entries,
            accepted,
        )


class SessionsProgram(RefiningProgram):
    """Nodes, a store of sessions, a coordinator."""

    table = "sessions"

    def __init__(self, scenario: SessionsScenario) -> None:
        super().__init__(mapped(scenario, _values, ignored=("faults",)))
        self.scenario = scenario
        self.settings = scenario.settings()
        self.coordinators: list[Coordinator] = []
        self._shared: Shared | None = None

    @property
    def shared(self) -> Shared:
        """The store."""
        assert self._shared is not None
        return self._shared

    def populate(self, world: World) -> None:
        """Define the processes."""
        self._shared = self.make_shared(world)
        world.process(COORDINATOR, self._coordinate, daemon=True)
        for place, lives in enumerate(self.scenario.lives):
            world.process(f"node {place}", functools.partial(self._node, lives), daemon=True)
        if self.scenario.compactions:
            world.process(COMPACTION, self._compact, daemon=True)

    def make_shared(self, world: World) -> Shared:
        """Make the store."""
        return SharedSessions(world)

    async def _coordinate(self, process: Process) -> None:
        await process.point("coordinator.begin")
        store = Takeover(process, self.shared)
        sync = TimeTickSync(rounds=RoundQueue(1), is_newest=Alone().is_newest, preemption=process)
        watch = SessionWatch(sessions=store, sync=sync)
        self.coordinators.append(Coordinator(process, store, sync, watch))

        async def report(source: int) -> None:
            try:
                await sync.update(TimeTickReport(source, (), 1))
            except UnknownSessionError:
                return  # the node hears of it

        process.serve("report", report)
        await watch.load()
        await watch.run()

    async def _node(self, lives: int, process: Process) -> None:
        """A node does not hear of the end of its lease: what it has reported comes at any later time."""
        for _ in range(lives):
            source = await self.shared.register(process.name)
            process.post(COORDINATOR, "report", source)
            await self.shared.end(source)

    async def _compact(self, process: Process) -> None:
        del process
        for _ in range(self.scenario.compactions):
            await self.shared.compact()

    # What is looked at.

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """A coordinator serves, knows who lives, and has fenced who does not."""
        if values["phase"] != "serving":
            return f"the coordinator is {values['phase']}"
        for n, ended in values["ended"].items():
            if ended and not values["fenced"][n]:
                return f"session {n} is over, and the logs take what it writes"
            if values["began"][n] and not ended and not values["view"][n]:
                return f"session {n} lives, and is not known"
        return None

    def element(self, name: str, value: Any) -> Any:
        """Return a session's element: sources count from 1."""
        del name
        return int(value) - 1

    def observe(self) -> Observation:
        """Return what store, logs and coordinator hold."""
        return {
            STORE: self.shared.view(),
            LOGS: tuple(sorted(set(self.shared.fenced))),
            COORDINATOR: self._view(),
        }

    def _view(self) -> CoordinatorView:
        accepted = {source for one in self.coordinators for source in one.sync.accepted}
        known = tuple(sorted(accepted))
        return self.coordinators[-1].view(known) if self.coordinators else _DOWN

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        last = self.coordinators[-1] if self.coordinators else None
        return (
            tuple(self._observed.values()),
            self.shared.rows(),
            self.shared.gate.view(),
            last and (last.watch.revision, tuple(sorted(last.sync.entries)), tuple(last.sync.lock.users)),
        )


def _values(scenario: SessionsScenario, known: Any) -> Mapping[str, Any]:
    return abstract(known[STORE], known[LOGS], known[COORDINATOR], sessions=sum(scenario.lives))


sessions = program(SessionsProgram, SessionsScenario)
