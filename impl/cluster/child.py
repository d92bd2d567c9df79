"""A cluster in a process of its own, for those who want to kill it."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tidemark.impl.client.client import Client
from tidemark.impl.client.connection import TcpConnection
from tidemark.impl.client.history import History
from tidemark.impl.errors import ImplementationError


class ClusterEndedError(ImplementationError):
    """The process of the cluster has ended before it was ready, or in bad order."""


class ChildCluster:
    """One process. ``port``: where it listens. ``seconds``: from its start to its first answer."""

    def __init__(self, process: asyncio.subprocess.Process, port: int, seconds: float) -> None:
        self.process = process
        self.port = port
        self.seconds = seconds

    @staticmethod
    async def spawn(directory: Path, *options: str) -> asyncio.subprocess.Process:
        """Start a process, and do not wait until it serves."""
        command = ["-m", "tidemark.impl.cluster", "serve", "--dir", str(directory), *options]
        return await asyncio.create_subprocess_exec(
            sys.executable, *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )

    @classmethod
    async def start(cls, directory: Path, *options: str) -> ChildCluster:
        """Start a process over a directory, which may hold what earlier ones have left. Raise
        ClusterEndedError if it ends before it serves.
        """
        begun = time.monotonic()
        process = await cls.spawn(directory, *options)
        assert process.stdout is not None
        line = await process.stdout.readline()
        if not line:
            code = await process.wait()
            raise ClusterEndedError(f"the cluster ended with code {code} before it served; see its message")
        return cls(process, json.loads(line)["port"], time.monotonic() - begun)

    async def client(self, proxy: int, *, history: History | None = None) -> Client:
        """A client of one of its proxies, counted from 0."""
        return Client(await TcpConnection.to(self.port, proxy=proxy), history=history)

    async def kill(self) -> None:
        """SIGKILL: no handler runs, nothing is flushed."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()

    async def end(self) -> None:
        """Close its input and wait for the orderly end. Raise ClusterEndedError if it is not one."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = await self.process.wait()
        if code != 0:
            raise ClusterEndedError(f"the cluster ended with code {code}; see its message")


@asynccontextmanager
async def child_cluster(directory: Path, *options: str) -> AsyncIterator[ChildCluster]:
    """A process that never outlives its user."""
    child = await ChildCluster.start(directory, *options)
    try:
        yield child
    finally:
        await child.kill()
