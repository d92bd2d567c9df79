"""The queues of a proxy as a program under exploration: clients that may leave, workers, a close; an oracle;
logs, which stand for whatever carries a task out.

Each step must be a step of ``tidemark.spec.scheduler``, or change nothing of it.
"""

import asyncio
import functools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.impl.errors import ImplementationError
from tidemark.impl.proxy.queues import ProxyQueues, QueueKind
from tidemark.impl.proxy.values import DmlTask
from tidemark.impl.runtime import Supervisor
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.oracle import (
    ANSWERS,
    ORACLE,
    Answers,
    OracleCalls,
    OracleProcess,
    SparingOracle,
)
from tidemark.models.protocols.proxy.ports import LOG, LogCalls, LogProcess
from tidemark.models.protocols.proxy.refinement import LogView
from tidemark.models.protocols.scheduler.refinement import QueuesView, abstract, queues_view
from tidemark.models.refinement.program import REFINEMENT, Abstraction, RefiningProgram
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, FaultBudget, Link, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

PROXY = "proxy"
SPECIFICATION = "tidemark.spec.scheduler:Scheduler"


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerScenario:
    """What happens: tasks by their queue, callers that may leave, a close, an end without one.

    greatest: the greatest timestamp of the instance; 0 for one of each task.
    near_oracle: a call of the oracle is one step, and always succeeds.
    endless: two other clients ask the first queue for ever, and the oracle, near, never answers them.
    """

    tasks: tuple[QueueKind, ...]
    leaves: tuple[int, ...] = ()
    closes: bool = False
    crashes: bool = False
    greatest: int = 0
    near_oracle: bool = True
    endless: bool = False
    oracle_faults: FaultBudget = field(default_factory=FaultBudget)
    log_faults: FaultBudget = field(default_factory=FaultBudget)

    @property
    def channels(self) -> tuple[str, ...]:
        """Where each task is carried out."""
        return tuple(f"{kind.value} {place}" for place, kind in enumerate(self.tasks))

    def settings(self) -> Settings:
        """Return the bounds of the world."""
        oracle, log = self.oracle_faults.remaining(), self.log_faults.remaining()
        return Settings(
            faults=FaultBudget(**{kind.value: oracle[kind] + log[kind] for kind in oracle}),
            links=(
                Link(source=PROXY, destination=ORACLE, faults=self.oracle_faults),
                Link(source=PROXY, destination=LOG, faults=self.log_faults),
            ),
            clock=ClockOrder.UNTIMED,
        )

    def instance(self, protocol: str) -> Instance:
        """Return the bounded instance of a specification with these tasks."""
        count = len(self.tasks)
        return Instance(
            protocol,
            bounds={"Task": count, "Id": count, "Ts": self.greatest or count, "Place": count, "Notices": 2},
            constants={"queue": [kind.value for kind in self.tasks], "id": list(range(count))},
            name="scheduled",
        )


