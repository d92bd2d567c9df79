"""A streaming node as a program under exploration: clients append, ticks are written, the flusher stores.

The log is a process of its own and outlives the node: what a dead node has sent may still come. Each step
must be a step of ``tidemark.spec.streaming``, or change nothing of it.
"""

import math
from collections.abc import Hashable, Mapping
from typing import Any

from tidemark.impl.errors import MessageTooLargeError, RpcError, TermClosedError, UnknownOutcomeError
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.node import StreamingNode
from tidemark.impl.streaming.ports import StreamingPorts
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.term import OpenTerm
from tidemark.impl.streaming.values import Append, AppendStage, Checkpoints
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.oracle import Answers, OracleCalls, OracleProcess, Pause, SparingOracle
from tidemark.models.protocols.streaming.ports import (
    FLUSHER,
    LOG,
    RECOVERY,
    STORED,
    Clock,
    LogCalls,
    LogProcess,
    Objects,
    cell,
)
from tidemark.models.protocols.streaming.refinement import abstract, append_view, term_view
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

NODE = "node"
SPECIFICATION = "tidemark.spec.streaming:Streaming"
CHANNEL = "log_1v0"
MOST_BYTES = 200
TICK, PERSIST, RETRY = "timer.tick", "timer.persist", "timer.retry"


LISTED = "the_list_holds_what_is_entered"
"""Claim id: the acknowledgement manager of an open term waits for each append that is entered and has not
ended, and for no other."""
PASSES = "a_tick_may_pass_what_is_acknowledged"
"""Claim id: the prefix that the next tick finds reaches each acknowledged append below all that wait."""


class StreamingScenario(FaultyScenario):
    """What happens in a program of a streaming node.

    Attributes:
        appends: how many messages.
        large: messages that the log does not take.
        ticks: how often the tick operator looks.
        idle_rounds: looks for which the tick of an idle channel is held back.
        reads: places that the flusher may read.
        persists: how often the node's own records are saved.
        early: clients come while the first tick of a term is still to be written.
        overtaken: the first message is sent to the log once the second one is in it, and ticks come once a
            client has its answer.
        endless: ticks are looked for again and again; the oracle answers them only where they are needed.
        failing: the first save of each kind has no answer.
        protocol: the specification, or a variant of it.
    """

    appends: int
    large: tuple[int, ...] = ()
    ticks: int = 1
    idle_rounds: int = 0
    reads: int = 0
    persists: int = 0
    early: bool = False
    overtaken: bool = False
    endless: bool = False
    failing: bool = False
    protocol: str = SPECIFICATION

    @property
    def losses(self) -> int:
        """How often the memory may be lost."""
        return self.crashes + self.delays + self.lost_replies

    def settings(self) -> Settings:
        """The bounds of the world."""
        return Settings(faults=self.faults, crashable=frozenset({NODE} if self.crashes else ()))

    def instance(self) -> Instance:
        """The bounded instance of a specification. A term has a first tick of its own."""
        ticks = self.ticks + 1 + self.losses + self.endless
        return Instance(
            self.protocol,
            bounds={
                "Message": self.appends,
                # A draw whose term was over was for nothing.
                "Ts": self.appends * (1 + self.losses) + ticks,
                "Place": self.appends + ticks,
                "Faults": self.losses,
            },
            name="scheduled",
        )


