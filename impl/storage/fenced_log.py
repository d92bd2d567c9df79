"""The log of one channel on files, with terms: appends of an earlier term are refused.

A directory holds the file ``terms``, a line for each term that has begun and each cut, and a file for each
range of places, a line for each record. All lines are those of ``tidemark.impl.storage.file_log``: an
incomplete line does not count. Each append is forced to the disk before the next one begins.

A failed append may be in the file. From then on the log refuses every append, until a new term has read the
files.
"""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tidemark.impl.errors import (
    CorruptDataError,
    LogCutError,
    MessageTooLargeError,
    StoreError,
    TermEndedError,
)
from tidemark.impl.storage.file_log import FileLogWriter, checked, log_file, read_lines
from tidemark.impl.storage.files import SYSTEM_FILES, Files
from tidemark.impl.streaming.transaction_messages import StreamingMessage, decode_any, encode_any
from tidemark.impl.streaming.values import Opening, Record, Term

TERMS = "terms"
RECORDS_PER_FILE = 256
MOST_BYTES = 1 << 20
"""The longest record, in bytes."""


class FencedLog:
    """A ``TermLog``, of one process.

    Args:
        root: the directory.
        files: the file system that it is in.
        per_file: how many places a file has.
        most_bytes: the longest record.

    Attributes:
        term: the last one; 0 before the first.
        cut: places at or below are forgotten.
        records: those above the cut, in memory too.
        broken: an append has failed: the files have to be read again.
    """

    def __init__(
        self,
        root: Path,
        *,
        files: Files = SYSTEM_FILES,
        per_file: int = RECORDS_PER_FILE,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.term: Term = 0
        self.cut = 0
        self.records: list[Record] = []
        self.broken = True
        self._root = root
        self._files = files
        self._per_file = per_file
        self._most_bytes = most_bytes
        self._terms = FileLogWriter(root, TERMS, files=files)
        self._writer: tuple[int, FileLogWriter] | None = None
        self._turn = asyncio.Lock()
        self._grown = asyncio.Event()
        self._emptied = 0

    @property
    def end(self) -> int:
        """The last place."""
        return self.cut + len(self.records)

    async def begin_term(self) -> Opening:
        """See TermLog. Raise StoreError, CorruptDataError."""
        async with self._turn:
            if self.broken:
                await self._load()
            await self._note(self.term + 1, self.cut)
            return Opening(self.term, self.end)

    async def append(self, term: Term, since: int, message: StreamingMessage) -> int:
        """See TermLog."""
        async with self._turn:
            self._check(term)
            record = Record(self.end + 1, term, since, message)
            line = _line(record)
            if len(line) > self._most_bytes:
                raise MessageTooLargeError(
                    f"message {message.ts} has {len(line)} bytes of at most {self._most_bytes}; split it"
                )
            self.broken = True
            await self._writer_of(record.place).append_line(line)
            self.broken = False
            self.records.append(record)
            self._wake()
            return record.place

    def _check(self, term: Term) -> None:
        if term != self.term:
            raise TermEndedError(
                f"{self._root} refuses term {term}: the last one is {self.term}; begin a new one"
            )
        if self.broken:
            raise StoreError(f"{self._root} has lost track of its end; begin a new term")

    async def read(self, place: int) -> Sequence[Record]:
        """See TermLog."""
        while self.end < place:
            await self._grown.wait()
        if place <= self.cut:
            raise LogCutError(f"{self._root} is cut behind place {self.cut}: {place} is in object storage")
        return self.records[place - self.cut - 1 :]

    async def scan(self, above: int) -> Sequence[Record]:
        """See TermLog."""
        return self.records[max(above - self.cut, 0) :]

    async def truncate(self, upto: int) -> None:
        """See TermLog: only whole files are forgotten."""
        async with self._turn:
            number = min(upto, self.end) // self._per_file
            cut = number * self._per_file
            if cut <= self.cut:
                return
            await self._note(self.term, cut)
            self.records = self.records[cut - self.cut :]
            self.cut = cut
            await self._empty(number)

    async def _empty(self, number: int) -> None:
        try:
            for place in range(self._emptied, number):
                await self._files.truncate(log_file(self._root, _name(place)), 0)
                self._emptied = place + 1
        except OSError as failure:
            raise StoreError(f"cannot cut {self._root}: {failure}; check the disk") from failure

    async def _note(self, term: Term, cut: int) -> None:
        await self._terms.append_line(checked(json.dumps([term, cut]).encode()))
        self.term = term

    # The contents of the files.

    async def _load(self) -> None:
        """Readers see the earlier records until this ends."""
        term, cut = await self._last_note()
        records: list[Record] = []
        number = cut // self._per_file
        while lines := await read_lines(self._files, log_file(self._root, _name(number)), 0):
            for line in lines:
                record, end = _record(line, where=self._root), cut + len(records)
                if record.place != end + 1:
                    raise CorruptDataError(f"{self._root} has place {record.place} after {end}; restore it")
                records.append(record)
            number += 1
        self.term, self.cut, self.records, self.broken = term, cut, records, False
        self._wake()

    async def _last_note(self) -> tuple[Term, int]:
        term, cut = 0, 0
        for line in await read_lines(self._files, log_file(self._root, TERMS), 0):
            term, cut = _document(line, where=self._root)
        return term, cut

    def _writer_of(self, place: int) -> FileLogWriter:
        number = (place - 1) // self._per_file
        if self._writer is None or self._writer[0] != number:
            self._writer = (number, FileLogWriter(self._root, _name(number), files=self._files))
        return self._writer[1]

    def _wake(self) -> None:
        self._grown.set()
        self._grown = asyncio.Event()


def _name(number: int) -> str:
    return f"{number:09}"


def _line(record: Record) -> bytes:
    document = [record.place, record.term, record.since, encode_any(record.message)]
    return checked(json.dumps(document, separators=(",", ":")).encode())


def _record(line: bytes, *, where: Path) -> Record:
    place, term, since, message = _document(line, where=where)
    return Record(place, term, since, decode_any(message))


def _document(line: bytes, *, where: Path) -> Any:
    try:
        return json.loads(line.partition(b" ")[2])
    except ValueError as damage:
        raise CorruptDataError(f"log {where} has a damaged line {line[:80]!r}: {damage!r}") from damage