class SchedulerProgram(RefiningProgram):
    """One proxy's queues with their clients, an oracle, and logs that carry tasks out."""

    table = "scheduler"

    def __init__(self, scenario: SchedulerScenario, *, protocol: str) -> None:
        super().__init__(_abstraction(scenario, protocol))
        self.scenario = scenario
        self.settings = scenario.settings()
        channels = zip(scenario.tasks, scenario.channels, strict=True)
        self.tasks = [(kind, DmlTask((channel,))) for kind, channel in channels]
        self.oracle = SparingOracle(most=0, needed=_is_known) if scenario.endless else OracleProcess()
        self.log = LogProcess()
        self.queues: ProxyQueues | None = None
        self.inside: set[int] = set()
        """The clients that wait for ``submit`` to return."""
        self.gone: set[int] = set()
        """Those that were cancelled there."""
        self.wrong: str | None = None
        self._answers: Answers | None = None
        self._calls: OracleCalls | None = None

    def populate(self, world: World) -> None:
        """Define the processes."""
        self._answers = Answers(world)
        world.process(ORACLE, self.oracle.run, daemon=True)
        world.process(LOG, self.log.run, daemon=True)
        world.process(PROXY, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        assert self._answers is not None
        near = self.oracle if self.scenario.near_oracle else None
        self._calls = OracleCalls(process, self.world, self._answers, near=near)
        supervisor = Supervisor()
        log = LogCalls(process, self.world)
        self.queues = ProxyQueues(
            oracle=self._calls,
            streams={kind: log for kind in QueueKind if kind in self.scenario.tasks},
            preemption=process,
            spawn=supervisor.spawn,
            parallel=2,
            capacity=len(self.tasks),
            deadline=1.0,
        )
        self.queues.start()
        self.bring_clients(process, self.queues)
        if self.scenario.endless:
            for name in ("one stranger", "other stranger"):
                process.spawn(self._stranger(process, self.queues), name)
        if self.scenario.closes:
            process.spawn(self._close(process, self.queues), "closer")
        if self.scenario.crashes:
            process.spawn(self._crash(process, self.queues, supervisor), "crasher")
        await supervisor.wait_failed()

    def bring_clients(self, process: Process, queues: ProxyQueues) -> None:
        """Let the clients come."""
        process.spawn(self._clients(process, queues), "clients")

    async def _clients(self, process: Process, queues: ProxyQueues) -> None:
        """Clients come one after another."""
        for place in range(len(self.tasks)):
            await process.point("client.come")
            client = asyncio.create_task(self.client(queues, place), name=f"client {place}")
            if place in self.scenario.leaves:
                process.spawn(leave(process, client), f"leaver {place}")

    async def client(self, queues: ProxyQueues, place: int) -> None:
        """One client, until it hears what became of its task, or leaves."""
        kind, task = self.tasks[place]
        self.inside.add(place)
        try:
            await queues.submit(kind, task)
        except ImplementationError:
            return  # the client hears of it
        except asyncio.CancelledError:
            self.gone.add(place)
            raise
        else:
            if not task.answered.is_set():
                self.wrong = f"the request of task {place} returns, and nothing is known of it"
        finally:
            self.inside.remove(place)

    async def _stranger(self, process: Process, queues: ProxyQueues) -> None:
        """A client that is told of an error each time, and comes again."""
        kind = self.scenario.tasks[0]
        while True:
            await process.point("stranger.come")
            try:
                await queues.queues[kind].enqueue(DmlTask((kind.value,)))
            except ImplementationError:
                continue

    async def _close(self, process: Process, queues: ProxyQueues) -> None:
        await process.point("proxy.close")
        await queues.close()

    async def _crash(self, process: Process, queues: ProxyQueues, supervisor: Supervisor) -> None:
        """The proxy ends in the middle of its work, as when its session is over or its process is killed:
        its callers see it, and what it has sent may still be carried out.
        """
        await process.point("proxy.crash")
        queues.cut()
        await supervisor.stop()

    # What is looked at.

    def complaint(self) -> str | None:
        """The queues know who waits, and who has left."""
        assert self.queues is not None
        known = {t for t, (_, task) in enumerate(self.tasks) if task.number in self.queues.pending}
        wrong = self.wrong
        if known != self.inside:
            wrong = f"the callers {sorted(self.inside)} wait, not {sorted(known)}"
        unaware = sorted(t for t in self.gone if not self.tasks[t][1].left)
        if unaware:
            wrong = f"the caller of task {unaware[0]} has left, and the task does not know"
        return wrong and f"{REFINEMENT}: {wrong}"

    def on_stutter(self, label: str) -> str | None:
        """Likewise after a step that changes nothing of the specification."""
        return self.complaint() or super().on_stutter(label)

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Each task is over, or its proxy has ended; no close is half-way."""
        for t, phase in values["phase"].items():
            if phase != "over" and values["mode"] != "crashed":
                return f"task {t} is not over: {phase}"
        return "the proxy is not closed" if values["mode"] == "closing" else None

    def element(self, name: str, value: Any) -> Any:
        """Return a task's place: by the number of its request, or by its channel."""
        if name == "t__channel":
            return self.scenario.channels.index(value)
        if name == "t__number":
            return next((t for t, (_, task) in enumerate(self.tasks) if task.number == int(value)), None)
        return int(value)

    def observe(self) -> Observation:
        """Return what the queues, the logs and the oracle hold."""
        assert self._answers is not None
        assert self._calls is not None
        assert self.queues is not None
        floors = self._calls.floors
        view = queues_view(
            self.queues,
            self.tasks,
            floors=[floors.get(f"enter {task.number}", 0) for _, task in self.tasks],
        )
        return {PROXY: view, LOG: self.log.view(), ANSWERS: self._answers.answered}

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        assert self.queues is not None
        return tuple(self._observed.values()), memory_of(self.queues, self.tasks), self.oracle.given


def memory_of(queues: ProxyQueues, tasks: Sequence[tuple[QueueKind, DmlTask]]) -> Hashable:
    """Return what influences the future of the queues, beyond their view."""
    return (
        tuple(
            (tuple(task.number for task in queue.unissued), tuple(sorted(queue.active)),
             tuple(queue.stats_lock.users), queue.closing, queue.entered)
            for queue in queues.queues.values()
        ),
        tuple(scheduler.free_slots for scheduler in queues.schedulers.values()),
        tuple(sorted(queues.pending)),
        tuple(
            (tuple((c, o.value) for c, o in task.outcomes.items()), task.number, type(task.error).__name__)
            for _, task in tasks
        ),
    )  # fmt: skip


def _is_known(caller: str) -> bool:
    """The caller of the oracle is one of the tasks."""
    return caller.startswith("enter ")


async def leave(process: Process, client: asyncio.Task[None]) -> None:
    """The client is cancelled, wherever it waits."""
    await process.point("client.leave")
    client.cancel()


@functools.cache
def _abstraction(scenario: SchedulerScenario, protocol: str) -> Abstraction:
    """A pure function of its arguments: it may outlive executions."""
    channels = scenario.channels

    def values(observation: Observation) -> Mapping[str, Any]:
        queues, log, answered = observation[PROXY], observation[LOG], observation[ANSWERS]
        assert isinstance(queues, QueuesView)
        assert isinstance(log, LogView)
        assert isinstance(answered, tuple)
        return abstract(queues, log, answered, channels)

    return Abstraction(scenario.instance(protocol), values, sound=protocol == SPECIFICATION)


def scheduler(
    *,
    tasks: Sequence[str],
    leaves: Sequence[int] = (),
    closes: bool = False,
    crashes: bool = False,
    near_oracle: bool = True,
    endless: bool = False,
    oracle_drops: int = 0,
    delays: int = 0,
    drops: int = 0,
    lost_replies: int = 0,
    protocol: str = SPECIFICATION,
) -> SchedulerProgram:
    """Return a program by plain arguments, as the manifest gives them.

    Args:
        tasks: by task the name of its queue.
        leaves: tasks whose callers may be cancelled, at any step.
        closes: the proxy is closed, at any step.
        crashes: the proxy ends without a close, at any step.
        near_oracle: a call of the oracle is one step.
        endless: two other clients ask for ever, and are never answered by the oracle.
        oracle_drops: budget of calls of the oracle that vanish.
        delays: budget of calls that arrive after the worker has given up.
        drops: budget of calls that vanish.
        lost_replies: budget of calls whose answer vanishes.
        protocol: the specification, or a variant of it.
    """
    scenario = SchedulerScenario(
        tasks=tuple(QueueKind(name) for name in tasks),
        leaves=tuple(leaves),
        closes=closes,
        crashes=crashes,
        near_oracle=near_oracle,
        endless=endless,
        oracle_faults=FaultBudget(drops=oracle_drops),
        log_faults=FaultBudget(delays=delays, drops=drops, lost_replies=lost_replies),
    )
    return SchedulerProgram(scenario, protocol=protocol)
