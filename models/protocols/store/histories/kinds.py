"""The real adapters over media that may fail: what is asked of each by name, and answered as plain values."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, ClassVar

from tidemark.impl.cluster.releases import SqliteReleases
from tidemark.impl.storage.fenced_log import FencedLog
from tidemark.impl.storage.file_log import FileLogReader, FileLogWriter, read_log
from tidemark.impl.storage.files import SystemFiles, in_thread
from tidemark.impl.storage.memory import MemoryLog, MemoryMetaStore, MemoryObjectStore
from tidemark.impl.storage.parquet_store import ParquetStore, decode, encode
from tidemark.impl.storage.sqlite_catalog import SqliteCatalogStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.storage.sqlite_streaming import SqliteStreamingStore
from tidemark.impl.storage.transactions import SqliteDatabase
from tidemark.impl.streaming.ports import Summary
from tidemark.impl.types import Row
from tidemark.models.protocols.store.histories import contracts
from tidemark.models.protocols.store.histories.connections import Connector
from tidemark.models.protocols.common.disk import Machine
from tidemark.models.protocols.common.faults import DAMAGE, Faults
from tidemark.models.protocols.store.histories.order import Answer, Call, State
from tidemark.models.simulation.world.database import DatabaseFile, outside
from tidemark.models.simulation.world.files import FileSystem
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

MACHINE = "machine"
ROOT = "/data/store"


class Kind:
    """One kind of store in one execution.

    Args:
        world: of the execution.
        faults: of its media.
    """

    first: ClassVar[State] = frozenset()
    closed: ClassVar[Answer] = contracts.DONE
    """The answer to ``close``."""

    def __init__(self, world: World, faults: Faults) -> None:
        self.world = world
        self.faults = faults

    def rule(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """What a store of this kind does. It may be closed, and used again. ``damaged``: what the call that
        follows in the arguments needs is damaged.
        """
        if call.name == "damaged":
            return state, contracts.Raised("CorruptDataError")
        return (state, self.closed) if call.name == "close" else self.contract(state, call)

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """Likewise, of all other calls."""
        raise NotImplementedError

    def left(self, state: State) -> Iterable[State]:
        """What a power failure may leave of what was answered."""
        return (state,)

    def holding(self, what: Iterable[Any]) -> State:
        """The state of a store that holds this from the beginning."""
        return frozenset(what)

    def adapter(self, process: Process, name: str) -> Any:
        """A new adapter, in a new process or beside others."""
        raise NotImplementedError

    async def perform(self, adapter: Any, call: Call) -> Answer:
        """Do the call, by the method of its name, and give the answer in the words of the contract."""
        answer: Answer = await getattr(adapter, call.name)(*call.arguments)
        return answer

    def can(self, call: Call) -> bool:
        """Whether there is what the call speaks of. If not, the user says nothing more."""
        del call
        return True

    def leaves(self, call: Call) -> None:
        """The user was cancelled in the call."""

    def refuses(self, call: Call) -> bool | None:
        """Whether the adapter has to fail because it has failed before. None: it may."""
        del call
        return False

    def failed(self, call: Call) -> None:
        """A call has failed with its medium."""

    def give(self, what: Any) -> None:
        """Put something on the medium before anything happens."""
        raise NotImplementedError(f"{type(self).__name__} is given {what!r}, which it has no place for")

    def failure(self) -> str:
        """The error of a call in which the fault of the execution happens."""
        return "StoreError"

    def left_open(self) -> str | None:
        """What is open although no call is under way, in words."""
        return None


# ---- files ----


class _OnDisk(Kind):
    def __init__(self, world: World, faults: Faults) -> None:
        super().__init__(world, faults)
        self.system = FileSystem(world, MACHINE)
        world.attach(self.system, machine=MACHINE)
        self.machine = Machine(self.system, faults)

    def files(self) -> Any:
        """The real file operations, over the simulated system."""
        return SystemFiles(self.machine)

    def root(self) -> Path:
        """The directory of the store. It is not there at first, nor is the one above it."""
        return self.machine.path(ROOT)

    def give(self, what: Any) -> None:
        """See Kind: files by name, in the directory of the store."""
        self.system.make_directory(str(Path(ROOT).parent))
        self.system.make_directory(ROOT)
        for name, content in what:
            self.system.change(f"{ROOT}/{name}", 0, content)
            self.system.force(f"{ROOT}/{name}")
        for directory in (ROOT, str(Path(ROOT).parent), "/"):
            self.system.force(directory)

    def left_open(self) -> str | None:
        """Descriptors."""
        return f"descriptors {self.machine.open_files}" if self.machine.open_files else None


class Objects(_OnDisk):
    """Parquet files."""

    def __init__(self, world: World, faults: Faults) -> None:
        _load_parquet()
        super().__init__(world, faults)
        self._rest = False
        """A put has failed, and none has ended since."""

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        return contracts.objects(state, call)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind. A store whose name begins with a question mark takes one itself."""
        del process
        with outside():
            return ParquetStore(self.root(), files=self.files(), writer="" if name.startswith("?") else name)

    async def perform(self, adapter: Any, call: Call) -> Answer:
        """See Kind."""
        if call.name == "paths":
            found: Answer = adapter.paths()
            return found
        if call.name == "unfinished":
            return sum(name.endswith(".unfinished") for name in self.system.names())
        answer = await super().perform(adapter, call)
        self._rest = self._rest and call.name != "put"
        return answer

    def can(self, call: Call) -> bool:
        """See Kind. What a put has left that failed is used by the next one of the same path."""
        return call.name != "unfinished" or not self._rest

    def failed(self, call: Call) -> None:
        """See Kind."""
        self._rest = self._rest or call.name == "put"


