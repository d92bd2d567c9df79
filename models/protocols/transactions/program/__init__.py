"""A streaming node with transactions under exploration: clients, ticks, expiry, a reader that begins anew.

The log is a process of its own and outlives the node: what a dead node has sent may still come. The reader
stores what a pack holds with its position, in one step. Each step must be a step of
``tidemark.spec.transactions``, or change nothing of it.
"""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tidemark.impl.errors import (
    MessageTooLargeError,
    RpcError,
    TermClosedError,
    TransactionBusyError,
    TransactionOverError,
    UnknownOutcomeError,
)
from tidemark.impl.stream.packs import EARLIEST, StreamPack, StreamPosition
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.node import StreamingNode
from tidemark.impl.streaming.ports import StreamingPorts
from tidemark.impl.streaming.reader import TransactionConsumer, reader
from tidemark.impl.streaming.term import OpenTerm
from tidemark.impl.streaming.transaction_messages import Part
from tidemark.impl.streaming.values import Append
from tidemark.models.instance import Instance
from tidemark.models.protocols.common.oracle import Answers, OracleCalls, OracleProcess, Pause
from tidemark.models.protocols.streaming.ports import LOG, Clock, LogCalls, Objects
from tidemark.models.protocols.transactions.ports import ReaderCalls, TransactionLog
from tidemark.models.protocols.transactions.program.readers import GO_ON, missed
from tidemark.models.protocols.transactions.refinement import Landed, NodeView, ReaderView, abstract
from tidemark.models.refinement.program import RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, mapped, program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

NODE, READER = "node", "reader"
SPECIFICATION = "tidemark.spec.transactions:Transactions"
STARTS_COVER_TRANSACTIONS = "starts_cover_transactions"
"""Claim id: a reader that goes on from the start of any record reads the begin of each transaction whose
commit is later than the record."""
_CHANNEL = "log_1v0"
_MOST_BYTES = 400
_LARGE = "x" * _MOST_BYTES
_TICK, _PERSIST, _RETRY = "timer.tick", "timer.persist", "timer.retry"


class TransactionScenario(FaultyScenario):
    """What happens in a program of transactions.

    Attributes:
        bodies: of each transaction.
        large: bodies that the log does not take.
        ends: how each of them ends: "commit", "rollback", or "" if its client leaves.
        lasts: how long each of them may last, or all.
        eager: a client asks for the end while bodies are under way.
        ordered: in the first term, a client comes once the transaction before its own has begun.
        ticks: how often the tick operator looks.
        cuts: the log is cut behind the reader's position.
        reads: a reader is there.
        crashable: which of ``node`` and ``reader`` may die.
    """

    bodies: tuple[int, ...] = (1,)
    large: tuple[int, ...] = ()
    ends: tuple[str, ...] = ("commit",)
    lasts: int | tuple[int, ...] = 6
    eager: bool = False
    ordered: bool = False
    ticks: int = 1
    cuts: bool = False
    reads: bool = True
    crashable: tuple[str, ...] = (NODE,)

    @property
    def each_lasts(self) -> tuple[int, ...]:
        """How long each of them may last."""
        return (self.lasts,) * len(self.bodies) if isinstance(self.lasts, int) else self.lasts

    @property
    def of(self) -> tuple[int, ...]:
        """The transaction of each body."""
        return tuple(t for t, count in enumerate(self.bodies) for _ in range(count))

    @property
    def sort(self) -> tuple[int, ...]:
        """The same for the specification, which knows at least one body; that one may never come."""
        return self.of or (0,)

    @property
    def losses(self) -> int:
        """How often the memory of the node may be lost."""
        return self.crashes * (NODE in self.crashable) + self.delays

    @property
    def places(self) -> int:
        """How many places the log may have."""
        ends = sum(bool(end) for end in self.ends)
        return len(self.bodies) + sum(self.bodies) + ends + self.ticks + 1 + self.losses

    def settings(self) -> Settings:
        """The bounds of the world."""
        return Settings(faults=self.faults, crashable=frozenset(self.crashable if self.crashes else ()))

    def instance(self) -> Instance:
        """The bounded instance of the specification."""
        return Instance(
            SPECIFICATION,
            bounds={
                "Transaction": len(self.bodies),
                "Body": len(self.sort),
                "Ts": self.places + self.ticks + max(self.each_lasts) + 2 * self.losses,
                "Place": self.places,
                "Faults": self.crashes + self.delays,
            },
            constants={"of": self.sort},
            name="scheduled",
        )


