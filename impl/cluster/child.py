"""A cluster, or a part of one, in a process of its own, which can be killed."""

import asyncio
import json
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tidemark.impl.client.client import Client
from tidemark.impl.client.history import History
from tidemark.impl.errors import ImplementationError
from tidemark.impl.system.connection import TcpConnection


class ChildEndedError(ImplementationError):
    """A process ended before it was ready, or with an error."""


class Child:
    """A process that prints its port as JSON when it serves, and ends when its input ends.

    seconds: from its start to that line.
    """

    def __init__(self, process: asyncio.subprocess.Process, port: int, seconds: float) -> None:
        self.process = process
        self.port = port
        self.seconds = seconds

    async def client(self, proxy: int, *, history: History | None = None) -> Client:
        """A client of one of a cluster's proxies, counted from 0."""
        return Client(await TcpConnection.to(self.port, proxy=proxy), history=history)

    async def kill(self) -> None:
        """SIGKILL: no handler runs, nothing is flushed."""
        if self.process.returncode is None:
            self.process.kill()
        await self.process.wait()

    async def end(self) -> None:
        """Close its input and wait for the orderly end. Raise ChildEndedError if it is not one."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = await self.process.wait()
        if code != 0:
            raise ChildEndedError(f"the process ended with code {code}; see its message")


async def spawn(module: str, *options: str) -> asyncio.subprocess.Process:
    """Start a process without waiting until it serves. Ctrl-C does not reach it: its parent ends it."""
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", module, *options),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
    )


async def start(module: str, *options: str) -> Child:
    """Start a process and wait until it serves. Raise ChildEndedError if it ends before."""
    begun = time.monotonic()
    process = await spawn(module, *options)
    assert process.stdout is not None
    try:
        line = await process.stdout.readline()
    except asyncio.CancelledError:
        process.kill()
        raise
    if not line:
        code = await process.wait()
        raise ChildEndedError(f"{module} ended with code {code} before it served; see its message")
    return Child(process, json.loads(line)["port"], time.monotonic() - begun)


def cluster_command(directory: Path, *options: str) -> tuple[str, ...]:
    """The command for a cluster over a directory, new or used."""
    return ("tidemark.impl.cluster", "serve", "--dir", str(directory), *options)


@asynccontextmanager
async def child_cluster(directory: Path, *options: str) -> AsyncIterator[Child]:
    """A cluster that never outlives its user."""
    child = await start(*cluster_command(directory, *options))
    try:
        yield child
    finally:
        await child.kill()