class ReadyObjects(Objects):
    """The same in a directory that is there, as the stores know."""

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        made = super().adapter(process, name)
        made._forced.add(self.root())  # noqa: SLF001  # it saves most of the steps
        return made


@cache
def _load_parquet() -> None:
    """Parquet loads parts of itself when it is first used, which a program under exploration may not."""
    with outside():
        decode(encode((Row(1, 1, 1, "x"),)), where=Path(ROOT))


class Packs(_OnDisk):
    """The file log: a writer of each channel, and a reader of all."""

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        return contracts.packs(state, call)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del name
        return _Log(self, process)


class _Log:
    def __init__(self, kind: Packs, process: Process) -> None:
        del process
        self._kind = kind
        self._files = kind.files()
        self._root = kind.root()
        self.writers: dict[str, FileLogWriter] = {}
        self.reader = FileLogReader(self._root, clock=_Clock(), files=self._files)

    async def append(self, channel: str, pack: Any) -> None:
        if channel not in self.writers:
            self.writers[channel] = FileLogWriter(self._root, channel, files=self._files)
        await self.writers[channel].append(pack)

    async def next_pack(self, channel: str, after: Any) -> Any:
        return await self.reader.next_pack(channel, after)

    async def all(self, channel: str) -> Any:
        return await read_log(self._root, channel, files=self._files)


class _Clock:
    async def sleep(self, seconds: float) -> None:
        """See tidemark.impl.ports.Clock."""
        await asyncio.sleep(seconds)


class FollowedPacks(Packs):
    """The same in a directory that is nearer to the root."""

    def root(self) -> Path:
        """The directory of the logs."""
        return self.machine.path("/logs")


