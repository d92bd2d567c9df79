"""Mutants of what a streaming node has on its disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tidemark.impl.errors import CorruptDataError
from tidemark.impl.storage.fenced_log import TERMS, FencedLog
from tidemark.impl.streaming.flusher import Flusher
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.transaction_messages import TransactionMessage
from tidemark.impl.streaming.values import Opening, Record
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.streaming.disk import DiskProgram, disk


class _Unforced:
    """Files of records that are not forced once."""

    def __init__(self, files: Any) -> None:
        self._files = files
        self._forgot = False

    async def sync(self, path: Path) -> None:
        """Leave the first append to chance: the next one forces it."""
        if self._forgot or path.name == f"{TERMS}.jsonl":
            await self._files.sync(path)
        self._forgot = self._forgot or path.name != f"{TERMS}.jsonl"

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)


class _UnforcedLog(FencedLog):
    def __init__(self, root: Path, *, files: Any, per_file: int) -> None:
        super().__init__(root, files=_Unforced(files), per_file=per_file)


@mutant(
    killer="acknowledged_appends_survive",
    source="facts 11: durable when acknowledged",
    instance="streaming-impl-disk",
    tier="full",
)
def log_is_not_forced(**scenario: Any) -> DiskProgram:
    """An append is acknowledged before it is forced to the disk."""
    return disk(log=_UnforcedLog, **scenario)


class _GoesOnWithin(RecoveryStorage):
    def needed(self) -> int:
        return self.observed


@mutant(
    killer="stored_once_or_not_at_all",
    source="B28; facts 11: records within a transaction",
    instance="streaming-impl-disk",
    tier="full",
)
def records_go_on_within_a_transaction(**scenario: Any) -> DiskProgram:
    """Records that were saved between begin and commit go on there, and never count the transaction."""
    return disk(recovery=_GoesOnWithin, **scenario)


class _LastForced:
    """Files in which the beginning of the first term is forced, and that of no other."""

    def __init__(self, files: Any) -> None:
        self._files = files

    async def sync(self, path: Path) -> None:
        """Leave later terms to chance."""
        is_later = path.name == f"{TERMS}.jsonl" and b" [1, " not in _last_line(await self._files.read(path))
        if not is_later:
            await self._files.sync(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)


def _last_line(content: bytes) -> bytes:
    """The last line that has an end; empty if there is none."""
    return content.rpartition(b"\n")[0].rpartition(b"\n")[2]


class _LaterTermsAreNotForced(FencedLog):
    def __init__(self, root: Path, *, files: Any, per_file: int) -> None:
        super().__init__(root, files=_LastForced(files), per_file=per_file)


@mutant(
    killer="acknowledged_appends_survive",
    source="facts 11: fencing by term",
    instance="streaming-impl-disk-twice",
    tier="full",
)
def later_terms_are_not_forced(**scenario: Any) -> DiskProgram:
    """A term that follows a crash is not forced to the disk: after the next crash it begins again."""
    return disk(log=_LaterTermsAreNotForced, **scenario)


class _Uncut:
    """Files in which what is left of an append is not cut off."""

    def __init__(self, files: Any) -> None:
        self._files = files

    async def truncate(self, path: Path, size: int) -> None:
        """Make files empty, as the log does when it is cut, and nothing else."""
        if not size:
            await self._files.truncate(path, size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._files, name)


class _LeavesWhatIsTorn(FencedLog):
    def __init__(self, root: Path, *, files: Any, per_file: int) -> None:
        super().__init__(root, files=_Uncut(files), per_file=per_file)


@mutant(
    killer="what_is_found_is_whole",
    source="facts 11: recovery of the log, a torn line",
    instance="streaming-impl-disk-torn-crash",
    tier="full",
)
def a_torn_line_is_left(**scenario: Any) -> DiskProgram:
    """A term appends behind a line that is not whole: the two are one line, which no later term can read."""
    return disk(log=_LeavesWhatIsTorn, **scenario)


class _LeavesOutWhatItCannotRead(FencedLog):
    async def begin_term(self) -> Opening:
        try:
            return await super().begin_term()
        except CorruptDataError:
            self.broken = False
            return await super().begin_term()


@mutant(
    killer="what_is_no_message_is_refused",
    source="facts 11: recovery of the log",
    instance="streaming-impl-disk-foreign-body",
)
def a_term_begins_over_what_it_cannot_read(**scenario: Any) -> DiskProgram:
    """A term finds a record that is no message, and begins without it."""
    return disk(log=_LeavesOutWhatItCannotRead, **scenario)


class _KeepsTimestamps(Flusher):
    def take(self, record: Record) -> None:
        message = record.message
        if isinstance(message, TransactionMessage) and message.content is not None:
            self._mine = (*getattr(self, "_mine", ()), message.content)
        super().take(record)
        complete = self.buffered.get(record.place)
        if complete is not None and isinstance(message, TransactionMessage):
            self.buffered[record.place] = complete._replace(messages=self._mine)


@mutant(
    killer="stored_with_the_timestamp_of_its_commit",
    source="facts 11: transactions",
    instance="streaming-impl-disk-deletes",
)
def rows_are_stored_with_their_own_timestamps(**scenario: Any) -> DiskProgram:
    """The flusher stores the rows and deletes of a transaction as their messages came."""
    return disk(flusher=_KeepsTimestamps, **scenario)