class StreamingProgram(RefiningProgram):
    """One streaming node with its clients, its log, an oracle, object storage and checkpoints."""

    table = "streaming"
    claims = (LISTED, PASSES)

    def __init__(self, scenario: StreamingScenario) -> None:
        super().__init__(mapped(scenario, _values, ignored=("faults",)))
        self.scenario = scenario
        self.settings = scenario.settings()
        self.appends = [self._append(number) for number in range(scenario.appends)]
        self.node: StreamingNode | None = None
        self.term: OpenTerm | None = None
        self.oracle = self._sparing() if scenario.endless else OracleProcess()
        self.log = LogProcess(most_bytes=MOST_BYTES)
        ticks = math.inf if scenario.endless else scenario.ticks
        self.left: dict[str, float] = {
            TICK: ticks,
            PERSIST: scenario.persists,
            RETRY: 1 + 3 * scenario.failing,
        }
        self._asked: set[int] = set()
        self._come: set[int] = set()
        self._answered: set[int] = set()

    def _append(self, number: int) -> Append:
        text = "x" * MOST_BYTES if number in self.scenario.large else ""
        return Append(CHANNEL, ((1, number, text),))

    def _sparing(self) -> OracleProcess:
        """One timestamp for each append, one for the term, and so many for ticks."""

        def needed(_: str) -> bool:
            passed = 0 if self.term is None else self.term.acks.passed
            return any(one.stage is AppendStage.ACKNOWLEDGED and one.ts > passed for one in self.appends)

        return SparingOracle(most=self.scenario.appends + 1 + self.scenario.ticks, needed=needed)

    def populate(self, world: World) -> None:
        """Define the processes."""
        self.answers = Answers(world)
        self.log.open(world)
        self.objects = Objects(world, failing=(FLUSHER, RECOVERY, STORED) if self.scenario.failing else ())
        world.process(LOG, self.log.run, daemon=True)
        world.process(NODE, self._run_node, daemon=True)

    async def _run_node(self, process: Process) -> None:
        self._asked, self._come = set(), set()
        config = StreamingConfig(idle_rounds=self.scenario.idle_rounds)
        pauses = {
            config.tick_seconds: Pause(TICK, self.left[TICK]),
            config.persist_seconds: Pause(PERSIST, self.left[PERSIST]),
            config.retry_seconds: Pause(RETRY, self.left[RETRY]),
        }
        ports = StreamingPorts(
            oracle=OracleCalls(process, self.world, self.answers, near=self.oracle),
            log=LogCalls(
                process, self.world, self.log, reads=self.scenario.reads, overtaken=self.scenario.overtaken
            ),
            messages=self.objects,
            checkpoints=self.objects,
            clock=Clock(process, pauses, self.left, wait=self._tick_may_come),
            preemption=process,
        )

        def opened(term: OpenTerm) -> None:
            self.term = term
            self._begin_clients(process)

        self.node = StreamingNode(ports=ports, config=config, opened=opened)
        await self.node.run()

    def _begin_clients(self, process: Process) -> None:
        """What is not begun yet may be begun in this term."""
        for number, append in enumerate(self.appends):
            if append.stage is AppendStage.NEW and number not in self._asked:
                self._asked.add(number)
                process.spawn(self._ask(number), f"client {number}")

    async def _ask(self, number: int) -> None:
        assert self.node is not None
        term = self.node.term
        await self.log.gate.operation("client.append", lambda: self._may_come(number, term), lambda: None)
        self._come.add(number)
        self.log.gate.look()
        try:
            await self.node.append(self.appends[number])
        except (UnknownOutcomeError, MessageTooLargeError):
            return
        except (TermClosedError, RpcError):  # the term is over, or the oracle has no answer
            self._asked.discard(number)
        else:
            self._answered.add(number)
            self.log.gate.look()

    async def _tick_may_come(self, name: str) -> None:
        if self.scenario.overtaken and name == TICK:
            await self.log.gate.operation("tick", lambda: bool(self._answered), lambda: None)

    def _may_come(self, number: int, term: OpenTerm | None) -> bool:
        """Whether the log has the first tick of the term. Clients come in order: only their names differ."""
        assert term is not None
        ready = self.scenario.early or any(one.term == term.opening.term for one in self.log.places)
        return ready and self._come.issuperset(range(number))

    # What is looked at.

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """The log is open, each append that was begun has ended, and all of the log is read and stored."""
        if not values["is_open"]:
            return "the log is not open"
        waiting = [m for m, stage in values["stage"].items() if values["mine"][m] and stage in _UNDER_WAY]
        if waiting:
            return f"message {waiting[0]} is under way: {values['stage'][waiting[0]]}"
        if values["reading"] < min(values["end"], self.scenario.reads):
            return f"place {values['reading'] + 1} is not read"
        return "a message is not stored" if "buffered" in values["copy"].values() else None

    def complaint(self) -> str | None:
        """What the acknowledgement manager of the open term has wrong."""
        if self.term is None or self.term.closed.is_set():
            return None
        acks = self.term.acks
        mine = [append for append in self.appends if append.term == acks.term]
        entered = sorted(one.ts for one in mine if one.stage is AppendStage.ENTERED)
        drawn = [one for one in mine if one.stage is AppendStage.DRAWN]
        if sorted(acks.waiting) != entered or acks.drawn is not (drawn[0] if drawn else None):
            return f"{LISTED}: {sorted(acks.waiting)} wait, and {entered} are entered; drawn is {acks.drawn}"
        done = [one.ts for one in mine if one.stage is AppendStage.ACKNOWLEDGED]
        below = max((ts for ts in done if all(ts < other for other in entered)), default=0)
        if acks.prefix() < below:
            return f"{PASSES}: the prefix is {acks.prefix()}, and {below} is acknowledged"
        return None

    def observe(self) -> Observation:
        """Return what node, log and stores hold."""
        lane = self.world.lanes[NODE]
        appends = tuple(append_view(append) for append in self.appends)
        checkpoints = self.objects.checkpoints()
        return {
            NODE: (appends, term_view(self.term, alive=self._is_living(lane.alive))),
            LOG: self.log.view(),
            cell(STORED): self.objects.stored(),
            cell(FLUSHER): checkpoints.flusher,
            cell(RECOVERY): checkpoints.recovery,
        }

    def _is_living(self, alive: bool) -> bool:  # noqa: FBT001
        """Whether the last term is one of the node that lives."""
        return alive and self.node is not None and self.node.term is self.term

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        return (
            tuple(self._observed.values()),
            self.log.declared(),
            None if self.term is None else _memory_of(self.term),
            None if self.node is None or self.node.term is None else self.node.term is self.term,
            (
                tuple(sorted(self.left.items())),
                self.oracle.given,
                tuple(sorted(self.objects.failing)),
                tuple(sorted(self._asked)),
                tuple(sorted(self._come)),
                tuple(sorted(self._answered)) if self.scenario.overtaken else (),
            ),
        )


