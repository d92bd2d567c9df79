"""Compares what a cluster that has ended has stored with its logs: every row once, none twice, none invented.

A delete is a row of a level-zero segment. It stays stored if its binlog was dropped: the object still exists.
A row may be missing from a segment that was written anew, if the log has a newer delete of its key.
"""

from collections import Counter
from pathlib import Path

from tidemark.impl.broker.channel_log import read_entries
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.types import Row
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, is_level_zero, rows_of


async def rows_in_logs(root: Path, config: ClusterConfig) -> list[Row]:
    """The messages of the logs as rows to store."""
    return [
        row
        for channel in config.channel_names
        for entry in await read_entries(ClusterDirectory(root).logs, channel)
        if isinstance(entry.message, InsertMessage | DeleteMessage)
        for row in rows_of(entry.message)
    ]


async def wrong_rows(root: Path, config: ClusterConfig) -> dict[str, set[Row]]:
    """Rows that are lost, stored twice or invented. Complete after a flush. Fails if the logs are empty."""
    logged, directory = Counter(await rows_in_logs(root, config)), ClusterDirectory(root)
    assert logged, "nothing was written"
    meta, store = SqliteMetaStore(directory.meta), ParquetStore(directory.binlogs)
    segments = (await meta.load()).segments
    await meta.close()
    stored: Counter[Row] = Counter()
    for segment in segments:
        for binlog in segment.binlogs:
            found = await store.get(binlog.path)
            assert tuple(row.ts for row in found) == binlog.row_positions, f"{binlog.path} differs"
            stored.update(found)
        for path in segment.compaction.applied if is_level_zero(segment.segment_id) else ():
            stored.update(await store.get(path))
    rewritten = {segment.segment_id for segment in segments if segment.compaction.start}

    def is_removed(row: Row) -> bool:
        later = any(is_level_zero(d.segment_id) and d.key == row.key and d.ts > row.ts for d in logged)
        return row.segment_id in rewritten and later

    wrong = {
        "lost": {row for row in logged - stored if not is_removed(row)},
        "doubled": {row for row, count in stored.items() if count > 1},
        "invented": {row for row in stored if row not in logged},
    }
    return {name: rows for name, rows in wrong.items() if rows}
