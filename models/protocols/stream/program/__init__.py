"""A consumer as a program under exploration: logs grow, packs are stored, memory is lost.

Each step must be a step of ``tidemark.spec.stream``, or change nothing of it.
"""

import functools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar

from tidemark.impl.stream.aligned import AlignedConsumer, AlignedPack, AlignedPosition
from tidemark.impl.stream.config import Pursuit
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.stream.packs import StreamPack, StreamPosition
from tidemark.impl.types import ChannelName
from tidemark.impl.values.log import EntryLog
from tidemark.impl.values.messages import ChannelMessage, Entry, Tick
from tidemark.models.instance import Instance
from tidemark.models.mutation.patches import Patch, present
from tidemark.models.protocols.common.growing_log import LOG
from tidemark.models.protocols.stream.ports import SINK, Log, Sink, message_of
from tidemark.models.protocols.stream.refinement import (
    Consumer,
    ConsumerView,
    Entries,
    abstract,
    consumer_view,
)
from tidemark.models.refinement.program import Abstraction, RefiningProgram
from tidemark.models.refinement.scenario import FaultyScenario, program
from tidemark.models.refinement.step import NoCounterpartError
from tidemark.models.simulation.errors import StorageFailedError, StorageUnknownError
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

Position = StreamPosition | AlignedPosition
SPECIFICATION = "tidemark.spec.stream:Stream"
AT_THE_MINIMUM = "tidemark.spec.stream.variants.minimum:AtTheMinimum"
"""A variant that keeps all properties: packs of channels with ticks of their own."""
SOUND = frozenset({SPECIFICATION, AT_THE_MINIMUM})
LATE = "tidemark.spec.stream.variants.other_rules:LateAndNoPromise"
CONSUMER = "consumer"
PACKS_MEET = "a_pack_begins_where_the_last_has_ended"
"""Claim id: the start of a pack is the end position of the last one that is stored."""
PRODUCERS = "producers"
_LAG = 5
"""A consumer is behind if its tick is older than this."""


class StreamScenario(FaultyScenario):
    """What happens in a program of the stream.

    Attributes:
        messages: by message its timestamp. They come in any order; one that a tick has passed comes no more,
            unless it may be late.
        copies: messages that are appended twice.
        ticks: the ticks, in their order.
        own_ticks: by channel its ticks, if they have ticks of their own; empty: each gets all ticks.
        start: timestamp of the first position.
        channels: how many there are, unless they have ticks of their own.
        channel: by message its channel; empty: all of them are in the first.
        dropping: messages that drop a collection.
        creates: messages that create one.
        pursues: packs grow while their tick is below this; None: they have one tick.
        at_most: a pack that has so many messages grows no more.
        late: a message may come after a tick that is above it.
        protocol: the specification that each step must follow; where messages may be late a variant of it.
    """

    consumer_class: ClassVar[type[Consumer]] = ChannelConsumer

    messages: tuple[int, ...]
    copies: tuple[int, ...] = ()
    ticks: tuple[int, ...] = ()
    own_ticks: tuple[tuple[int, ...], ...] = ()
    start: int = 0
    channels: int = 1
    channel: tuple[int, ...] = ()
    dropping: tuple[int, ...] = ()
    creates: tuple[int, ...] = ()
    pursues: int | None = None
    at_most: int = 100
    late: bool = False
    protocol: str = SPECIFICATION

    @property
    def names(self) -> tuple[ChannelName, ...]:
        """The channels."""
        return tuple(f"log{channel or ''}" for channel in range(len(self.own_ticks) or self.channels))

    def ticks_of(self, channel: int) -> tuple[int, ...]:
        """The ticks of a channel."""
        return self.own_ticks[channel] if self.own_ticks else self.ticks

    def channel_of(self, message: int) -> int:
        """The channel of a message."""
        return self.channel[message] if self.channel else 0

    def consumer(self, log: EntryLog, position: Position) -> Consumer:
        """A consumer that goes on from a position."""
        made = self.consumer_class
        if not issubclass(made, AlignedConsumer):
            assert isinstance(position, StreamPosition)
            return made(log=log, channel=self.names[0], position=position)
        assert isinstance(position, AlignedPosition)
        return made(log=log, channels=self.names, position=position, pursuit=self.pursuit)

    @property
    def pursuit(self) -> Pursuit | None:
        """When packs grow: the present time never changes."""
        if self.pursues is None:
            return None
        now = self.pursues + _LAG
        return Pursuit(now=lambda: now, lag=_LAG, messages=self.at_most)

    @property
    def first(self) -> Position:
        """The first position."""
        several = issubclass(self.consumer_class, AlignedConsumer)
        return AlignedPosition(self.start) if several else StreamPosition(0, self.start)

    @property
    def places(self) -> int:
        """How many places a log may have."""
        ticks = max(len(self.ticks_of(channel)) for channel in range(len(self.names)))
        return len(self.messages) + len(self.copies) + ticks

    def settings(self) -> Settings:
        """The bounds of the world."""
        return Settings(faults=self.faults, crashable=frozenset({CONSUMER} if self.crashes else ()))

    def instance(self) -> Instance:
        """The bounded instance of the specification with this log."""
        return Instance(
            LATE if self.late and self.protocol == SPECIFICATION else self.protocol,
            bounds={
                "Channel": len(self.names),
                "Message": len(self.messages),
                "Ts": max(*self.messages, *(v for c in range(len(self.names)) for v in self.ticks_of(c))),
                "Place": self.places,
                "Faults": self.crashes + self.storage_failures + self.storage_lost_acks,
            },
            constants={
                "channel": [self.channel_of(number) for number in range(len(self.messages))],
                "drops": [number in self.dropping for number in range(len(self.messages))],
                "start": self.start,
                **({"PROMISE": False, "PURSUIT": False} if self.late else {}),
            },
            name="scheduled",
        )


