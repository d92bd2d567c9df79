"""The chain over the logs and the session store that run in a cluster: proxies, root coordinator, broker; all
but the oracle are the real parts.

An append may be late: its time is up in ``ProxyStreams`` while the message waits for a line or is being
written, or before it has reached the broker; the proxy has to settle it. A coordinator that has crashed
leaves ticks on their way.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from tidemark.impl.broker.broker import ProxyStreams
from tidemark.impl.broker.sessions import SqliteSessions
from tidemark.impl.proxy.ports import MessageStream
from tidemark.impl.proxy.values import AppendOutcome, Message
from tidemark.impl.rootcoord.ports import SessionStore, TickStreams
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.messages import InsertMessage, LogMessage, Tick, encode_text, virtual
from tidemark.impl.values.report import SourceId
from tidemark.models.protocols.chain.program import ChainProgram, ChainScenario, Entry, LogCalls
from tidemark.models.protocols.common.calls import remote
from tidemark.models.protocols.timetick.ports import ROOT_COORD
from tidemark.models.protocols.timetick.program.edges import (
    LOGS,
    FencedSessions,
    LogEdge,
    SessionEdge,
    StreamCalls,
)
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import FaultBudget, Link
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World


class ProxyLogs(LogEdge):
    """The broker, which serves proxies by their own streams."""

    async def run(self, process: Process) -> None:
        """Serve."""
        process.serve("append_dml", self._append_dml)
        process.serve("settle", self._settle)
        await super().run(process)

    async def _append_dml(self, source: SourceId, channel: str, ts: Timestamp, deadline: float) -> None:
        await self._of(source).append(_message(channel, ts), deadline=deadline)

    async def _settle(self, source: SourceId, channel: str, ts: Timestamp) -> str:
        return (await self._of(source).settle(_message(channel, ts))).value

    def _of(self, source: SourceId) -> ProxyStreams:
        assert self.broker is not None
        return ProxyStreams(self.broker, source)

    def given_up(self) -> Hashable:
        """Messages that never come any more, log by log."""
        logs = {} if self.broker is None else self.broker.logs
        return tuple(tuple(sorted(log.given_up)) for log in logs.values())


def _entry(message: LogMessage) -> Entry:
    return ("tick" if isinstance(message, Tick) else "message", message.ts)


def _message(channel: str, ts: Timestamp) -> Message:
    """The message as a proxy hands it on: a row more or less makes no difference here."""
    return Message(channel, ts, encode_text(InsertMessage(ts, virtual(channel, 1, 0), ())))


class ProxyStreamCalls(LogCalls):
    """The logs as one proxy sees them, in the broker."""

    async def append(self, message: Message, *, deadline: float) -> None:
        """See MessageStream."""
        await remote(self._process, LOGS, "append_dml", self._source, message.channel, message.ts, deadline)

    async def settle(self, message: Message) -> AppendOutcome:
        """See MessageStream."""
        return AppendOutcome(
            await remote(self._process, LOGS, "settle", self._source, message.channel, message.ts)
        )


class EdgeScenario(ChainScenario):
    """What happens in a chain. timeouts: how often an append's time may be up in the broker."""

    ddl_reports: int = 1
    timeouts: int = 0


class EdgeChainProgram(ChainProgram):
    """The chain over the broker and the session store."""

    def __init__(self, scenario: EdgeScenario) -> None:
        super().__init__(scenario)
        quiet = Link(source=ROOT_COORD, destination=LOGS, faults=FaultBudget())
        links = (*self.settings.links, quiet)
        self.settings = replace(self.settings, links=links, timer_firings=scenario.timeouts)
        self._log_edge: ProxyLogs | None = None
        self._store: FencedSessions | None = None

    @property
    def log_edge(self) -> ProxyLogs:
        """The broker."""
        assert self._log_edge is not None
        return self._log_edge

    @property
    def store(self) -> FencedSessions:
        """The session store."""
        assert self._store is not None
        return self._store

    def make_edges(self, world: World) -> None:
        """Make logs and session store."""
        self._store = FencedSessions(world, SqliteSessions)
        self._log_edge = ProxyLogs(world, self.scenario.channels)
        for source in self.registered():
            given = self.store.begin(f"proxy {source}")
            assert given == source
        world.process(LOGS, self.log_edge.run, daemon=True)

    def edges_of(self, process: Process) -> tuple[SessionStore, TickStreams]:
        """Session store and logs as an incarnation of the coordinator sees them."""
        return SessionEdge(process, self.store), StreamCalls(process, self.log_edge)

    def streams_of(self, process: Process, source: SourceId) -> MessageStream:
        """The logs as a proxy sees them."""
        return ProxyStreamCalls(process, source)

    async def register(self, process: Process, source: SourceId) -> None:
        """A proxy begins its session."""
        given = await self.store.register(process.name)
        assert given == source

    # What is looked at.

    def observe(self) -> Observation:
        """Return the logs: nothing else is judged."""
        return {LOGS: self.log_edge.view()}

    def entries(self) -> Mapping[str, Sequence[Entry]]:
        """What the logs hold."""
        broker = self.log_edge.broker
        logs = {} if broker is None else broker.logs
        return {channel: [_entry(entry.message) for entry in log.entries] for channel, log in logs.items()}

    def final(self) -> Hashable:
        """Return the logs."""
        return self.log_edge.view()

    def declared_edges(self) -> Hashable:
        """What in logs and session store influences what happens next."""
        store, logs = self.store, self.log_edge
        return (
            (logs.view(), logs.declared(), logs.given_up()),
            (store.states(), store.shut, tuple(store.changes), store.gate.view()),
        )


chain_over_edges = program(EdgeChainProgram, EdgeScenario)
