"""Each real adapter as a store of one value that grows, over media of the controlled world.

What such a store holds is read by the adapter's own code: from what is there now, and from everything that a
power failure may leave.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, ClassVar, Protocol

from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.storage.file_log import FileLogWriter, read_log
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.tso.ports import Leadership, OracleStore
from tidemark.impl.types import (
    BinlogRecord,
    ChannelRecord,
    EndPosition,
    Pack,
    Row,
    SegmentRecord,
    StartPosition,
)
from tidemark.models.protocols.common import etcd
from tidemark.models.protocols.common.adapters import ROOT, load_parquet
from tidemark.models.protocols.common.at_once import finish
from tidemark.models.simulation.world.database import DatabaseFile, DatabaseSnapshot
from tidemark.models.simulation.world.files import FileSystem, Image, Snapshot
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

MACHINE = "machine"
CHANNEL = "channel"
LEASE = 10.0
DAMAGED = -1
"""What a reader has found that is no value that was ever saved."""


Applied = Callable[[str, int], None]


class Client(Protocol):
    """One user of a store."""

    async def save(self, value: int) -> None:
        """Save a value, in the term of this user. Errors are those of the adapter."""

    async def read(self) -> int:
        """Return the value; CorruptDataError for anything that was never saved."""

    def declared(self) -> Hashable:
        """Return what the adapter remembers."""


class Cell(Protocol):
    """One store.

    Attributes:
        owner: the mediated object that ``held`` depends on.
        terms: saves are tied to terms, which ``Elector`` clients begin.
    """

    owner: str
    terms: ClassVar[bool]

    def __init__(self, world: World, *, applied: Applied) -> None:
        """Add the media to a world. ``applied``: told of each task that has changed the store, and of the
        value before.
        """

    def client(self, process: Process) -> Client:
        """Return a new user in a process."""

    def held(self) -> tuple[int, int, int, bool]:
        """Return the value that can be seen, the one that survives any power failure, the present term, and
        whether that is over.
        """

    def term_of(self, client: Client) -> int:
        """Return the term that a user takes for the present one, who has just begun it."""

    def lapse(self) -> None:
        """End the present term from outside."""

    def declared(self) -> Hashable:
        """Return what else influences what the adapters do next."""


# ---- files ----


class _FileCell:
    """A store in a file system of its own."""

    terms: ClassVar[bool] = False

    def __init__(self, world: World, *, applied: Applied) -> None:
        def changed(task: str, before: Image) -> None:
            value, now = self.value_of(before), self._system.now()
            if self.value_of(now) != value or self.is_replaced(before, now):
                applied(task, value)

        load_parquet()
        self._values: dict[Image, int] = {}
        self._system = FileSystem(world, MACHINE, changed=changed)
        world.attach(self._system, machine=MACHINE)
        self.owner = self._system.owner

    def files(self) -> Any:
        """Return the files as a process reaches them."""
        return self._system.operations()

    def is_replaced(self, before: Image, now: Image) -> bool:
        """Return whether what can be seen was replaced, perhaps by the same value."""
        del before, now
        return False

    def held(self) -> tuple[int, int, int, bool]:
        """See Cell."""
        return self.value_of(self._system.now()), min(self.left()), 0, False

    def left(self) -> list[int]:
        """Return what a power failure may leave, in the order of its outcomes."""
        return [self.value_of(image) for image in self._system.left()]

    def term_of(self, client: Client) -> int:
        """See Cell."""
        del client
        return 0

    def lapse(self) -> None:
        """See Cell."""

    def declared(self) -> Hashable:
        """See Cell."""
        return ()

    def value_of(self, image: Image) -> int:
        """Return what the adapter reads from an image."""
        if image not in self._values:
            self._values[image] = finish(self._read(Snapshot(image)))
        return self._values[image]

    async def _read(self, files: Snapshot) -> int:
        try:
            return await self.read_from(files)
        except CorruptDataError:
            return DAMAGED

    async def read_from(self, files: Any) -> int:
        """Read with the adapter."""
        raise NotImplementedError


class Objects(_FileCell):
    """Parquet files: the value is the version of one object, 0 before it is there. All users of a process
    share one store.
    """

    path: ClassVar[str] = "segment/binlog"

    def __init__(self, world: World, *, applied: Applied) -> None:
        super().__init__(world, applied=applied)
        self._of: tuple[int, ParquetStore] | None = None
        """The store of an incarnation."""

    def client(self, process: Process) -> _ObjectClient:
        """See Cell."""
        if self._of is None or self._of[0] != process.incarnation:
            store = ParquetStore(ROOT, files=self.files(), writer=MACHINE)
            self._of = (process.incarnation, store)
        return _ObjectClient(self._of[1], self.path)

    async def read_from(self, files: Any) -> int:
        """See _FileCell."""
        return await _ObjectClient(ParquetStore(ROOT, files=files, writer=MACHINE), self.path).read()

    def is_replaced(self, before: Image, now: Image) -> bool:
        """See _FileCell: a file that was written beside has got its name."""
        kept = dict(now.names)
        return any(name.endswith(".unfinished") and name not in kept for name, _ in before.names)


def version(value: int) -> tuple[Row, ...]:
    """The rows of a version of the object."""
    return tuple(Row(ts, value, 10 * ts, "x" * value) for ts in range(1, value + 1))


class _ObjectClient:
    def __init__(self, store: ParquetStore, path: str) -> None:
        self._store, self._path = store, path

    async def save(self, value: int) -> None:
        await self._store.put(self._path, version(value))

    async def read(self) -> int:
        try:
            rows = await self._store.get(self._path)
        except StoreError as failure:
            if "it was never written" in str(failure):
                return 0
            raise
        if not rows or rows != version(rows[0].segment_id):
            raise CorruptDataError(f"{self._path} holds {rows}, which nobody has put")
        return rows[0].segment_id

    def declared(self) -> Hashable:
        store = self._store  # this is all that it remembers
        return tuple(sorted(map(str, store._forced))), tuple(sorted(map(str, store._unfinished)))  # noqa: SLF001


class Log(_FileCell):
    """The file log: the value is the end of its last pack. Its readers force what they see."""

    def client(self, process: Process) -> _LogClient:
        """See Cell."""
        del process
        files = self.files()
        return _LogClient(FileLogWriter(ROOT, CHANNEL, files=files), files)

    async def read_from(self, files: Any) -> int:
        """See _FileCell."""
        return await _last(files)


class _LogClient:
    def __init__(self, writer: FileLogWriter, files: Any) -> None:
        self._writer, self._files = writer, files

    async def save(self, value: int) -> None:
        await self._writer.append(pack(value))

    async def read(self) -> int:
        return await _last(self._files)

    def declared(self) -> Hashable:
        return self._writer._whole  # noqa: SLF001  # all that it remembers


def pack(value: int) -> Pack:
    """The pack that ends at a value."""
    return Pack(StartPosition(value - 1), EndPosition(value), (Row(value, 1, value, "row"),))


async def _last(files: Any) -> int:
    packs = await read_log(ROOT, CHANNEL, files=files)
    ends = [found.end.ts for found in packs]
    if packs != tuple(pack(end) for end in ends) or ends != sorted(set(ends)):
        raise CorruptDataError(f"the log holds {packs}, which nobody has appended so")
    return ends[-1] if ends else 0


# ---- SQLite ----


class _DatabaseCell:
    """A store in a SQLite file of its own."""

    terms: ClassVar[bool] = False

    def __init__(self, world: World, *, applied: Applied) -> None:
        self.file = DatabaseFile(
            world, MACHINE, changed=lambda task, before: applied(task, self.value_of(before))
        )
        world.attach(self.file, machine=MACHINE)
        self.owner = self.file.owner
        self._read: dict[Any, Any] = {}
        self._prepare()

    def _prepare(self) -> None:
        """Let the adapter create its tables: what follows begins with a file that is there."""
        with self.file.directly() as database:
            finish(self.value_in(database))

    async def value_in(self, database: Any) -> int:
        """Read with the adapter."""
        raise NotImplementedError

    def value_of(self, source: Any) -> int:
        """Return what the adapter reads from a copy. Copies do not change."""
        if source not in self._read:
            self._read = {known: value for known, value in self._read.items() if len(self._read) < _FEW}
            self._read[source] = finish(self._value_in_copy(source))
        return int(self._read[source])

    async def _value_in_copy(self, source: Any) -> int:
        try:
            return await self.value_in(DatabaseSnapshot(source))
        except CorruptDataError:
            return DAMAGED

    def term_of(self, client: Client) -> int:
        """See Cell."""
        del client
        return 0

    def lapse(self) -> None:
        """See Cell."""

    def declared(self) -> Hashable:
        """See Cell."""
        return ()


_FEW = 8


class Metadata(_DatabaseCell):
    """Metadata in SQLite: the value is the checkpoint of two channels, saved together."""

    def client(self, process: Process) -> _MetadataClient:
        """See Cell."""
        del process
        return _MetadataClient(SqliteMetaStore(ROOT, database=self.file.connect()))

    async def value_in(self, database: Any) -> int:
        """See _DatabaseCell."""
        return await _MetadataClient(SqliteMetaStore(ROOT, database=database)).read()

    def held(self) -> tuple[int, int, int, bool]:
        """See Cell."""
        return self.value_of(self.file.copy()), self.value_of(self.file.forced()), 0, False


def channels(value: int) -> tuple[ChannelRecord, ...]:
    """The records of a value."""
    return tuple(ChannelRecord(channel=name, checkpoint=value, term=value) for name in ("a", "b"))


def segment(value: int) -> SegmentRecord:
    """The record of a value, with as many binlogs."""
    binlogs = tuple(BinlogRecord(f"binlog {number}", (number,)) for number in range(1, value + 1))
    return SegmentRecord(1, "a", EndPosition(value), flushed=value > 1, binlogs=binlogs)


class _MetadataClient:
    def __init__(self, store: SqliteMetaStore) -> None:
        self._store = store

    async def save(self, value: int) -> None:
        """Odd values are saved as channels, even ones as a segment: each is one transaction."""
        if value % 2:
            await self._store.save_channels(channels(value))
        else:
            await self._store.save_segment(segment(value))

    async def read(self) -> int:
        found = await self._store.load()
        checkpoint = found.channels[0].checkpoint if found.channels else 0
        position = found.segments[0].dml_position.ts if found.segments else 0
        if found.channels and found.channels != channels(checkpoint):
            raise CorruptDataError(f"{found.channels} were not saved together")
        if found.segments and found.segments != (segment(position),):
            raise CorruptDataError(f"{found.segments} were not saved together")
        return max(checkpoint, position)

    def declared(self) -> Hashable:
        return self._store._transactions._ready  # noqa: SLF001  # all that it remembers


class SteadyTime:
    """The clock by which leases run out: it advances only when the program ends them."""

    def __init__(self) -> None:
        self.shown = 1.0

    def monotonic(self) -> float:
        """See SteadyClock."""
        return self.shown

    def pass_lease(self) -> None:
        """Every lease that runs is over."""
        self.shown += LEASE


class ElectorClient:
    """A user of the oracle's window, who leads or not."""

    def __init__(self, name: str, store: OracleStore) -> None:
        self._name = name
        self.store = store
        self.leadership: Leadership | None = None

    async def campaign(self) -> bool:
        """Try to begin a term."""
        self.leadership = await self.store.campaign(self._name, lease=LEASE)
        return self.leadership is not None

    async def resign(self) -> None:
        """End the own term."""
        assert self.leadership is not None
        await self.store.resign(self.leadership)

    async def renew(self) -> None:
        """Go on with the own term."""
        assert self.leadership is not None
        await self.store.renew(self.leadership)

    async def save(self, value: int) -> None:
        """See Client."""
        assert self.leadership is not None
        await self.store.save(value, self.leadership)

    async def read(self) -> int:
        """See Client."""
        return await self.store.load()

    def declared(self) -> Hashable:
        """See Client."""
        transactions = getattr(self.store, "_transactions", None)
        return self.leadership, transactions is not None and transactions._ready  # noqa: SLF001


