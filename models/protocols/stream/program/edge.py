"""The broker's own log and its reader under a consumer, in one process as in a cluster.

``ChannelLog`` writes what is appended, over files that are in memory, and wakes who reads; the consumer may
be cancelled wherever it waits, and another one seeks. Each step must be a step of ``tidemark.spec.stream``,
or change nothing of it. Messages and ticks come one at a time, in any order.
"""

import asyncio
from collections.abc import Hashable, Sequence
from pathlib import Path

from tidemark.impl.broker.broker import Broker
from tidemark.impl.broker.channel_log import ChannelLog, entries_of
from tidemark.impl.broker.reader import FileEntryLog
from tidemark.impl.runtime import Work
from tidemark.impl.storage.file_log import log_file, whole_lines
from tidemark.impl.stream.consumer import ChannelConsumer
from tidemark.impl.types import ChannelName
from tidemark.impl.values.log import EntryLog
from tidemark.impl.values.messages import Entry, LogMessage, Tick
from tidemark.models.protocols.common.growing_log import LOG
from tidemark.models.protocols.common.memory_files import MemoryFiles
from tidemark.models.protocols.stream.ports import SINK, Sink, message_of, number_of
from tidemark.models.protocols.stream.program import CONSUMER, PACKS_MEET, StreamProgram, StreamScenario
from tidemark.models.protocols.stream.refinement import Entries
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation.program import Observation
from tidemark.models.simulation.settings import Settings
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

DURABLE = "what_is_read_is_durable"
"""Claim id: a reader gets no entry that is not forced to the disk."""
_ROOT = Path("log")
_SOURCE = 1


class _OneByOne:
    """The log as a consumer reads it here: each entry is a step of its own."""

    def __init__(self, log: EntryLog, process: Process) -> None:
        self._log = log
        self._process = process

    async def read(self, channel: ChannelName, place: int) -> Sequence[Entry]:
        """See EntryLog."""
        found = await self._log.read(channel, place)
        await self._process.point("log.read")
        return found[:1]


class _UntilItGrows:
    """A clock whose pauses end when the broker has another entry."""

    def __init__(self, log: ChannelLog) -> None:
        self._log = log

    async def sleep(self, seconds: float) -> None:
        """See Clock."""
        del seconds
        await self._log.read(len(self._log.entries) + 1)


class EdgeScenario(StreamScenario):
    """What happens. Crashes are cancellations of the consumer, wherever it waits.

    Attributes:
        follows: the consumer reads the file of the log, as another process does.
    """

    follows: bool = False


class EdgeProgram(StreamProgram):
    """A broker with its producers, and a consumer that stores its packs."""

    claims = (PACKS_MEET, DURABLE)

    def __init__(self, scenario: EdgeScenario) -> None:
        super().__init__(scenario)
        self.follows = scenario.follows
        self.reader: FileEntryLog | None = None
        self.settings = Settings()
        self.broker: Broker | None = None
        self.files: MemoryFiles | None = None

    def populate(self, world: World) -> None:
        """Define the process."""
        self.logs = ()
        self.sink = Sink(world.store(SINK, remote=False), self.scenario.first)
        world.process(CONSUMER, self._run, daemon=True)

    async def _run(self, process: Process) -> None:
        files = self.files = MemoryFiles(process)
        broker = self.broker = Broker(_ROOT, self.scenario.names, files=files)

        def spawn(work: Work, name: str) -> None:
            process.spawn(work(), name)

        await broker.start(spawn)
        log, turn = broker.log(self.scenario.names[0]), asyncio.Lock()
        for number, ts in enumerate(self.scenario.messages):
            process.spawn(
                _append(process, log, turn, f"append {number}", message_of(number, ts)), f"message {number}"
            )
        process.spawn(self._tick(process, log, turn), "ticks")
        await self._read(process)

    async def _tick(self, process: Process, log: ChannelLog, turn: asyncio.Lock) -> None:
        for value in self.scenario.ticks:
            await _append(process, log, turn, f"tick {value}", Tick(value))

    async def _read(self, process: Process) -> None:
        """Consume. Whoever is cancelled is followed by another one."""
        for _ in range(self.scenario.crashes):
            reading = asyncio.create_task(self._run_consumer(process), name="consumer")
            await process.point("cancel")
            if self.pack is not None:
                break  # it is being stored: what becomes of that is another matter
            reading.cancel()
            self.lost += 1
            await asyncio.gather(reading, return_exceptions=True)
        else:
            reading = asyncio.create_task(self._run_consumer(process), name="consumer")
        await reading

    def entry_log(self, process: Process) -> EntryLog:
        """The broker, or its file."""
        assert self.broker is not None
        if not self.follows:
            return _OneByOne(self.broker, process)
        assert self.files is not None
        clock = _UntilItGrows(self.broker.log(self.scenario.names[0]))
        self.reader = FileEntryLog(_ROOT, clock=clock, files=self.files)
        return _OneByOne(self.reader, process)

    # What is looked at.

    def complaint(self) -> str | None:
        """What was read is forced, and the packs meet."""
        consumer = self.consumer
        forced = self._forced(self.scenario.names[0])
        if isinstance(consumer, ChannelConsumer) and consumer.read > forced:
            return f"{DURABLE}: place {consumer.read} was read, and {forced} places are forced"
        return super().complaint()

    def _forced(self, channel: ChannelName) -> int:
        """How many places a power failure would leave. There is one in each line."""
        return 0 if self.files is None else self.files.forced.get(log_file(_ROOT, channel), b"").count(b"\n")

    def observe(self) -> Observation:
        """Return what each part holds, under its name. The log is the process's own."""
        seen = dict(super().observe())
        logs, consumer = seen.pop(LOG), seen.pop(CONSUMER)
        assert isinstance(consumer, tuple)
        return {**seen, CONSUMER: (*consumer, logs)}

    def entries(self) -> tuple[Entries, ...]:
        """What is forced to the disk."""
        forced = {} if self.files is None else self.files.forced
        files = (log_file(_ROOT, channel) for channel in self.scenario.names)
        return tuple(
            tuple(
                _view(entry.message)
                for line in whole_lines(forced.get(file, b""), where=file)
                for entry in entries_of(line, where=file)
            )
            for file in files
        )

    def _declared_of_logs(self) -> Hashable:
        if self.broker is None or self.files is None:
            return ()
        logs = tuple(
            (repr([one.message for one in (*log.waiting, *log.writing)]), len(log.entries))
            for log in self.broker.logs.values()
        )
        read = None if self.reader is None else repr(self.reader._entries)  # noqa: SLF001
        return (logs, self.files.declared(), read)


def _view(message: LogMessage) -> tuple[str, int, int]:
    if isinstance(message, Tick):
        return ("tick", 0, message.ts)
    return ("message", number_of(message), message.ts)


async def _append(
    process: Process, log: ChannelLog, turn: asyncio.Lock, title: str, message: LogMessage
) -> None:
    """Append a message or a tick, one at a time; a message only above every tick."""
    await process.point(title)
    async with turn:
        if isinstance(message, Tick) or message.ts > log.last_tick:
            await log.append(_SOURCE, message)


edge = program(EdgeProgram, EdgeScenario)
