"""The dispatchers of a physical channel as a program under exploration: targets come, are slow, and go.

Each step must be a step of ``tidemark.spec.dispatch``, or change nothing of it.
"""

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from tidemark.impl.errors import TargetGoneError
from tidemark.impl.stream.config import DispatcherConfig
from tidemark.impl.stream.manager import DispatcherManager
from tidemark.impl.stream.targets import Target
from tidemark.impl.values.messages import LogMessage, Tick
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.growing_log import LOG
from tidemark.models.protocols.dispatch.ports import CHANNEL, Log, channel_of, ddl_about, number_of, row_for
from tidemark.models.protocols.dispatch.refinement import NodeView, TargetView, abstract, node_view
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import Scenario, mapped, program
from tidemark.models.simulation.loop.lane import Event
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

SPECIFICATION = "tidemark.spec.dispatch:Dispatch"
MERGES_END = "tidemark.spec.dispatch.variants.other_rules:MergesEnd"
"""The same with a claim more, that merges end."""
NODE = "node"
PRODUCERS = "producers"
ONE_EACH = "no_dispatcher_is_left"
"""Claim id: a dispatcher that serves no target any more has ended."""
GONE = "a_target_that_is_gone_takes_nothing"
"""Claim id: who takes the packs of a target gets none, and is told, once it is deregistered."""
ONCE = "a_channel_is_registered_once"
"""Claim id: a channel that has a dispatcher, or waits for one, is refused."""
DROPPED = "the pack drops the collection"
"""Condition of the table of actions: whoever takes the pack lets the target go in the same step."""
ALL = -1
"""A target takes all its packs."""


class TargetPlan(Scenario):
    """What a target does.

    Attributes:
        collection: whose shard it is.
        position: its position, the timestamp of a tick, or 0.
        takes: how many packs it takes, if it is slow; None for all of them.
        leaves: it goes at any time.
        cancelled: who reads it for a node is cancelled at any time, and another one goes on.
    """

    collection: int = 0
    position: int = 0
    takes: int | None = None
    leaves: bool = False
    cancelled: bool = False


class MessagePlan(Scenario):
    """A message of the log: a row to a target, or a message about a collection."""

    ts: int
    to: int = 0
    about: int | None = None


class DispatchScenario(Scenario):
    """What happens in a program of dispatchers.

    Attributes:
        targets, messages: by number.
        ticks: the ticks. What is in the log comes in the order of time.
        grows: the log grows while targets come. If not, it is complete before, and the dispatchers read it at
            their own pace.
        protocol: the specification, or a variant of it.
        contains: a constant of a variant: by two collections whether the number of one contains the other's.
    """

    targets: tuple[TargetPlan, ...]
    messages: tuple[MessagePlan, ...]
    ticks: tuple[int, ...]
    grows: bool = False
    protocol: str = SPECIFICATION
    contains: tuple[tuple[bool, ...], ...] = ()

    @property
    def last(self) -> int:
        """The greatest timestamp."""
        return max(*self.ticks, *(message.ts for message in self.messages))

    def message(self, number: int) -> LogMessage:
        """A message by its number."""
        plan = self.messages[number]
        if plan.about is not None:
            return ddl_about(number, plan.ts, plan.about)
        return row_for(number, plan.ts, self.channel(plan.to))

    def channel(self, target: int) -> str:
        """The name of a target."""
        return channel_of(target, self.targets[target].collection)

    def instance(self) -> Instance:
        """The bounded instance of a specification with this log."""
        collections = [
            *(target.collection for target in self.targets),
            *(message.about for message in self.messages if message.about is not None),
        ]
        return Instance(
            self.protocol,
            bounds={
                "Target": len(self.targets),
                "Collection": 1 + max(collections),
                "Message": len(self.messages),
                "Ts": self.last,
            },
            constants={
                "collection": [target.collection for target in self.targets],
                "slow": [target.takes is not None for target in self.targets],
                "to": [message.to for message in self.messages],
                "is_ddl": [message.about is not None for message in self.messages],
                "about": [message.about or 0 for message in self.messages],
                **({"contains": self.contains} if self.contains else {}),
            },
            name="scheduled",
        )


