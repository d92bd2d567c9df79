"""One oracle process of the demonstration: ``python -m tidemark.impl.demo.oracle_process``.

It prints its port. A request is a line with a number of timestamps; the answer is a line with the first and
the last of them, or with ``!`` and the reason why there are none.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from tidemark.impl.errors import ImplementationError
from tidemark.impl.runtime import AsyncioClock, NoPreemption
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.system.clocks import SystemSteadyClock, SystemWallClock
from tidemark.impl.system.command import run_command
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.ports import OraclePorts, OracleStore
from tidemark.impl.tso.server import OracleServer

CONFIG = OracleConfig(lease=2.0, lease_margin=0.5, renew_pause=0.4, campaign_pause=0.2)
"""A short lease: a demonstration does not wait for 15 s."""


def main() -> int:
    """Serve until the term has ended, or the process is killed."""
    parser = argparse.ArgumentParser(prog="python -m tidemark.impl.demo.oracle_process")
    parser.add_argument("--name", required=True, help="name of this server")
    parser.add_argument("--store", required=True, help="address of etcd, or file of SQLite")
    arguments = parser.parse_args()
    return run_command(arguments.name, lambda: serve(arguments.name, arguments.store), is_child=True)


async def serve(name: str, where: str) -> None:
    """Answer while the server runs."""
    store: OracleStore = (
        EtcdOracleStore(where) if where.startswith("http://") else SqliteOracleStore(Path(where))
    )
    ports = OraclePorts(
        store=store,
        wall=SystemWallClock(),
        steady=SystemSteadyClock(),
        clock=AsyncioClock(),
        preemption=NoPreemption(),
    )
    oracle = OracleServer(name=name, ports=ports, config=CONFIG)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            writer.write(await _answer(oracle, line))
            await writer.drain()
        writer.close()

    listener = await asyncio.start_server(answer, "127.0.0.1", 0)
    print(listener.sockets[0].getsockname()[1], flush=True)
    await oracle.run()
    print(f"{name} stopped: {oracle.stopped}", flush=True)


async def _answer(oracle: OracleServer, line: bytes) -> bytes:
    try:
        first, last = await oracle.allocate(int(line))
    except (ImplementationError, ValueError) as refused:
        return f"! {refused}\n".encode()
    return f"{first} {last}\n".encode()


if __name__ == "__main__":
    sys.exit(main())
