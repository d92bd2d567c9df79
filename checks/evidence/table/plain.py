"""The event table made in one process: for evidence that one core reads in seconds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tidemark.checks.evidence.table.events import Events
from tidemark.checks.evidence.table.files import Source, pieces
from tidemark.checks.evidence.table.read import Account, read
from tidemark.checks.evidence.table.schema import SCHEMA


@dataclass(frozen=True)
class Evidence:
    """The events, and for each source what was read of it."""

    events: Events
    accounts: dict[str, Account]
    sources: tuple[Source, ...] = ()
    folder: Path | None = None
    """Where the table is on disk already."""

    @classmethod
    def of(cls, events: pa.Table, accounts: dict[str, Account], sources: Iterable[Source]) -> Evidence:
        """Events that were read in any order."""
        return cls(Events.in_memory(order(events)), accounts, tuple(sources))

    @classmethod
    def kept(cls, folder: Path, accounts: dict[str, Account], sources: Iterable[Source]) -> Evidence:
        """Events in the Parquet files of a folder; they stay there, and need not fit into memory."""
        return cls(Events.in_folder(folder), accounts, tuple(sources), folder)


def order(events: pa.Table) -> pa.Table:
    """The table in the order of its sources and of the lines in them: what both ways of making it give."""
    return events.sort_by(
        [
            ("source", "ascending"),
            ("line", "ascending"),
            ("at", "ascending"),
            ("kind", "ascending"),
            ("channel", "ascending"),
            ("segment", "ascending"),
            ("key", "ascending"),
        ]
    )


def account_for(accounts: dict[str, Account], other: Account) -> None:
    """Add the account of a piece to that of its file."""
    if other.name in accounts:
        accounts[other.name].add(other)
    else:
        accounts[other.name] = other


_TOGETHER = 1024
"""So many batches become one: a table in as many parts as there are files costs much memory."""


def gather(
    sources: Iterable[Source], *, size: int = 0, told: Callable[[int, int], None] = lambda _done, _all: None
) -> Evidence:
    """Read everything here, one piece after the other; files are not cut if ``size`` is 0.

    ``told`` hears after each piece how many have been read, of how many files.
    """
    listed = tuple(sources)
    accounts: dict[str, Account] = {}
    tables, batches = [SCHEMA.empty_table()], list[pa.RecordBatch]()
    for done, piece in enumerate(pieces(listed, size=size), 1):
        account = Account(piece.name)
        batches += read(piece, account)
        account_for(accounts, account)
        if len(batches) >= _TOGETHER:
            tables.append(pa.Table.from_batches(batches, schema=SCHEMA).combine_chunks())
            batches.clear()
        told(done, len(listed))
    tables.append(pa.Table.from_batches(batches, schema=SCHEMA))
    return Evidence.of(pa.concat_tables(tables), accounts, listed)


def write(events: pa.Table, path: Path) -> None:
    """The table as one Parquet file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(events, path, compression="zstd")
