"""Cross-checks the files of a stopped cluster."""

from __future__ import annotations

from pathlib import Path

from tidemark.impl.broker.channel_log import read_entries
from tidemark.impl.cluster.audit import Audit, audit
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.storage.files import SYSTEM_FILES, Files
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.storage.transactions import Database
from tidemark.impl.types import Row
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, rows_of


async def rows_in_logs(root: Path, config: ClusterConfig, *, files: Files = SYSTEM_FILES) -> list[Row]:
    """The messages of the logs as rows to store: a delete is a row of its level-zero segment.

    ``files``: their file system. Raises StoreError for a log that cannot be read.
    """
    directory = ClusterDirectory(root)
    return [
        row
        for channel in config.channel_names
        for entry in await read_entries(directory.logs, channel, files=files)
        if isinstance(entry.message, InsertMessage | DeleteMessage)
        for row in rows_of(entry.message)
    ]


async def audit_cluster(
    root: Path, config: ClusterConfig, *, files: Files = SYSTEM_FILES, database: Database | None = None
) -> Audit:
    """Compares recorded binlogs with the logs: complete after a flush.

    ``files``: the file system of both. ``database``: the connection to the records. Raises StoreError for
    records or a log that cannot be read.
    """
    directory = ClusterDirectory(root)
    meta = SqliteMetaStore(directory.meta, database=database)
    try:
        snapshot = await meta.load()
    finally:
        await meta.close()
    rows = await rows_in_logs(root, config, files=files)
    return await audit(rows, snapshot, ParquetStore(directory.binlogs, files=files))
