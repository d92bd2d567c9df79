"""What the files of a cluster that has ended hold, against each other."""

from __future__ import annotations

from pathlib import Path

from tidemark.impl.broker.channel_log import read_entries
from tidemark.impl.broker.messages import DeleteMessage, InsertMessage, rows_of
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.demo.audit import Audit, audit
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.types import Row


async def rows_in_logs(root: Path, config: ClusterConfig) -> list[Row]:
    """What the logs hold, as rows that are to be stored: a delete is a row of its level-zero segment."""
    directory = ClusterDirectory(root)
    return [
        row
        for channel in config.channel_names
        for entry in await read_entries(directory.logs, channel)
        if isinstance(entry.message, InsertMessage | DeleteMessage)
        for row in rows_of(entry.message)
    ]


async def audit_cluster(root: Path, config: ClusterConfig) -> Audit:
    """What is stored in recorded binlogs, against the logs: complete after a flush."""
    directory = ClusterDirectory(root)
    meta = SqliteMetaStore(directory.meta)
    try:
        snapshot = await meta.load()
    finally:
        await meta.close()
    return await audit(await rows_in_logs(root, config), snapshot, ParquetStore(directory.binlogs))
