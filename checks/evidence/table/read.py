"""A piece of a file becomes Arrow batches of the event table, and a count of its lines."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

import pyarrow as pa

from tidemark.checks.evidence.readers.broker import broker_row, rocksmq
from tidemark.checks.evidence.readers.lines import JsonReader
from tidemark.checks.evidence.readers.log import Lines, LogReader
from tidemark.checks.evidence.table.files import Piece, Sort
from tidemark.checks.evidence.table.packing import BLOCK, BROKEN, opened
from tidemark.checks.evidence.table.schema import Row, batch
from tidemark.checks.verdicts.errors import install_command

BATCH_ROWS = 1 << 15
_LONGEST = 1 << 26
"""Bytes that a line may have."""


@dataclass
class Account:
    """What was read of a file."""

    name: str
    sort: Sort = Sort.NONE
    counts: Lines = field(default_factory=Lines)
    events: int = 0
    unfinished: bool = False
    """The last line has no end: the file is being written, or was cut."""
    problems: list[str] = field(default_factory=list)
    """What is wrong, in words, with the first lines that cannot be read."""

    def as_dict(self) -> dict[str, object]:
        """As JSON can hold it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, given: dict[str, object]) -> Account:
        """The inverse of ``as_dict``."""
        rest = {name: value for name, value in given.items() if name != "counts"}
        counts, sort = given["counts"], rest.pop("sort")
        assert isinstance(counts, dict)
        return cls(counts=Lines(**counts), sort=Sort(str(sort)), **rest)  # type: ignore[arg-type] # read back from our own JSON

    def add(self, other: Account) -> None:
        """Count what another piece of the same file has."""
        self.sort = other.sort if self.sort is Sort.NONE else self.sort
        self.counts.add(other.counts)
        self.events += other.events
        self.unfinished = self.unfinished or other.unfinished
        self.problems = (self.problems + other.problems)[:3]


def read(piece: Piece, account: Account) -> Iterator[pa.RecordBatch]:
    """The events of a piece; ``account`` is filled as they are taken."""
    account.sort = Sort(piece.sort)
    if piece.sort == Sort.ROCKSMQ:
        yield from _batches(_broker(piece, account), account)
        return
    reader = (
        LogReader(piece.name, first_line=piece.first_line, header=piece.header)
        if piece.sort == Sort.LOG
        else JsonReader(piece.name, first_line=piece.first_line)
    )
    try:
        for data in blocks(piece, account):
            made = reader.batch(data)
            if made is None:
                yield from _batches(reader.block(data), account)
            elif made.num_rows:
                account.events += made.num_rows
                yield made
        yield from _batches(reader.end(), account)
    except BROKEN as error:
        reader.counts.damage(piece.first_line + reader.counts.lines)
        account.problems.append(f"the rest of the file cannot be read: {error}")
    account.counts.add(reader.counts)
    if isinstance(reader, JsonReader):
        account.problems = (account.problems + reader.problems)[:3]


def _batches(rows: Iterator[Row], account: Account) -> Iterator[pa.RecordBatch]:
    while taken := list(islice(rows, BATCH_ROWS)):
        account.events += len(taken)
        yield batch(taken)


def _broker(piece: Piece, account: Account) -> Iterator[Row]:
    try:
        for entry in rocksmq(Path(piece.path)):
            account.counts.lines += 1
            account.counts.entries += 1
            yield broker_row(piece.name, entry)
    except ImportError:
        account.problems.append(
            f"the broker's RocksDB needs the package rocksdict:  {install_command('evidence')}"
        )
        account.counts.damage(account.counts.lines + 1)
    except Exception as error:  # noqa: BLE001 - rocksdict raises its own kinds for a damaged store
        account.problems.append(f"the broker's store cannot be read: {error}")
        account.counts.damage(account.counts.lines + 1)


def blocks(piece: Piece, account: Account) -> Iterator[bytes]:
    """Whole lines of a piece, without the last line's end. A last line that is cut is left out, and said."""
    rest, mark_of_order = b"", b"" if piece.start else codecs.BOM_UTF8
    with opened(Path(piece.path), piece.packed) as file:
        if piece.start:
            file.seek(piece.start)
        left = piece.end - piece.start if piece.end >= 0 else -1
        while data := file.read(BLOCK if left < 0 else min(BLOCK, left)):
            left = left - len(data) if left >= 0 else left
            data, mark_of_order = data.removeprefix(mark_of_order), b""
            whole, mark, tail = data.rpartition(b"\n")
            if mark:
                yield rest + whole
                rest = tail
            else:
                rest += tail
            if len(rest) > _LONGEST:
                raise OSError(f"a line of more than {_LONGEST:,} bytes")
            if left == 0:
                break
    if rest.rstrip().endswith((b"]", b"}", b'"') if piece.header else (b"]", b"}")):
        yield rest  # whole, though nothing ends it: pasted, say
    elif rest.strip():
        account.unfinished = True