class Window(_DatabaseCell):
    """The oracle's window in SQLite."""

    terms: ClassVar[bool] = True

    def __init__(self, world: World, *, applied: Applied) -> None:
        self.clock = SteadyTime()
        super().__init__(world, applied=applied)

    def client(self, process: Process) -> ElectorClient:
        """See Cell."""
        return ElectorClient(process.name, self._store(self.file.connect()))

    def _store(self, database: Any) -> SqliteOracleStore:
        return SqliteOracleStore(ROOT, steady=self.clock, database=database)

    async def value_in(self, database: Any) -> int:
        """See _DatabaseCell."""
        return await self._store(database).load()

    def held(self) -> tuple[int, int, int, bool]:
        """See Cell. The term is that of the table of the leader."""
        rows = self.file.copy().execute("SELECT term, renewed, expires FROM leader").fetchall()
        term, renewed, expires = rows[0] if rows else (0, 0.0, 0.0)
        lapsed = bool(rows) and not renewed <= self.clock.shown < expires
        return self.value_of(self.file.copy()), self.value_of(self.file.forced()), int(term), lapsed

    def term_of(self, client: Client) -> int:
        """See Cell."""
        assert isinstance(client, ElectorClient)
        return 0 if client.leadership is None else client.leadership.term

    def lapse(self) -> None:
        """See Cell."""
        self.clock.pass_lease()

    def declared(self) -> Hashable:
        """See Cell."""
        return self.clock.shown


