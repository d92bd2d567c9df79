"""Wrong adapters by hand: each breaks one claim of the programs of calls."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from tidemark.impl.errors import StoreError
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.storage.fenced_log import FencedLog
from tidemark.impl.storage.files import SystemFiles, in_thread
from tidemark.impl.storage.parquet_folder import ParquetFolder
from tidemark.impl.storage.transactions import SqliteDatabase
from tidemark.impl.streaming.transaction_messages import StreamingMessage
from tidemark.impl.tso.ports import Leadership
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.store.histories import folders, kinds, leaders
from tidemark.models.protocols.store.histories.program import HistoryProgram
from tidemark.models.protocols.store.histories.programs import history
from tidemark.models.simulation.world.process import Process


class _NeverForces(SystemFiles):
    async def sync(self, path: Path) -> None:
        """Leave it out."""


class _LeavesOpen(SystemFiles):
    async def sync(self, path: Path) -> None:
        """Force the file, and keep its descriptor."""
        await in_thread(None, lambda: self._calls.fsync(self._calls.open(path, os.O_RDONLY)))


class _UnforcedPacks(kinds.Packs):
    def files(self) -> Any:
        """Files that are never forced."""
        return _NeverForces(self.machine)


class _OpenPacks(kinds.Packs):
    def files(self) -> Any:
        """Files that stay open."""
        return _LeavesOpen(self.machine)


@mutant(killer="calls_have_an_order", source="property D", instance="store-calls-log-power")
def system_does_not_force(**scenario: Any) -> HistoryProgram:
    """A pack is answered before it is forced to the disk."""
    return history(kind=_UnforcedPacks, **scenario)


@mutant(killer="everything_is_closed", source="property D", instance="store-calls-log-fails")
def descriptor_is_left_open(**scenario: Any) -> HistoryProgram:
    """Each file that is forced leaves a descriptor open."""
    return history(kind=_OpenPacks, **scenario)


class _KeepsClosed(SqliteDatabase):
    def _close(self) -> None:
        """Close the connection, and go on with it."""
        if self._connection is not None:
            self._connection.close()


class _ClosedCatalogue(kinds.Catalogue):
    def database(self) -> SqliteDatabase:
        """A connection that is used after its end."""
        return _KeepsClosed(self.file.path, connect=self.connector)


@mutant(
    killer="no_failure_without_a_fault",
    source="facts 2.2: saveTimestamp fails",
    instance="store-calls-catalogue-fails",
)
def connection_is_kept(**scenario: Any) -> HistoryProgram:
    """After a failure all that follows fails too: the connection is not opened again."""
    return history(kind=_ClosedCatalogue, **scenario)


class _GoesOn(FencedLog):
    def _check(self, term: int) -> None:
        """Look at the term alone."""
        self.broken = False
        super()._check(term)


class _GoingOn(kinds.Fenced):
    def adapter(self, process: Process, name: str) -> Any:
        """A log that goes on."""
        made = super().adapter(process, name)
        made.__class__ = _GoesOn
        return made


@mutant(killer="no_answer_after_a_failure", source="property D", instance="store-calls-fenced-log-fails")
def lost_log_goes_on(**scenario: Any) -> HistoryProgram:
    """A log whose last append has failed takes another one."""
    return history(kind=_GoingOn, **scenario)


class _WakesNobody(asyncio.Condition):
    def notify_all(self) -> None:
        """Leave it out."""


class _SleepingPacks(kinds.MemoryPacks):
    def adapter(self, process: Process, name: str) -> Any:
        """A log that wakes nobody."""
        made = super().adapter(process, name)
        made._grown = _WakesNobody()  # noqa: SLF001  # the fault
        return made


@mutant(killer="every_call_ends", source="property L", instance="store-calls-memory-log")
def reader_is_not_woken(**scenario: Any) -> HistoryProgram:
    """A reader of a log in memory waits for ever."""
    return history(kind=_SleepingPacks, **scenario)


class _FolderThatFindsNothing(ParquetFolder):
    async def paths(self, folder: str) -> tuple[str, ...]:
        """Take a disk that fails for a folder without files."""
        with suppress(StoreError):
            return await super().paths(folder)
        return ()


class _FolderThatGoesOn(ParquetFolder):
    async def delete(self, path: str) -> None:
        """Say that a file is deleted whose deletion has failed."""
        with suppress(StoreError):
            await super().delete(path)


class _FolderInOrderOfPaths(ParquetFolder):
    async def paths(self, folder: str) -> tuple[str, ...]:
        """Sort by the parts of the names, and not by the names."""
        return tuple(sorted(await super().paths(folder), key=lambda path: path.split("/")))


class _FolderOfAll(ParquetFolder):
    async def delete(self, path: str) -> None:
        """Delete whatever has the name of the object at its begin."""
        for other in await self.paths(path.rpartition("/")[0] or path):
            if other.startswith(path):
                await super().delete(other)
        await super().delete(path)


def _with(folder: type[ParquetFolder]) -> type[folders.Folder]:
    return type("Wrong", (folders.Folder,), {"folder_class": folder})


@mutant(killer="calls_have_an_order", source="hazard 14", instance="store-calls-folder-fails")
def a_disk_that_fails_has_no_files(**scenario: Any) -> HistoryProgram:
    """A folder that cannot be listed is taken for an empty one: records of its files are forgotten."""
    return history(kind=_with(_FolderThatFindsNothing), **scenario)


@mutant(killer="calls_have_an_order", source="hazard 14", instance="store-calls-folder-fails")
def a_failed_deletion_counts(**scenario: Any) -> HistoryProgram:
    """A file that could not be deleted counts as deleted."""
    return history(kind=_with(_FolderThatGoesOn), **scenario)


@mutant(killer="calls_have_an_order", source="hazard 14", instance="store-calls-folder-fails")
def files_are_in_the_order_of_their_paths(**scenario: Any) -> HistoryProgram:
    """What is listed is not sorted as the store sorts it."""
    return history(kind=_with(_FolderInOrderOfPaths), **scenario)


@mutant(killer="calls_have_an_order", source="hazard 14", instance="store-calls-folder-power")
def a_deletion_takes_what_begins_with_its_name(**scenario: Any) -> HistoryProgram:
    """A file goes that nobody has named."""
    return history(kind=_with(_FolderOfAll), **scenario)


class _MarksErrors(FencedLog):
    async def append(self, term: int, since: int, message: StreamingMessage) -> int:
        try:
            return await super().append(term, since, message)
        except asyncio.CancelledError:
            self.broken = False
            raise


class _TrustsWhoLeaves(kinds.Fenced):
    def adapter(self, process: Process, name: str) -> Any:
        """A log that is lost by errors only."""
        made = super().adapter(process, name)
        made.__class__ = _MarksErrors
        return made


@mutant(
    killer="no_failure_without_a_fault", source="property D, B54", instance="store-calls-fenced-log-cancelled"
)
def who_leaves_an_append_leaves_no_line(**scenario: Any) -> HistoryProgram:
    """A log whose append was cancelled goes on at the same place."""
    return history(kind=_TrustsWhoLeaves, **scenario)


class _LittleEnds(EtcdOracleStore):
    async def load(self) -> int:
        return int.from_bytes((await super().load()).to_bytes(8, "big"), "little")

    async def save(self, end: int, leadership: Leadership) -> None:
        await super().save(int.from_bytes(end.to_bytes(8, "little"), "big"), leadership)


class _LittleWindow(leaders.EtcdWindow):
    def adapter(self, process: Process, name: str) -> Any:
        """A window whose bytes are not in the order of numbers."""
        made = super().adapter(process, name)
        made.__class__ = _LittleEnds
        return made


@mutant(killer="calls_have_an_order", source="facts 2.4", instance="store-calls-etcd-fails")
def bytes_are_in_another_order_than_numbers(**scenario: Any) -> HistoryProgram:
    """The end of the window begins with its lowest byte, in etcd and back."""
    return history(kind=_LittleWindow, **scenario)
