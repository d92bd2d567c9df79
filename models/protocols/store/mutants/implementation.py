"""Wrong adapters, each with one rule of a store left out, and who must find it.

The functions return a program with the fault in it, and take the same arguments as those of
``tidemark.models.protocols.store.programs``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tidemark.impl.errors import StoreError
from tidemark.impl.storage.etcd_client import Json
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.storage.file_log import FileLogWriter
from tidemark.impl.storage.parquet_store import ParquetStore, encode
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.storage.sqlite_oracle import LEAD, SqliteOracleStore
from tidemark.impl.storage.transactions import Database
from tidemark.impl.tso.ports import Leadership
from tidemark.impl.types import ChannelRecord, Pack, Row
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.store import programs
from tidemark.models.protocols.store.cells import EtcdWindow, Log, Metadata, Objects, Window
from tidemark.models.protocols.store.program import StoreProgram
from tidemark.models.simulation.world.database import DatabaseConnection
from tidemark.models.simulation.world.files import FileOperations

# ---- files: an operation that an adapter leaves out is left out below it ----


class _Files:
    """Passes everything on."""

    def __init__(self, files: FileOperations) -> None:
        self._files = files

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)


class _WithoutSync(_Files):
    async def sync(self, path: Path) -> None:
        """Leave it out."""


class _WithoutDirectorySync(_Files):
    async def sync_directory(self, path: Path) -> None:
        """Leave it out."""


class _WithoutParents(_Files):
    async def sync_directory(self, path: Path) -> None:
        """Force a directory that holds objects, no other."""
        if path.name == "segment":
            await self._files.sync_directory(path)


class _TakesTails(_Files):
    async def read(self, path: Path, *, offset: int = 0) -> bytes:
        """Make the last line look whole."""
        found = await self._files.read(path, offset=offset)
        return found if not found or found.endswith(b"\n") else found + b"\n"


class _IgnoresChecksums(_Files):
    async def read(self, path: Path, *, offset: int = 0) -> bytes:
        """Make each line that has an end look whole."""
        *lines, tail = (await self._files.read(path, offset=offset)).split(b"\n")
        texts = [line.partition(b" ")[2] for line in lines]
        return b"".join(b"%08x %s\n" % (zlib.crc32(text), text) for text in texts) + tail


def _objects_over(operations: Callable[[FileOperations], Any]) -> type[Objects]:
    return type("Mutant", (Objects,), {"operations": staticmethod(operations)})


def _log_over(operations: Callable[[FileOperations], Any]) -> type[Log]:
    return type("Mutant", (Log,), {"operations": staticmethod(operations)})


@mutant(killer="contents_are_whole", source="property D", instance="store-objects-parquet")
def object_is_not_forced(**scenario: Any) -> StoreProgram:
    """The content of an object is not forced before it gets its name."""
    return programs.objects(_objects_over(_WithoutSync), **scenario)


@mutant(killer="store.what_was_answered_is_durable", source="property D", instance="store-objects-parquet")
def name_is_not_forced(**scenario: Any) -> StoreProgram:
    """The name of an object is not forced."""
    return programs.objects(_objects_over(_WithoutDirectorySync), **scenario)


@mutant(killer="store.what_was_answered_is_durable", source="property D", instance="store-objects-parquet")
def directory_is_not_forced(**scenario: Any) -> StoreProgram:
    """The names of new directories are not forced."""
    return programs.objects(_objects_over(_WithoutParents), **scenario)


class _RenamesFirst(ParquetStore):
    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """Force the object when it has its name."""
        file = self.file_of(path)
        unfinished = file.with_name("unfinished")
        await super().put("segment/first", ())
        await self._files.write(unfinished, encode(rows))
        await self._files.rename(unfinished, file)
        await self._files.sync(file)
        await self._files.sync_directory(file.parent)


class _InPlace(ParquetStore):
    async def put(self, path: str, rows: Sequence[Row]) -> None:
        """Write an object under its name."""
        file = self.file_of(path)
        await super().put("segment/first", ())
        await self._files.write(file, encode(rows))
        await self._files.sync(file)
        await self._files.sync_directory(file.parent)


class _RenamingObjects(Objects):
    adapter: ClassVar[type[ParquetStore]] = _RenamesFirst


class _ObjectsInPlace(Objects):
    adapter: ClassVar[type[ParquetStore]] = _InPlace


@mutant(killer="contents_are_whole", source="property D", instance="store-objects-parquet")
def rename_comes_first(**scenario: Any) -> StoreProgram:
    """An object gets its name before its content is forced."""
    return programs.objects(_RenamingObjects, **scenario)


@mutant(killer="contents_are_whole", source="property D", instance="store-objects-parquet")
def object_is_written_in_place(**scenario: Any) -> StoreProgram:
    """An object is written under its name."""
    return programs.objects(_ObjectsInPlace, **scenario)


class _SharesTheUnfinished(ParquetStore):
    def _beside(self, file: Path) -> Path:
        return file.with_name(f".{file.name}.unfinished")


class _SharingObjects(Objects):
    adapter: ClassVar[type[ParquetStore]] = _SharesTheUnfinished


@mutant(killer="contents_are_whole", source="property D", instance="store-objects-two-puts")
def puts_share_the_unfinished_file(**scenario: Any) -> StoreProgram:
    """Two puts of one path that are under way write into one file."""
    return programs.objects(_SharingObjects, **scenario)


@mutant(killer="store.what_was_answered_is_durable", source="property D", instance="store-file-log")
def append_is_not_forced(**scenario: Any) -> StoreProgram:
    """An append is answered, and a line is read, before it is forced."""
    return programs.log(_log_over(_WithoutSync), **scenario)


@mutant(killer="store.what_was_answered_is_durable", source="property D", instance="store-file-log")
def log_name_is_not_forced(**scenario: Any) -> StoreProgram:
    """The name of a new log is not forced."""
    return programs.log(_log_over(_WithoutDirectorySync), **scenario)


class _KeepsTheRest(FileLogWriter):
    async def _mend(self) -> None:
        """Look at nothing."""
        await super()._mend() if not await self._files.exists(self._file) else None


class _KeepsItsEnd(FileLogWriter):
    """Knows that the file is whole, whatever has become of the last line."""

    async def append(self, pack: Pack) -> None:
        """Append, and keep what was known before if that fails."""
        known = self._whole
        try:
            await super().append(pack)
        finally:
            self._whole = known or self._whole


class LogOfKnownEnds(Log):
    """Its writer does not look at the file again after a failure."""

    adapter: ClassVar[type[FileLogWriter]] = _KeepsItsEnd


@mutant(killer="store.what_was_answered_is_durable", source="property D", instance="store-file-log-faults")
def end_is_kept_after_a_failure(**scenario: Any) -> StoreProgram:
    """After an append that failed the writer does not look at the file again."""
    return programs.log(LogOfKnownEnds, **scenario)


class _GivesUp(FileLogWriter):
    """A failed append is the last."""

    async def append(self, pack: Pack) -> None:
        """Refuse what comes after a failure."""
        if self._broken:
            raise StoreError(f"the log in {self._file} has failed before")
        self._broken = True
        await super().append(pack)
        self._broken = False

    _broken = False


class _LogThatGivesUp(Log):
    adapter: ClassVar[type[FileLogWriter]] = _GivesUp


@mutant(killer="no_failure_without_a_fault", source="property D", instance="store-file-log-faults")
def writer_gives_up_after_a_failure(**scenario: Any) -> StoreProgram:
    """After an append that failed the writer reports every other one as failed."""
    return programs.log(_LogThatGivesUp, **scenario)


class _RefusesTails(_Files):
    async def read(self, path: Path, *, offset: int = 0) -> bytes:
        """Refuse a file that does not end with a whole line."""
        found: bytes = await self._files.read(path, offset=offset)
        if found and not found.endswith(b"\n"):
            raise OSError(f"{path} has a last line without an end")
        return found


@mutant(killer="no_failure_without_a_fault", source="property D", instance="store-file-log")
def tail_fails_its_readers(**scenario: Any) -> StoreProgram:
    """After a power failure a last line without an end is reported as a failure, and none was injected."""
    return programs.log(_log_over(_RefusesTails), **scenario)


class _LogWithRests(Log):
    adapter: ClassVar[type[FileLogWriter]] = _KeepsTheRest


class LookingAhead(Log):
    """Its readers do not force what they see."""

    def client(self, process: Any) -> Any:
        """Read without forcing; append as ever."""
        made = super().client(process)
        made._files = _WithoutSync(made._files)  # noqa: SLF001  # the fault
        return made


@mutant(killer="store.what_was_answered_is_durable", source="property D", instance="store-file-log")
def rest_is_not_cut_off(**scenario: Any) -> StoreProgram:
    """A writer appends to what is left of an append that did not end."""
    return programs.log(_LogWithRests, **scenario)


@mutant(killer="store.what_was_read_is_durable", source="property L", instance="store-file-log")
def reader_does_not_force(**scenario: Any) -> StoreProgram:
    """A reader answers with a line that is not forced."""
    return programs.log(LookingAhead, **scenario)


@mutant(killer="contents_are_whole", source="property D", instance="store-file-log")
def tail_is_accepted(**scenario: Any) -> StoreProgram:
    """A last line without an end counts."""

    def tails(files: FileOperations) -> _Files:
        return _IgnoresChecksums(_TakesTails(files))

    return programs.log(_log_over(tails), **scenario)


@mutant(killer="contents_are_whole", source="property D", instance="store-file-log")
def checksum_is_ignored(**scenario: Any) -> StoreProgram:
    """A line with an end counts, whatever is in it."""
    return programs.log(_log_over(_IgnoresChecksums), **scenario)


# ---- SQLite ----


class _OneByOne(SqliteMetaStore):
    async def save_channels(self, records: Sequence[ChannelRecord]) -> None:
        """Save each record in a transaction of its own."""
        for record in records:
            await super().save_channels([record])


class _MetadataOneByOne(Metadata):
    adapter: ClassVar[type[SqliteMetaStore]] = _OneByOne


@mutant(killer="contents_are_whole", source="facts 10.1", instance="store-sqlite-metadata")
def channels_one_by_one(**scenario: Any) -> StoreProgram:
    """Records that belong together are saved one after the other."""
    return programs.metadata(_MetadataOneByOne, **scenario)


class _NotSynchronous:
    def __init__(self, database: DatabaseConnection) -> None:
        self._database = database

    async def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """Leave commits to the operating system."""
        return await self._database.execute(
            statement.replace("synchronous = FULL", "synchronous = OFF"), values
        )

    async def close(self) -> None:
        """Close."""
        await self._database.close()


class _MetadataUnforced(Metadata):
    def client(self, process: Any) -> Any:
        """Do not ask for forced commits."""
        made = super().client(process)
        made._store = self.adapter(Path("/data"), database=_NotSynchronous(self.file.connect()))  # noqa: SLF001
        return made


@mutant(killer="refinement", source="property D", instance="store-sqlite-metadata")
def commits_are_not_forced(**scenario: Any) -> StoreProgram:
    """``synchronous`` is off."""
    return programs.metadata(_MetadataUnforced, **scenario)


class _PlainSave(SqliteOracleStore):
    async def save(self, end: int, leadership: Leadership) -> None:
        """Keep what comes last."""
        async with self._transactions.begin() as database:
            await self._check(database, leadership)
            await database.execute("INSERT OR REPLACE INTO window VALUES (1, ?)", (end,))


class _NoFence(SqliteOracleStore):
    async def _check(self, database: Database, leadership: Leadership) -> float:
        del database, leadership
        return self._steady.monotonic()


class _LooksBefore(SqliteOracleStore):
    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        """Look at the leader in one transaction, and take its place in another."""
        now = self._steady.monotonic()
        async with self._transactions.begin() as database:
            held, term = await self._holder(database, now), await self._last_term(database) + 1
        if held is not None:
            return None
        async with self._transactions.begin() as database:
            await database.execute(LEAD, (term, server, now, now + lease))
        return Leadership(server=server, term=term, lease=lease)


class _ChecksBefore(SqliteOracleStore):
    async def save(self, end: int, leadership: Leadership) -> None:
        """Check the term in one transaction, and save in another."""
        async with self._transactions.begin() as database:
            await self._check(database, leadership)
        async with self._transactions.begin() as database:
            await database.execute(
                "INSERT INTO window VALUES (1, ?)"
                " ON CONFLICT (only) DO UPDATE SET saved = max(saved, excluded.saved)",
                (end,),
            )


def _window_with(adapter: type[SqliteOracleStore]) -> type[Window]:
    return type("Mutant", (Window,), {"adapter": adapter})


class FallingWindow(Window):
    """It keeps what was saved last."""

    adapter: ClassVar[type[SqliteOracleStore]] = _PlainSave


@mutant(killer="store.what_was_answered_is_durable", source="property M", instance="store-sqlite-window")
def window_falls(**scenario: Any) -> StoreProgram:
    """The window is what was saved last."""
    return programs.window(FallingWindow, **scenario)


class WindowOfAnyTerm(Window):
    """It takes saves of any term."""

    adapter: ClassVar[type[SqliteOracleStore]] = _NoFence


@mutant(killer="store.only_the_present_term_adds", source="H43", instance="store-sqlite-window-lapse")
def fence_is_ignored(**scenario: Any) -> StoreProgram:
    """Saves of any term are taken."""
    return programs.window(WindowOfAnyTerm, **scenario)


@mutant(killer="refinement", source="facts 2.4", instance="store-sqlite-window-lapse")
def leader_is_read_before(**scenario: Any) -> StoreProgram:
    """The leader is looked up outside of the transaction that replaces it."""
    return programs.window(_window_with(_LooksBefore), **scenario)


@mutant(killer="store.only_the_present_term_adds", source="H43", instance="store-sqlite-window-lapse")
def term_is_checked_before(**scenario: Any) -> StoreProgram:
    """The term is checked outside of the transaction that saves."""
    return programs.window(_window_with(_ChecksBefore), **scenario)


# ---- etcd ----


class _AnyCampaign(EtcdOracleStore):
    async def _transaction(self, *, compare: Json, success: list[Json]) -> Json:
        """Compare no versions."""
        kept = [] if compare["target"] == "VERSION" else [compare]
        request = {"compare": kept, "success": success, "failure": []}
        return await self._client.call("/v3/kv/txn", request)


class _AnySave(EtcdOracleStore):
    async def _transaction(self, *, compare: Json, success: list[Json]) -> Json:
        """Compare no leases."""
        kept = [] if compare["target"] == "LEASE" else [compare]
        request = {"compare": kept, "success": success, "failure": []}
        return await self._client.call("/v3/kv/txn", request)


class _AnyValue(EtcdOracleStore):
    async def _transaction(self, *, compare: Json, success: list[Json]) -> Json:
        """Compare no values."""
        for operation in success:
            if "request_txn" in operation:
                operation["request_txn"] |= {"compare": [], "success": operation["request_txn"]["failure"]}
        return await super()._transaction(compare=compare, success=success)


def _etcd_with(adapter: type[EtcdOracleStore]) -> type[EtcdWindow]:
    return type("Mutant", (EtcdWindow,), {"adapter": adapter})


@mutant(killer="refinement", source="facts 2.4", instance="store-etcd-window")
def etcd_key_is_replaced(**scenario: Any) -> StoreProgram:
    """The leader key is put without a comparison."""
    return programs.etcd_window(_etcd_with(_AnyCampaign), **scenario)


@mutant(killer="refinement", source="H43", instance="store-etcd-window")
def etcd_save_is_unconditional(**scenario: Any) -> StoreProgram:
    """The window is put without a comparison of the lease."""
    return programs.etcd_window(_etcd_with(_AnySave), **scenario)


@mutant(killer="store.what_was_answered_is_durable", source="property M", instance="store-etcd-window")
def etcd_window_falls(**scenario: Any) -> StoreProgram:
    """The window is put without a comparison of its value."""
    return programs.etcd_window(_etcd_with(_AnyValue), **scenario)