class TransactionProgram(RefiningProgram):
    """One streaming node with clients that append transactions, its log, and a reader."""

    table = "transactions"
    claims = (STARTS_COVER_TRANSACTIONS, GO_ON)

    def __init__(self, scenario: TransactionScenario) -> None:
        super().__init__(mapped(scenario, _values, ignored=("faults",)))
        self.scenario = scenario
        self.settings = scenario.settings()
        self.begins = [Append(_CHANNEL, part=Part.BEGIN, lasts=lasts) for lasts in scenario.each_lasts]
        self.bodies = [
            Append(_CHANNEL, ((1, b, _LARGE if b in scenario.large else ""),), part=Part.BODY)
            for b in range(len(scenario.of))
        ]
        self.ends = [Append(_CHANNEL, part=Part(end)) if end else None for end in scenario.ends]
        self.node: StreamingNode | None = None
        self.term: OpenTerm | None = None
        self.oracle = OracleProcess()
        self.log = TransactionLog(most_bytes=_MOST_BYTES)
        self.left: dict[str, float] = {_TICK: scenario.ticks, _PERSIST: 0, _RETRY: 1}
        self.consumer: TransactionConsumer | None = None
        self.reader = ReaderView(0, 0, frozenset())
        self.life = (0, 0)
        self.position = EARLIEST
        self._asked: list[Append] = []
        self._asking: set[Append] = set()
        """What the last term was asked for and has not answered, whatever it still knows of it."""

    def populate(self, world: World) -> None:
        """Define the processes."""
        self.answers = Answers(world)
        self.log.open(world)
        self.objects = Objects(world)
        world.process(LOG, self.log.run, daemon=True)
        world.process(NODE, self._run_node, daemon=True)
        if self.scenario.reads:
            world.process(READER, self._run_reader, daemon=True)

    # The node and its clients.

    async def _run_node(self, process: Process) -> None:
        config = StreamingConfig(idle_rounds=0)
        pauses = {
            config.tick_seconds: Pause(_TICK, self.scenario.ticks),
            config.persist_seconds: Pause(_PERSIST, 0),
            config.retry_seconds: Pause(_RETRY, 1),
        }
        ports = StreamingPorts(
            oracle=OracleCalls(process, self.world, self.answers, near=self.oracle),
            log=LogCalls(process, self.world, self.log, reads=0),
            messages=self.objects,
            checkpoints=self.objects,
            clock=Clock(process, pauses, self.left, wait=_at_once),
            preemption=process,
        )

        def opened(term: OpenTerm) -> None:
            self.term = term
            self._asking.clear()
            for t in range(len(self.begins)):
                process.spawn(self._client(process, t), f"client {t}")

        self.node = StreamingNode(ports=ports, config=config, opened=opened)
        await self.node.run()

    async def _client(self, process: Process, t: int) -> None:
        """Go on with a transaction: with what was not asked for in an earlier term."""
        assert self.node is not None
        term = self.node.term
        await self.log.gate.operation("client.comes", lambda: self._may_come(term, t), lambda: None)
        begin, end = self.begins[t], self.ends[t]
        if not await self._ask(begin) or not begin.place:
            return
        mine = [body for body, of in zip(self.bodies, self.scenario.of, strict=True) if of == t]
        rest = [*mine, *([] if end is None else [end])]
        for append in rest:
            append.transaction = begin.ts
        if self.scenario.eager:
            for number, append in enumerate(rest):
                process.spawn(self._ask_later(process, append), f"client {t} append {number}")
            return
        for append in rest:
            if not await self._ask(append):
                return

    async def _ask_later(self, process: Process, append: Append) -> None:
        await process.point("client.asks")
        await self._ask(append)

    async def _ask(self, append: Append) -> bool:
        """Append it, unless it was asked for before; whether the client goes on."""
        if append in self._asked:
            return True
        self._asked.append(append)
        self._asking.add(append)
        is_done = await self._answered(append)
        self._asking.discard(append)
        return is_done

    async def _answered(self, append: Append) -> bool:
        assert self.node is not None
        try:
            await self.node.append(append)
        except (TransactionOverError, TransactionBusyError):
            if append.part is Part.BODY:
                self._asked.remove(append)
            return False
        except (MessageTooLargeError, UnknownOutcomeError, TermClosedError, RpcError):
            return False
        return True

    def _may_come(self, term: OpenTerm | None, t: int) -> bool:
        """The log has the first tick of the term, and the begin before this one if that is waited for."""
        assert term is not None
        if not any(one.term == term.opening.term for one in self.log.places):
            return False
        is_waited_for = self.scenario.ordered and t > 0 and term.opening.term == 1
        return not is_waited_for or self.begins[t - 1].place > 0

    # The reader.

    async def _run_reader(self, process: Process) -> None:
        origin = max(self.position.place - 1, 0)
        self.life = (origin, origin)
        calls = ReaderCalls(process, self.world, self.log)
        self.consumer = reader(calls, _CHANNEL, position=self.position)
        while True:
            pack = await self.consumer.next_pack()
            self._store(pack)
            if self.scenario.cuts:
                await calls.truncate(self.reader.start)

    def _store(self, pack: StreamPack) -> None:
        """Store what a pack holds, with its end, in the step that has read the tick."""
        assert self.consumer is not None
        self.world.touch(writes=self.world.interner.bit(_STORED))
        self.position = StreamPosition(pack.finish.place, pack.end)
        self.life = (self.life[0], self.consumer.read)
        self.reader = ReaderView(
            passed=pack.end,
            start=max(pack.finish.place - 1, 0),
            delivered=self.reader.delivered | {row.key for one in pack.inserts for row in one.rows},
        )

    # What is looked at.

    def meant(self, label: str) -> str | None:
        """A body that was under way is refused by the log, or by the end of its term."""
        return "crash" if label.startswith("allocate") else None

    def undone(self, values: Mapping[str, Any]) -> str | None:
        """Each append has ended, and the reader has handed over the last tick."""
        if values["passed"] < values["tick"] and self.scenario.reads:
            return f"the reader is at tick {values['passed']} of {values['tick']}"
        waiting = [b for b, sent in values["sent"].items() if sent == "sent"]
        return f"body {waiting[0]} is under way" if waiting else None

    def complaint(self) -> str | None:
        """A start that leaves out the begin of a later transaction."""
        log = self.log.log
        begun = {one.transaction: n for n, one in enumerate(self.log.landed, start=1) if one.part == "begin"}
        for record in [] if log is None else log.records:
            for commit in self.log.landed:
                is_left_out = commit.part == "commit" and commit.ts > record.message.ts
                if is_left_out and begun[commit.transaction] <= record.since:
                    return (
                        f"{STARTS_COVER_TRANSACTIONS}: readers of place {record.place} start behind"
                        f" {record.since}, and transaction {commit.transaction} begins before"
                    )
        return None

    def check_final(self) -> str | None:
        """Readers go on from each record of the log, unless it is cut."""
        log = self.log.log
        if log is None or log.cut:
            return None
        return missed(log.records, _CHANNEL)

    def observe(self) -> Observation:
        """Return what node, log and reader hold."""
        return {NODE: self._node_view(), LOG: self.log.view(), READER: self.life, _STORED: self.reader}

    def _node_view(self) -> NodeView:
        kept = {} if self.term is None else self.term.transactions.kept
        under_way = self._asking.union(*(one.under_way for one in kept.values()))
        return NodeView(
            begins=tuple(begin.ts for begin in self.begins),
            kept=tuple(sorted(kept)),
            under_way=tuple(b for b, body in enumerate(self.bodies) if body in under_way),
            admitted=tuple(b for b, body in enumerate(self.bodies) if body in self._asked),
        )

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        everything = [*self.begins, *self.bodies, *self.ends]
        return (
            tuple(self._observed.values()),
            self.log.declared(),
            None if self.term is None else _memory_of(self.term),
            None if self.node is None or self.node.term is None else self.node.term is self.term,
            None if self.consumer is None else _memory_of_reader(self.consumer),
            tuple(
                None
                if one is None
                else (one.stage, one.ts, one.since, one.place, one.term, one in self._asked)
                for one in everything
            ),
            (tuple(sorted(self.left.items())), self.oracle.given, self.position),
        )


