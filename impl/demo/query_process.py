"""A query node in a process of its own, over the files of a cluster: its metadata, binlogs and logs.

It serves the channels that exist at its start, prints its port as JSON and ends when its input ends.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from pathlib import Path

from tidemark.impl.broker.reader import FileEntryLog
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.querynode.query_node import QueryNode, QueryNodePorts
from tidemark.impl.querynode.remote import answers_of
from tidemark.impl.querynode.values import ChannelDescription
from tidemark.impl.runtime import AsyncioClock
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.stream.packs import StreamPosition
from tidemark.impl.system.command import run_command
from tidemark.impl.system.line_server import LineServer
from tidemark.impl.system.standard_input import standard_input_ended
from tidemark.impl.types import MetaSnapshot


def descriptions(snapshot: MetaSnapshot) -> list[ChannelDescription]:
    """The coordinator's description of each channel at the time of the snapshot."""
    return [
        ChannelDescription(
            channel=record.channel,
            seek=StreamPosition(0, record.checkpoint),
            segments=tuple(segment for segment in snapshot.segments if segment.channel == record.channel),
        )
        for record in snapshot.channels
        if not record.dropped
    ]


async def serve(root: Path, node_id: str) -> None:
    """Serve until the input ends."""
    directory = ClusterDirectory(root)
    meta = SqliteMetaStore(directory.meta)
    snapshot = await meta.load()
    await meta.close()
    ports = QueryNodePorts(
        log=FileEntryLog(directory.logs, clock=AsyncioClock()), store=ParquetStore(directory.binlogs)
    )
    node = QueryNode(node_id=node_id, ports=ports)
    await asyncio.gather(*(node.watch(description) for description in descriptions(snapshot)))
    server = LineServer(answers_of(node))
    sys.stdout.write(json.dumps({"port": await server.start()}) + "\n")
    sys.stdout.flush()
    ended = asyncio.create_task(standard_input_ended())
    failed = asyncio.create_task(node.supervisor.wait_failed())
    await asyncio.wait([ended, failed], return_when=asyncio.FIRST_COMPLETED)
    if failed.done():
        failed.result()
    failed.cancel()
    await server.stop()
    await node.stop()


def main() -> int:
    """Command line of the process; the demonstration starts it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--node-id", required=True)
    given = parser.parse_args()
    return run_command(given.node_id, lambda: serve(given.dir, given.node_id), is_child=True)


if __name__ == "__main__":
    sys.exit(main())