class DispatchProgram(RefiningProgram):
    """One log with its producers, and a node with the dispatchers and what takes their packs."""

    claims: tuple[str, ...] = (ONE_EACH, GONE, ONCE)
    table = "dispatch"
    at_rest = ("dispatch.ticks_reach_who_takes_them",)

    def __init__(self, scenario: DispatchScenario) -> None:
        super().__init__(mapped(scenario, _values, sound=scenario.protocol in (SPECIFICATION, MERGES_END)))
        self.scenario = scenario
        self.settings = Settings(clock=ClockOrder.UNTIMED)
        count = len(scenario.targets)
        self.targets: list[Target | None] = [None] * count
        self.begins = [0] * count
        self.taken: list[tuple[int, ...]] = [()] * count
        self._manager: DispatcherManager | None = None
        self.objection = ""
        self.wants: dict[int, Target] = {}

    @property
    def manager(self) -> DispatcherManager | None:
        """The dispatchers of the physical channel, once there are some."""
        return self._manager

    def populate(self, world: World) -> None:
        """Define the processes."""
        self.log = Log(world)
        world.process(PRODUCERS, self._run_producers, daemon=True)
        world.process(NODE, self._run_node, daemon=True, restarts=False)

    async def _run_producers(self, process: Process) -> None:
        del process
        scenario = self.scenario
        found: list[tuple[str, LogMessage]] = [
            *((f"tick {value}", Tick(value)) for value in scenario.ticks),
            *((f"append {number}", scenario.message(number)) for number in range(len(scenario.messages))),
        ]
        for title, message in sorted(found, key=lambda one: (one[1].ts, isinstance(one[1], Tick))):
            await self.log.append(title, message)

    async def _run_node(self, process: Process) -> None:
        manager = self._manager = DispatcherManager(
            log=self.log, channel=CHANNEL, preemption=process, config=DispatcherConfig(capacity=1)
        )
        manager.start()
        process.spawn(self._register(process, manager), "register")
        await manager.supervisor.wait_failed()

    async def _register(self, process: Process, manager: DispatcherManager) -> None:
        """Targets come one after the other."""
        for number, plan in enumerate(self.scenario.targets):
            needed = plan.position if self.scenario.grows else self.scenario.ticks[-1]
            position = await self.log.position(f"register {number}", plan.position, needed=needed)
            self.begins[number] = position.ts
            target = self.targets[number] = manager.register(self.scenario.channel(number), position)
            process.spawn(self._take_packs(target, number), f"target {number}")
            if plan.leaves:
                process.spawn(self._leave(process, manager, number), f"leave {number}")

    async def _take_packs(self, target: Target, number: int) -> None:
        takes = self.scenario.targets[number].takes
        left = ALL if takes is None else takes
        self.wants[number] = target
        try:
            while left:
                pack = await target.next_pack()
                if target.gone:
                    self.objection = f"{GONE}: target {number} takes a pack up to {pack.end}"
                self.taken[number] += tuple(number_of(message) for message in pack.messages)
                left = max(left - 1, ALL)
        except TargetGoneError:
            pass
        del self.wants[number]

    async def _leave(self, process: Process, manager: DispatcherManager, number: int) -> None:
        """A target goes. Just before, somebody else asks for its channel."""
        await process.point(f"leave {number}")
        channel, target = self.scenario.channel(number), self.targets[number]
        assert target is not None
        with suppress(ValueError):
            manager.register(channel, target.position)
            self.objection = f"{ONCE}: {channel} gets a second target"
        manager.deregister(channel)

    # What is looked at.

    def complaint(self) -> str | None:
        """Nothing but the dispatchers that serve a target works; and what was noted in a step."""
        manager = self.manager
        if self.objection or manager is None:
            return self.objection or None
        serving = len(manager.deputies) + (manager.main is not None)
        if len(manager.tasks) == serving:
            return None
        return f"{ONE_EACH}: {serving} dispatchers serve targets, and {len(manager.tasks)} work"

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """See ``RefiningProgram``: nobody waits for what is there, or for what does not come."""
        del values
        manager = self.manager
        if manager is None:
            return None
        main, deputies = manager.main, manager.deputies.values()
        if main is not None and not main.owed and any(deputy.at == main.at for deputy in deputies):
            return f"a deputy is at the tick {main.at} of the main dispatcher, and is not merged"
        for number, target in self.wants.items():
            if target.gone or target.packs:
                what = "is gone" if target.gone else "has a pack"
                return f"who reads target {number} is not told that it {what}"
        return None

    def condition(self, name: str, event: Event) -> bool:
        """Nobody looks into a pack here: no step ends a target since its collection is dropped."""
        if name == DROPPED:
            return False
        return super().condition(name, event)

    def element(self, name: str, value: Any) -> Any:
        """Return a target's number by the name of its channel, or a number."""
        del name
        text = str(value)
        return int(text.rpartition("v")[2]) if "v" in text else int(text)

    def observe(self) -> Observation:
        """Return what each part holds, under its name."""
        nothing = NodeView(0, "none", 0, 0, (TargetView(),) * len(self.targets))
        view = nothing if self.manager is None else self._node_view(self.manager)
        return {LOG: self.log.view(), NODE: view}

    def _node_view(self, manager: DispatcherManager) -> NodeView:
        return node_view(manager, self.known_targets(), self.begins, self.taken, self.log.handed)

    def known_targets(self) -> Sequence[Target | None]:
        """The targets that have come, by number."""
        return self.targets

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        manager = self.manager
        return (tuple(self._observed.values()), self.log.gate.view(), manager and self._memory(manager))

    def _memory(self, manager: DispatcherManager) -> Hashable:
        """What the picture of the node leaves out."""
        main = manager.main
        dispatchers = [*([] if main is None else [main]), *manager.deputies.values()]
        return (
            tuple(
                (one.consumer.position, one.consumer.read, one.consumer.last, repr(one.consumer.buffered))
                for one in dispatchers
            ),
            tuple((one.consumer.seeking, repr(one.pack)) for one in dispatchers),
            () if main is None else (tuple(main.targets), tuple(target.channel for target in main.owed)),
            tuple(manager.waiting),
            tuple(manager.deputies),
            tuple(
                None if target is None else (target.position, repr(target.packs))
                for target in self.known_targets()
            ),
        )


def _values(scenario: DispatchScenario, known: Any) -> Mapping[str, Any]:
    return abstract(known[LOG], known[NODE], messages=len(scenario.messages), last=scenario.last)


dispatch = program(DispatchProgram, DispatchScenario)
