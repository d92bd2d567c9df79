"""Writes the messages of a cluster's logs for ``tidemark evidence``, one line each.

The form is that of docs/evidence.md; histories of clients already have theirs.
"""

import json
from pathlib import Path
from typing import Any

from tidemark.impl.broker.channel_log import read_entries
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.storage.files import SYSTEM_FILES, Files
from tidemark.impl.types import ChannelName
from tidemark.impl.values.messages import DdlMessage, DeleteMessage, Entry, InsertMessage, Tick


async def leave_messages(
    root: Path, file: Path, *, config: ClusterConfig, files: Files = SYSTEM_FILES
) -> int:
    """Write all messages of a stopped cluster into a file. Returns their number.

    ``files``: where both are. Raises StoreError for a log that cannot be read, OSError for the file.
    """
    directory = ClusterDirectory(root)
    lines = [
        json.dumps(line_of(channel, entry), separators=(",", ":"))
        for channel in config.channel_names
        for entry in await read_entries(directory.logs, channel, files=files)
    ]
    await files.write(file, "".join(f"{line}\n" for line in lines).encode())
    return len(lines)


def line_of(channel: ChannelName, entry: Entry) -> dict[str, Any]:
    """One message as a line."""
    facts: dict[str, Any]
    match entry.message:
        case Tick():
            facts = {"type": "tick"}
        case InsertMessage(_, shard, rows):
            facts = {"type": "insert", "shard": shard, "rows": len(rows), "segment": rows[0].segment_id}
        case DeleteMessage(_, shard, _, keys):
            facts = {"type": "delete", "shard": shard, "rows": len(keys)}
        case DdlMessage(_, shard, text):
            facts = {"type": text, "shard": shard}
    head = {"kind": "broker", "topic": channel, "id": entry.place}
    return {**head, "ts": entry.message.ts, "source": entry.source, **facts}
