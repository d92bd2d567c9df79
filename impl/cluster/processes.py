"""Roles in processes of their own: a whole cluster, one oracle of several.

Each prints its port as JSON when it serves, and ends when its standard input ends.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable
from pathlib import Path

from tidemark.impl.cluster.cluster import Cluster
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.directory import ClusterDirectory
from tidemark.impl.cluster.lines import heard_by, lines_into
from tidemark.impl.cluster.metrics import Heard, metrics_of
from tidemark.impl.cluster.server import answers_of
from tidemark.impl.runtime import AsyncioClock, NoPreemption
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.system.clocks import SystemSteadyClock, SystemWallClock
from tidemark.impl.system.connection import Json
from tidemark.impl.system.line_server import Handler, LineServer
from tidemark.impl.system.standard_input import standard_input_ended
from tidemark.impl.system.text_server import serve_text
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.ports import OraclePorts
from tidemark.impl.tso.server import OracleServer

SHORT_LEASE = OracleConfig(lease=2.0, lease_margin=0.5, renew_pause=0.4, campaign_pause=0.2)
"""Of an oracle that another one follows: no wait of 15 s."""


async def serve_cluster(
    directory: Path, config: ClusterConfig, *, log: Path | None = None, metrics: bool = False
) -> None:
    """Run a cluster until the input ends. Raises the failure of a role, OSError for ``log``.

    log: the file to which the lines of the roles are appended. metrics: answer HTTP with them, too.
    """
    heard = Heard()
    with heard_by(*([lines_into(log)] if log else []), *([heard] if metrics else [])):
        cluster = Cluster(directory, config=config)
        await cluster.start()
        ports = {}
        if metrics:
            shown = await serve_text(lambda: metrics_of(cluster, heard))
            ports = {"metrics": shown.sockets[0].getsockname()[1]}
        await _answer(answers_of(cluster.gateways), cluster.wait_failed(), **ports)
        if metrics:
            shown.close()
        await cluster.stop()


async def serve_oracle(root: Path, name: str, etcd: str) -> None:
    """Run one of several oracles, until the input or its term ends. ``etcd``: its store's address."""
    store = EtcdOracleStore(etcd) if etcd else SqliteOracleStore(ClusterDirectory(root).oracle)
    ports = OraclePorts(
        store=store,
        wall=SystemWallClock(),
        steady=SystemSteadyClock(),
        clock=AsyncioClock(),
        preemption=NoPreemption(),
    )
    oracle = OracleServer(name=name, ports=ports, config=SHORT_LEASE)

    async def handle(method: str, given: Json) -> Json:
        if method != "alloc":
            raise ValueError(f"method {method!r} is not known; alloc is")
        first, last = await oracle.allocate(given["count"])
        return {"first": first, "last": last}

    await _answer(handle, oracle.run())
    await store.close()


async def _answer(answers: Handler, failing: Awaitable[None], **ports: int) -> None:
    """Answer until the input or ``failing`` ends. Raises its failure. ``ports``: the other ones."""
    server = LineServer(answers)
    sys.stdout.write(json.dumps({"port": await server.start(), **ports}) + "\n")
    sys.stdout.flush()
    ended = asyncio.create_task(standard_input_ended())
    failed = asyncio.ensure_future(failing)
    await asyncio.wait([ended, failed], return_when=asyncio.FIRST_COMPLETED)
    if failed.done():
        failed.result()
    failed.cancel()
    await server.stop()