_STORED = "cell reader"


def _memory_of(term: OpenTerm) -> Hashable:
    """Return what influences the future of a term, beyond its view."""
    acks = term.acks
    kept = term.transactions.kept
    return (
        (
            acks.last,
            acks.passed,
            acks.confirmed,
            acks.is_open,
            tuple(acks.ended),
            tuple(sorted(acks.waiting)),
        ),
        (
            tuple(acks.lock.users),
            acks.drawn is None,
            term.operator.to_write,
            term.opening,
            term.closed.is_set(),
        ),
        tuple(
            (number, one.until, one.begun, len(one.under_way), one.ends, one.commit)
            for number, one in sorted(kept.items())
        ),
    )


def _memory_of_reader(consumer: TransactionConsumer) -> Hashable:
    assembly = consumer.records.assembly
    kept = (
        (number, one.begun, one.until, tuple(one.bodies), one.commit)
        for number, one in sorted(assembly.kept.items())
    )
    return (
        (consumer.read, consumer.last, consumer.seeking, consumer.position, tuple(consumer.buffered)),
        (consumer.records.last, assembly.tick, tuple(kept)),
    )


async def _at_once(name: str) -> None:
    """A pause waits for nothing else."""


def _values(scenario: TransactionScenario, known: Any) -> Mapping[str, Any]:
    landed: Sequence[Landed] = known[LOG][0]
    return abstract(
        node=known[NODE],
        places=landed,
        cut=known[LOG][1],
        reader=known[_STORED],
        life=known[READER],
        of=scenario.sort,
        most=scenario.places,
    )


transactions = program(TransactionProgram, TransactionScenario)