# ---- etcd ----


class EtcdWindow:
    """The oracle's window in etcd: terms are leases, counted here in the order in which they won the key."""

    terms: ClassVar[bool] = True

    def __init__(self, world: World, *, applied: Applied) -> None:
        self._store = world.store("etcd")
        etcd.begin(self._store.content())
        self.owner = self._store.owner(etcd.KEYS)
        self._applied = applied

    def client(self, process: Process) -> ElectorClient:
        """See Cell."""
        calls = etcd.SimulatedCalls(process, self._store, self._done)
        return ElectorClient(process.name, EtcdOracleStore("http://etcd", client=calls))

    def _done(self, task: str, request: Any, answer: Any) -> None:
        if not answer.get("succeeded"):
            return
        content = self._store.content()
        if any(operation.get("request_put", {}).get("lease") for operation in request["success"]):
            content["terms"] = content.get("terms", 0) + 1
        self._applied(task, self.held()[0])

    def held(self) -> tuple[int, int, int, bool]:
        """See Cell. What etcd has answered is durable: that is etcd's own affair."""
        content = self._store.content()
        reader = EtcdOracleStore("http://etcd", client=etcd.DirectCalls(content))
        value = finish(reader.load())
        term = content.get("terms", 0)
        led = any(pair.lease for _, pair in content[etcd.KEYS])
        return value, value, term, term > 0 and not led

    def term_of(self, client: Client) -> int:
        """See Cell."""
        del client  # whose term is the number of a lease
        return int(self._store.content().get("terms", 0))

    def lapse(self) -> None:
        """See Cell. Every lease is over."""
        content = self._store.content()
        for _, pair in content[etcd.KEYS]:
            if pair.lease:
                etcd.end_lease(content, pair.lease)

    def declared(self) -> Hashable:
        """See Cell."""
        return ()