_UNDER_WAY = ("drawn", "pending", "logged")


def _memory_of(term: OpenTerm) -> Hashable:
    """Return what influences the future of a term, beyond its view."""
    acks, recovery = term.acks, term.recovery
    return (
        (acks.last, acks.is_open, tuple(acks.ended), tuple(sorted(acks.waiting)), tuple(acks.lock.users)),
        term.operator.held_back,
        (recovery.saved, recovery.observed, tuple(sorted(recovery.rows.items()))),
        tuple(sorted(term.flusher.buffered)),
    )


def _start(flusher: int, own: int) -> int:
    """Where a recovery storage starts that has loaded these checkpoints."""
    unused: Any = None
    storage = RecoveryStorage(store=unused, log=unused)
    storage.saved = Checkpoints(flusher=flusher, recovery=own)
    return storage.start()


def _values(scenario: StreamingScenario, known: Any) -> Mapping[str, Any]:
    del scenario
    (appends, term), (places, cut) = known[NODE], known[LOG]
    return abstract(
        appends=appends,
        term=term,
        places=places,
        cut=cut,
        stored=known[cell(STORED)],
        flusher=known[cell(FLUSHER)],
        recovery=known[cell(RECOVERY)],
        start=_start(known[cell(FLUSHER)], known[cell(RECOVERY)]),
    )


streaming = program(StreamingProgram, StreamingScenario)