class _Logs:
    """The logs by channel, as a consumer reads them."""

    def __init__(self, names: Sequence[ChannelName], logs: Sequence[Log]) -> None:
        self._logs = dict(zip(names, logs, strict=True))

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog."""
        return await self._logs[channel].read(channel, place)


class StreamProgram(RefiningProgram):
    """Logs with their producers, and a consumer that stores its packs."""

    claims: tuple[str, ...] = (PACKS_MEET,)
    table = "stream"
    at_rest: tuple[str, ...] = ("stream.every_message_is_stored",)

    def __init__(self, scenario: StreamScenario) -> None:
        super().__init__(_abstraction(scenario, present()))
        self.scenario = scenario
        self.settings = scenario.settings()
        if scenario.late:
            self.at_rest = ("stream.late_messages_are_stored",)
        self.consumer: Consumer | None = None
        self.pack: StreamPack | AlignedPack | None = None
        self.lost = 0
        self._living = 0

    def populate(self, world: World) -> None:
        """Define the processes."""
        self.logs = tuple(Log(world, late=self.scenario.late) for _ in self.scenario.names)
        # A store of its own: what a dead consumer has begun is over. See ``spec/flush`` for the other case.
        store = world.store(SINK, remote=False)
        self.sink = Sink(store, self.scenario.first)
        world.process(PRODUCERS, self._run_producers, daemon=True)
        world.process(CONSUMER, self._run_consumer, daemon=True)

    async def _run_producers(self, process: Process) -> None:
        scenario = self.scenario
        for number in range(len(scenario.messages)):
            log, message = self._message(number)
            process.spawn(log.append(f"append {number}", message), f"message {number}")
        for number in scenario.copies:
            log, message = self._message(number)
            process.spawn(log.append(f"again {number}", message, after=number), f"copy {number}")
        for channel, log in enumerate(self.logs):
            process.spawn(self._send_ticks(channel, log), f"ticks {channel or ''}".strip())

    def _message(self, number: int) -> tuple[Log, ChannelMessage]:
        """A message, and the log in which it comes."""
        scenario = self.scenario
        text = "drop" if number in scenario.dropping else "create" if number in scenario.creates else ""
        message = message_of(number, scenario.messages[number], text=text)
        return self.logs[scenario.channel_of(number)], message

    async def _send_ticks(self, channel: int, log: Log) -> None:
        for value in self.scenario.ticks_of(channel):
            await log.append(f"tick {value}", Tick(value))

    async def _run_consumer(self, process: Process) -> None:
        self._living = process.incarnation
        self.consumer, self.pack = None, None
        while True:
            position = await self.sink.load(self.world)
            consumer = self.consumer = self.scenario.consumer(self.entry_log(process), position)
            try:
                await self._store_packs(consumer, process)
            except (StorageFailedError, StorageUnknownError):
                await process.point("consumer.seek")
                self.consumer, self.pack = None, None
                self.lost += 1

    def entry_log(self, process: Process) -> EntryLog:
        """What a consumer reads."""
        del process
        return _Logs(self.scenario.names, self.logs)

    async def _store_packs(self, consumer: Consumer, process: Process) -> None:
        while True:
            begun = process.now()
            self.pack = await consumer.next_pack()
            self.handed_over(process.now() - begun)
            await self.sink.put(self.pack)
            self.pack = None

    # What is looked at.

    def handed_over(self, waited: float) -> None:
        """The consumer has handed over a pack. ``waited``: in seconds, since it was asked."""

    def complaint(self) -> str | None:
        """The pack in hand follows on what is stored, or is stored already."""
        pack, stored = self.pack, self.sink.stored().position
        if pack is None or stored in (pack.start, pack.finish):
            return None
        return f"{PACKS_MEET}: a pack begins at {pack.start}, and what is stored ends at {stored}"

    def observe(self) -> Observation:
        """Return what each part holds, under its name."""
        lane = self.world.lanes[CONSUMER]
        crashes = lane.incarnation - (1 if lane.alive else 0)
        view: ConsumerView | None = None
        if lane.alive and self.consumer is not None and self._living == lane.incarnation:
            view = consumer_view(self.consumer, self.pack)
        return {
            LOG: self.entries(),
            self.sink.owner: self.sink.stored(),
            CONSUMER: (view, crashes + self.lost),
        }

    def entries(self) -> tuple[Entries, ...]:
        """What is in the logs."""
        return tuple(log.view() for log in self.logs)

    def declared(self) -> Hashable:
        """Return the mutable data that influence what happens next."""
        consumer = self.consumer
        memory: Hashable = None
        if isinstance(consumer, AlignedConsumer):
            readers = consumer.readers
            memory = (tuple((repr(one.buffered), one.position) for one in readers), repr(consumer.pack))
        elif consumer is not None:
            memory = (repr(consumer.buffered), consumer.position)
        return (tuple(self._observed.values()), memory, repr(self.pack), self._declared_of_logs())

    def _declared_of_logs(self) -> Hashable:
        return tuple(log.gate.view() for log in self.logs)


class _NoLog:
    """The log of a consumer that never reads: only its memory at the beginning is looked at."""

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog."""
        raise NotImplementedError(f"{channel} {place}")


_NOTHING = _NoLog()


@functools.cache
def _abstraction(scenario: StreamScenario, patch: Patch | None) -> Abstraction:
    """A pure function of its arguments: it may outlive executions. ``patch``: it makes consumers."""
    del patch

    def values(observation: Observation) -> Mapping[str, Any]:
        known: Any = observation
        view, lost, *own = known[CONSUMER]
        logs = own[0] if own else known[LOG]  # logs of the same process are its own
        stored = known[f"store {SINK}/stored"]
        if view is None:
            try:
                view = consumer_view(scenario.consumer(_NOTHING, stored.position), None)
            except (TypeError, ValueError) as wrong:
                raise NoCounterpartError(f"no consumer goes on from {stored.position}: {wrong}") from wrong
        return abstract(
            logs,
            stored,
            view,
            messages=len(scenario.messages),
            places=scenario.places,
            faults=lost,
        )

    instance = scenario.instance()
    return Abstraction(instance, values, sound=instance.protocol in SOUND)


stream = program(StreamProgram, StreamScenario)