class Fenced(_OnDisk):
    """The log with terms: two places a file, and records of this length at most."""

    first = contracts.Fenced()
    per_file: ClassVar[int] = 2
    longest: ClassVar[int] = 3

    def __init__(self, world: World, faults: Faults) -> None:
        super().__init__(world, faults)
        self._lost: bool | None = True
        """The end of the log is not known: before the first term, and after an append that has failed. None:
        a term was to begin, and may have.
        """
        self._term = 0
        self._unopened = False
        """Whoever was to begin a term has left: the files may not have been read."""
        self._uncut = False
        """A cut has failed, and none has ended since: files may be left."""

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        return contracts.fenced(state, call, per_file=self.per_file, longest=self.longest)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind. A line is 8 digits, a blank, and a list."""
        del process, name
        self._lost, self._term = True, 0
        others = len('00000000 [1,1,0,["ddl",1,"c",""]]')
        return FencedLog(
            self.root(), files=self.files(), per_file=self.per_file, most_bytes=others + self.longest
        )

    async def perform(self, adapter: Any, call: Call) -> Answer:
        """See Kind. The term -1 is the last one that has begun. A pause ends at any time."""
        if call.name == "files":
            return self._files()
        if call.name == "pause":
            await in_thread(None, tuple)
            return contracts.DONE
        arguments = tuple(self._term if argument == -1 else argument for argument in call.arguments)
        answer = await getattr(adapter, call.name)(*arguments)
        if call.name == "begin_term":
            self._lost, self._unopened, self._term = False, False, answer.term
            return answer.term, answer.end
        self._uncut = self._uncut and call.name != "truncate"
        return tuple(answer) if call.name in ("read", "scan") else answer

    def can(self, call: Call) -> bool:
        """See Kind. What is in the files is known as long as nothing has failed."""
        if call.name == "scan":
            return not self._unopened
        return call.name != "files" or (self._lost is False and not self._uncut)

    def _files(self) -> Answer:
        """How many lines the file of terms has, and which files hold records."""
        names = [name for name in self.system.names() if name.endswith(".jsonl")]
        held = {Path(name).stem: self.system.content_of(name) for name in names}
        notes = held.pop("terms", b"").count(b"\n")
        return notes, tuple(sorted(int(name) for name, content in held.items() if content))

    def refuses(self, call: Call) -> bool | None:
        """After an append that has failed the log takes none, until a new term begins."""
        return call.name == "append" and call.arguments[0] in (-1, self._term) and self._lost

    def leaves(self, call: Call) -> None:
        """See Kind. Of an append the line may be there; the log need not know."""
        if call.name in ("append", "begin_term"):
            self._lost = None
        self._unopened = self._unopened or call.name == "begin_term"

    def failed(self, call: Call) -> None:
        """See Kind."""
        if call.name == "begin_term":
            self._lost = None
        elif call.name == "append":
            self._lost = True
        elif call.name == "truncate":
            self._uncut = True


# ---- SQLite ----


class InSqlite(Kind):
    """What is common to the stores in SQLite: a file of its own. ``close`` tells what it leaves open."""

    closed: ClassVar[Answer] = 0

    def __init__(self, world: World, faults: Faults) -> None:
        super().__init__(world, faults)
        self.file = DatabaseFile(world, MACHINE, changed=_ignore)
        world.attach(self.file, machine=MACHINE)
        self.connector = Connector(self.file, faults)

    def database(self) -> SqliteDatabase:
        """The real connection, in its thread."""
        return SqliteDatabase(self.file.path, connect=self.connector)  # type: ignore[arg-type]  # like one

    def give(self, what: Any) -> None:
        """See Kind: statements, done before by somebody else."""
        with self.file.directly() as database:
            for statement in what:
                database.connection.execute(statement)

    async def perform(self, adapter: Any, call: Call) -> Answer:
        """See Kind."""
        answer = await super().perform(adapter, call)
        return len(self.connector.open()) if call.name == "close" else answer

    def failure(self) -> str:
        """See Kind."""
        return "CorruptDataError" if self.faults.kind == DAMAGE else "StoreError"

    def left_open(self) -> str | None:
        """Transactions."""
        if self.connector.careless:
            return "a connection without its settings"
        found = self.connector.open()
        if any(opened.in_transaction for opened in found):
            return "a transaction"
        return "a second connection" if len(found) > 1 else None


def _ignore(task: str, before: Any) -> None:
    """What was committed is read by calls."""
    del task, before


class Metadata(InSqlite):
    """The coordinator's metadata."""

    first: ClassVar[State] = (frozenset(), frozenset())

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        return contracts.metadata(state, call)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process, name
        return SqliteMetaStore(Path("meta"), database=self.database())

    async def perform(self, adapter: Any, call: Call) -> Answer:
        """See Kind."""
        answer: Any = await super().perform(adapter, call)
        return contracts.snapshot(answer) if call.name == "load" else answer


class Catalogue(InSqlite):
    """The root coordinator's catalogue."""

    first: ClassVar[State] = (frozenset(), 1)

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        return contracts.catalogue(state, call)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process, name
        return SqliteCatalogStore(Path("catalogue"), database=self.database())


class Releases(InSqlite):
    """Which collections of a cluster are served no more."""

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        return contracts.releases(state, call)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process, name
        return SqliteReleases(Path("releases"), database=self.database())


class Streaming(InSqlite):
    """What a streaming node stores."""

    first = contracts.Streamed()

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        return contracts.streaming(state, call)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process, name
        return SqliteStreamingStore(Path("streaming"), database=self.database())

    async def perform(self, adapter: Any, call: Call) -> Answer:
        """See Kind."""
        if call.name == "save_recovery":
            place, rows, start = call.arguments
            await adapter.save_recovery(Summary(place, dict(rows), start))
            return contracts.DONE
        answer: Any = await super().perform(adapter, call)
        match call.name:
            case "load":
                checkpoints, summary = answer
                assert checkpoints.recovery == summary.start
                return checkpoints.flusher, (
                    summary.place,
                    tuple(sorted(summary.rows.items())),
                    summary.start,
                )
            case "places":
                return tuple(sorted(answer))
            case "messages":
                return tuple(answer.items())
        return answer  # type: ignore[no-any-return]  # plain


# ---- memory ----


class MemoryObjects(Kind):
    """Objects in memory."""

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        return contracts.objects(state, call)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process, name
        return MemoryObjectStore()


class MemoryMetadata(Kind):
    """Metadata in memory."""

    first: ClassVar[State] = (frozenset(), frozenset())

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        return contracts.metadata(state, call)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process, name
        return MemoryMetaStore()

    async def perform(self, adapter: Any, call: Call) -> Answer:
        """See Kind."""
        answer: Any = await super().perform(adapter, call)
        return contracts.snapshot(answer) if call.name == "load" else answer


class MemoryPacks(Kind):
    """A log in memory: a pack begins where the last one ends."""

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        channel, last = call.arguments
        held = dict(state).get(channel, ())
        if call.name == "append" and last.start.ts != (held[-1].end.ts if held else 0):
            return state, contracts.Raised("ValueError")
        return contracts.packs(state, call)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process, name
        return MemoryLog()
