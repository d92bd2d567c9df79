"""The process that is killed: a coordinator and a data node over the files of one directory.

It takes requests as lines on its standard input (``flush TS`` or ``flush TS seal SEGMENT...``) and reports
events as lines of JSON on its standard output. It ends when the input ends.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from pathlib import Path

from tidemark.impl.config import DataNodeConfig
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.datacoord.direct import DirectCoordinatorClient
from tidemark.impl.datacoord.flush_service import FlushService, FlushServiceConfig
from tidemark.impl.datanode.data_node import DataNode, DataNodePorts
from tidemark.impl.datanode.direct import DirectNodeClient
from tidemark.impl.runtime import AsyncioClock
from tidemark.impl.storage.file_log import FileLogReader
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.system.command import run_command
from tidemark.impl.timestamp import MILLISECOND
from tidemark.impl.types import SaveBinlogPaths, SaveOutcome, UpdateCheckpoints

CHANNEL = "demo-channel"
NODE_ID = "node-1"


def log_root(directory: Path) -> Path:
    """The folder of the log."""
    return directory / "log"


def binlog_root(directory: Path) -> Path:
    """The folder of the binlogs."""
    return directory / "binlogs"


def meta_file(directory: Path) -> Path:
    """The file of the coordinator's metadata."""
    return directory / "coordinator.sqlite"


def announce(event: str, **facts: object) -> None:
    """Report an event to the parent."""
    sys.stdout.write(json.dumps({"event": event, **facts}) + "\n")
    sys.stdout.flush()


class AnnouncingClient(DirectCoordinatorClient):
    """Reports the coordinator's answers."""

    def __init__(self, coordinator: Coordinator) -> None:
        super().__init__(coordinator)
        self._announced = coordinator

    async def save_binlog_paths(self, request: SaveBinlogPaths, *, deadline: float) -> SaveOutcome:
        """Record, then report."""
        outcome = await super().save_binlog_paths(request, deadline=deadline)
        rows = len(request.binlog.row_positions) if request.binlog is not None else 0
        announce("recorded", segment=request.segment_id, rows=rows, outcome=outcome.value)
        return outcome

    async def update_channel_checkpoints(self, request: UpdateCheckpoints, *, deadline: float) -> None:
        """Raise, then report the stored checkpoints."""
        await super().update_channel_checkpoints(request, deadline=deadline)
        announce("checkpoint", stored=self._announced.channel(CHANNEL).checkpoint)


class NodeProcess:
    """The parts of the process."""

    def __init__(self, *, directory: Path, full_buffer_bytes: int) -> None:
        clock = AsyncioClock()
        self.meta = SqliteMetaStore(meta_file(directory))
        self.coordinator = Coordinator(meta=self.meta)
        self.node = DataNode(
            node_id=NODE_ID,
            session=time.time_ns(),
            ports=DataNodePorts(
                clock=clock,
                log=FileLogReader(log_root(directory), clock=clock),
                store=ParquetStore(binlog_root(directory)),
                coordinator=AnnouncingClient(self.coordinator),
            ),
            config=DataNodeConfig(
                full_buffer_bytes=full_buffer_bytes,
                checkpoint_interval_ts=60 * MILLISECOND,
                checkpoint_tick_seconds=0.2,
            ),
        )
        self.flushes = FlushService(
            coordinator=self.coordinator,
            node=DirectNodeClient(self.node),
            clock=clock,
            config=FlushServiceConfig(poll_seconds=0.02),
        )

    async def run(self) -> None:
        """Recover, serve requests until the input ends, stop."""
        await self.coordinator.load()
        if CHANNEL not in self.coordinator.channels:
            await self.coordinator.assign(CHANNEL, NODE_ID)
        pipeline = await self.node.recover_channel(CHANNEL)
        recorded = {str(segment): end.ts for segment, end in pipeline.recovery_filter.recorded.items()}
        announce("recovered", seek=pipeline.write_buffer.consumed.ts, recorded=recorded)
        self.node.start()
        resumed = asyncio.create_task(self.flushes.resume())
        serving = asyncio.create_task(self._serve_requests())
        failing = asyncio.create_task(self.node.supervisor.wait_failed())
        await asyncio.wait([serving, failing], return_when=asyncio.FIRST_COMPLETED)
        for task in (serving, failing, resumed):
            if task.done():
                task.result()
            else:
                task.cancel()
        await self.node.stop()
        await self.meta.close()

    async def _serve_requests(self) -> None:
        requests = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(requests), sys.stdin)
        while line := await requests.readline():
            words = line.decode().split()
            flush_ts, segments = int(words[1]), [int(word) for word in words[3:]]
            await self.flushes.flush(CHANNEL, flush_ts, segments)
            announce("flushed", ts=flush_ts)


def main() -> int:
    """Command line of the process; the demonstration starts it."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--dir", type=Path, required=True)
    parser.add_argument("--full-buffer-bytes", type=int, required=True)
    options = parser.parse_args()
    process = NodeProcess(directory=options.dir, full_buffer_bytes=options.full_buffer_bytes)
    return run_command(NODE_ID, process.run, is_child=True)


if __name__ == "__main__":
    sys.exit(main())
