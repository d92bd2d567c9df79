"""The files of a cluster on a simulated disk: who has the directory, what is left as evidence, the audit.

The real functions run over the real file operations. Logs and binlogs are written in the form in which the
cluster writes them; what has to be found in them is said here.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import Any

from tidemark.impl.broker.memory_database import MemoryDatabase
from tidemark.impl.cluster.audit import Audit
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.cluster.leave import leave_messages
from tidemark.impl.cluster.stored import audit_cluster
from tidemark.impl.errors import ClusterLockedError, StoreError
from tidemark.impl.storage.file_log import checked
from tidemark.impl.storage.files import SystemFiles
from tidemark.impl.storage.parquet_store import ParquetStore, decode
from tidemark.impl.storage.parquet_store import encode as as_parquet
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.types import BinlogRecord, EndPosition, Row, SegmentRecord
from tidemark.impl.values.messages import DdlMessage, DeleteMessage, Entry, InsertMessage, Tick, encode
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.protocols.store.histories.disk import Machine
from tidemark.models.protocols.store.histories.faults import FAIL, Faults
from tidemark.models.simulation.settings import ClockOrder, Settings
from tidemark.models.simulation.world.database import outside
from tidemark.models.simulation.world.files import FileSystem
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

HELD = "one_process_has_the_directory"
"""Claim id: whoever takes the directory while a living process has it is refused, keeps nothing open, and
takes it when that process has given it back or is dead. Each file has a place of its own below it."""
LEFT = "what_is_left_is_every_message"
"""Claim id: a line for each message of each log, in their order, with where it is, when, by whom and what;
the count is theirs; an error of the disk is told."""
AUDITED = "an_audit_compares_what_is_stored_with_the_logs"
"""Claim id: rows of the logs that are stored, lost, stored twice or unknown to them are told apart; an error
of the disk is told, and the records are closed in any case."""
SIZED = "a_node_keeps_as_many_packs_as_it_is_told"
"""Claim id: and as long; the physical channels are numbered."""

ROOT, OUT = "/data/clusters/one", "/data/messages"
_CONFIG = ClusterConfig(channels=3, packs=5, lag_seconds=7.0)
_LOGS: dict[str, tuple[Entry, ...]] = {
    "dml_0": (
        Entry(1, -4, Tick(5)),
        Entry(2, -4, DdlMessage(6, "dml_0_7v0", "create")),
        Entry(3, 9, InsertMessage(8, "dml_0_7v0", (Row(8, 31, 1, "a"), Row(8, 32, 2, "b")))),
        Entry(4, 10, DeleteMessage(11, "dml_0_7v0", -33, (1, 5, 6))),
    ),
    "dml_2": (Entry(1, 9, InsertMessage(9, "dml_2_7v1", (Row(9, 34, 3, "c"),))), Entry(2, 9, Tick(12))),
}
"""Two of three channels have a log."""
_LINES = (
    ("dml_0", 1, 5, -4, {"type": "tick"}),
    ("dml_0", 2, 6, -4, {"type": "create", "shard": "dml_0_7v0"}),
    ("dml_0", 3, 8, 9, {"type": "insert", "shard": "dml_0_7v0", "rows": 2, "segment": 31}),
    ("dml_0", 4, 11, 10, {"type": "delete", "shard": "dml_0_7v0", "rows": 3}),
    ("dml_2", 1, 9, 9, {"type": "insert", "shard": "dml_2_7v1", "rows": 1, "segment": 34}),
    ("dml_2", 2, 12, 9, {"type": "tick"}),
)
_STORED = (
    (31, "dml_0_7v0", (Row(8, 31, 1, "a"),)),
    (32, "dml_0_7v0", (Row(8, 32, 2, "b"),)),
    (-33, "dml_0_7v0", tuple(Row(11, -33, key) for key in (1, 5, 6))),
    (34, "dml_2_7v1", (Row(9, 34, 3, "c"),)),
)
_INVENTED = Row(13, 35, 8, "d")
SCRIPTS: tuple[Script, ...] = (
    {"events": [("take", "a", True), ("take", "b", False), ("take", "b", False), ("give", "a"), ("give", "a"),
                ("take", "b", True), ("take", "a", False), ("dies", "b"), ("take", "a", True), ("give", "a"),
                ("take", "a", True), ("give", "b"), ("take", "c", False)]},
    {"events": [("places",), ("sizes",)]},
    {"events": [("leave",)]},
    {"events": [("leave, failing",)]},
    {"events": [("audit", _STORED, (), (), ())]},
    {"events": [("audit", _STORED[1:], _STORED[0][2], (), ())]},
    {"events": [("audit", _STORED[:2] + _STORED[3:], _STORED[2][2], (), ())]},
    {"events": [("audit", (*_STORED, (36, "dml_2_7v1", _STORED[3][2])), (), _STORED[3][2], ())]},
    {"events": [("audit", (*_STORED, (35, "dml_2_7v1", (_INVENTED,))), (), (), (_INVENTED,))]},
    {"events": [("audit, failing",)]},
)  # fmt: skip


class Kernel:
    """The locks of a machine. A lock belongs to a descriptor, and ends with it.

    open_files: by descriptor, its process and its path.
    """

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self.open_files: dict[int, tuple[str, str]] = {}
        self._locked: dict[str, int] = {}
        self._number = 2

    def calls(self, process: str) -> Calls:
        """The door of a process."""
        return Calls(self, process)

    def dies(self, process: str) -> None:
        """The descriptors of a process go with it."""
        for descriptor in [one for one, (owner, _) in self.open_files.items() if owner == process]:
            self.close(descriptor)

    def open(self, process: str, path: Path, flags: int, mode: int) -> int:
        """See LockCalls. A file of a strange mode is an error here, too."""
        names = self._machine.system.names()
        if str(path) not in names:
            if not flags & os.O_CREAT or mode != 0o644:
                raise OSError(errno.EACCES, "no such file is made", str(path))
            self._machine.system.change(str(path), 0, b"")
        self._number += 1
        self.open_files[self._number] = (process, str(path))
        return self._number

    def flock(self, descriptor: int, operation: int) -> None:
        """See LockCalls."""
        if descriptor not in self.open_files:
            raise OSError(errno.EBADF, "Bad file descriptor")
        if operation != fcntl.LOCK_EX | fcntl.LOCK_NB:
            raise AssertionError(f"operation {operation} waits, or shares")
        path = self.open_files[descriptor][1]
        if self._locked.setdefault(path, descriptor) != descriptor:
            raise BlockingIOError(errno.EWOULDBLOCK, "Resource temporarily unavailable")

    def close(self, descriptor: int) -> None:
        """See LockCalls."""
        if self.open_files.pop(descriptor, None) is None:
            raise OSError(errno.EBADF, "Bad file descriptor")
        self._locked = {path: by for path, by in self._locked.items() if by != descriptor}


class Calls:
    """The calls of one process."""

    def __init__(self, kernel: Kernel, process: str) -> None:
        self._kernel, self._process = kernel, process

    def open(self, path: Path, flags: int, mode: int, /) -> int:
        """See LockCalls."""
        return self._kernel.open(self._process, path, flags, mode)

    def flock(self, descriptor: int, operation: int, /) -> None:
        """See LockCalls."""
        self._kernel.flock(descriptor, operation)

    def close(self, descriptor: int, /) -> None:
        """See LockCalls."""
        self._kernel.close(descriptor)


class _Records(MemoryDatabase):
    """Records in memory. ``open``: whether they are. ``damage``: "fails": no statement is done any more;
    "strange": what is found is no record.
    """

    def __init__(self) -> None:
        super().__init__()
        self.open = False
        self.damage = ""

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """See Database."""
        self.open = True
        if self.damage == "fails":
            raise StoreError("disk I/O error")
        if self.damage == "strange" and statement.startswith("SELECT * FROM channels"):
            return [("dml_0_7v0",)]
        return await super().execute(statement, values)

    async def close(self) -> None:
        """See Database."""
        self.open = False
        await super().close()


class FilesProgram(ComparedProgram):
    """One machine."""

    def __init__(self) -> None:
        super().__init__(SCRIPTS, timers=0)
        self.settings = Settings(clock=ClockOrder.GLOBAL, timer_firings=0, virtual=True)

    def build(self, world: World) -> None:
        """See ScriptedProgram. Parquet loads parts of itself when it is first used."""
        with outside():
            decode(as_parquet((Row(1, 1, 1, "x"),)), where=Path(ROOT))
        self._faults = Faults()
        self._machine = Machine(FileSystem(world, "machine"), self._faults)
        self._kernel = Kernel(self._machine)
        self._seen: list[Hashable] = []
        super().build(world)

    async def live(self, process: Process) -> None:
        """Let happen what the script says."""
        del process
        self._files = SystemFiles(self._machine)
        self._directories = {
            name: ClusterDirectory(self._machine.path(ROOT), calls=self._kernel.calls(name)) for name in "abc"
        }
        self.begun = True
        for event in self.script["events"]:
            await self._happen(event)
            await self.halt_if_wrong()

    async def _happen(self, event: tuple[Any, ...]) -> None:
        match event:
            case ("take", name, allowed):
                self._take(name, allowed)
            case ("give", name):
                self._directories[name].give_back()
                self.compare(HELD, f"{name} keeps open", self._opened(name), 0)
            case ("dies", name):
                self._kernel.dies(name)
                self._directories[name] = ClusterDirectory(
                    self._machine.path(ROOT), calls=self._kernel.calls(name)
                )
            case ("places",):
                self._places()
            case ("sizes",):
                kept = (_CONFIG.dispatchers.capacity, _CONFIG.dispatchers.tolerant_seconds)
                self.compare(SIZED, "packs and seconds", kept, (5, 7.0))
                self.compare(SIZED, "channels", _CONFIG.channel_names, ("dml_0", "dml_1", "dml_2"))
            case ("leave",):
                self._write_logs()
                await self._leave()
            case ("leave, failing",):
                self._write_logs()
                await self._each_operation_fails(LEFT, self._leave_once)
            case ("audit", stored, missing, doubled, invented):
                self._write_logs()
                await self._store(stored)
                self.compare(
                    AUDITED, "the audit", await self._audit(), Audit(6, missing, doubled, invented, ())
                )
            case ("audit, failing",):
                self._write_logs()
                await self._store(_STORED)
                await self._audit_fails()

    # The lock.

    def _take(self, name: str, allowed: bool) -> None:  # noqa: FBT001  # a fact of the script
        before = self._opened(name)
        try:
            self._directories[name].take()
        except ClusterLockedError:
            taken = False
        else:
            taken = True
        self._seen.append((name, taken))
        self.compare(HELD, f"{name} takes the directory", taken, allowed)
        self.compare(HELD, f"{name} keeps open", self._opened(name), before + allowed)

    def _opened(self, name: str) -> int:
        return sum(owner == name for owner, _ in self._kernel.open_files.values())

    def _places(self) -> None:
        mine = self._directories["a"]
        mine.take()
        names = ("logs", "binlogs", "oracle", "ids", "sessions", "catalog", "meta", "releases")
        places = {str(getattr(mine, name)) for name in names} | {f"{ROOT}/lock"}
        below = {place for place in places if str(Path(place).parent) == ROOT}
        self.compare(HELD, "places of their own", len(below), len(names) + 1)
        self.compare(
            HELD, "the lock", [path for _, path in self._kernel.open_files.values()], [f"{ROOT}/lock"]
        )

    # The logs and what is left of them.

    def _write_logs(self) -> None:
        """As a cluster has left them: two entries in one line, the others in lines of their own."""
        system = self._machine.system
        for directory in ("/data", "/data/clusters", ROOT, f"{ROOT}/log"):
            system.make_directory(directory)
        for channel, entries in _LOGS.items():
            lines = [entries[:2], *([entry] for entry in entries[2:])]
            text = b"".join(_line(line) for line in lines)
            system.change(f"{ROOT}/log/{channel}.jsonl", 0, text)

    async def _leave_once(self) -> None:
        root, file = self._machine.path(ROOT), self._machine.path(OUT)
        count = await leave_messages(root, file, config=_CONFIG, files=self._files)
        self.compare(LEFT, "how many", count, len(_LINES))

    async def _leave(self) -> None:
        await self._leave_once()
        names = self._machine.system.names()
        left = self._machine.system.content_of(OUT) if OUT in names else b""
        lines = [json.loads(line) for line in left.decode().splitlines(keepends=True) if line[-1] == "\n"]
        due = [
            {"kind": "broker", "topic": topic, "id": place, "ts": ts, "source": source, **facts}
            for topic, place, ts, source, facts in _LINES
        ]
        self.compare(LEFT, "the lines", lines, due)
        logs = {name for name in names if name.startswith(f"{ROOT}/")}
        self.compare(LEFT, "the logs", logs, {f"{ROOT}/log", *(f"{ROOT}/log/{one}.jsonl" for one in _LOGS)})

    async def _each_operation_fails(self, claim: str, work: Any) -> None:
        """One operation of the disk after the other fails: each failure is told."""
        place, happened = 0, True
        while happened:
            place, before = place + 1, self._faults.happened
            self._faults.kind, self._faults.place, self._faults.seen = FAIL, place, 0
            try:
                await work()
            except (StoreError, OSError):
                told = True
            else:
                told = False
            happened = self._faults.happened > before
            self.compare(claim, f"told of operation {place}", told, happened)
        self._faults.kind = None
        self._seen.append(place)

    # What is stored.

    async def _store(self, stored: Sequence[tuple[int, str, tuple[Row, ...]]]) -> None:
        """As a cluster stores it: binlogs, and records of them."""
        with outside():
            self._records = _Records()
        store = ParquetStore(self._machine.path(f"{ROOT}/binlogs"), files=self._files)
        meta = SqliteMetaStore(Path("meta"), database=self._records)
        for number, channel, rows in stored:
            path = f"{channel}/segment-{number}/term-000001-position-1"
            await store.put(path, rows)
            named = (BinlogRecord(path, tuple(row.ts for row in rows)),)
            end = EndPosition(rows[-1].ts)
            await meta.save_segment(SegmentRecord(number, channel, end, flushed=True, binlogs=named))

    async def _audit(self) -> Audit:
        root = self._machine.path(ROOT)
        try:
            found = await audit_cluster(root, _CONFIG, files=self._files, database=self._records)
        finally:
            self.compare(AUDITED, "the records are open", self._records.open, False)  # noqa: FBT003
        return found

    async def _audit_fails(self) -> None:
        """A log that cannot be read is told; a binlog is a problem; and so are the records."""
        self._faults.kind, self._faults.place = FAIL, 1
        await self._fails("a log", StoreError)
        for damage, error in (("fails", StoreError), ("strange", ValueError)):
            self._records.damage = damage
            await self._fails("the records", error)

    async def _fails(self, what: str, error: type[Exception]) -> None:
        try:
            found: object = await self._audit()
        except error:
            found = "told"
        self.compare(AUDITED, f"{what} cannot be read", found, "told")

    # What is looked at.

    def look(self) -> Hashable:
        """What has come of it."""
        return tuple(self._seen)


def _line(entries: Sequence[Entry]) -> bytes:
    document = [[entry.place, entry.source, encode(entry.message)] for entry in entries]
    return checked(json.dumps(document).encode()) + b"\n"


def files() -> FilesProgram:
    """Return the program of all scripts."""
    return FilesProgram()
