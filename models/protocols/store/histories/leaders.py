"""The oracle's stores as kinds: leases on a steady clock that a script moves, in SQLite, in memory and in etcd."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any, ClassVar

from tidemark.impl.storage.etcd_client import EtcdClient
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.storage.memory_oracle import MemoryOracleStore
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.tso.ports import Leadership, OracleStore
from tidemark.models.protocols.common import etcd
from tidemark.models.protocols.store.histories import contracts
from tidemark.models.protocols.store.histories.faults import Faults
from tidemark.models.protocols.store.histories.gateway import HOST, PORT, Gateway
from tidemark.models.protocols.store.histories.kinds import Kind, _InSqlite
from tidemark.models.protocols.store.histories.order import Answer, Call, State
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

POLL = 0.75
"""Seconds between two looks at the key of another."""


class _Leading(Kind):
    """What is common to the stores of the oracle. Terms are named by their numbers: 1, 2, ..."""

    first = contracts.Window()

    def __init__(self, world: World, faults: Faults) -> None:
        super().__init__(world, faults)
        self.shown = 1000.0
        self.terms: dict[int, Leadership] = {}

    def monotonic(self) -> float:
        """See SteadyClock."""
        return self.shown

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        return contracts.window(state, call)

    async def perform(self, adapter: OracleStore, call: Call) -> Answer:
        """See Kind."""
        match call:
            case ("pass", (seconds,)):
                self.shown += seconds
            case ("campaign", (server, lease)):
                found = await adapter.campaign(server, lease=lease)
                return None if found is None else self._won(found)
            case ("renew", (term, _)):
                await adapter.renew(self.terms[term])
            case ("resign", (term,)):
                await adapter.resign(self.terms[term])
            case ("save", (end, term)):
                await adapter.save(end, self.terms[term])
            case ("wait_vacant", ()):
                begun = asyncio.get_running_loop().time()
                await adapter.wait_vacant()
                waited = asyncio.get_running_loop().time() - begun
                return {0.0: False, POLL: True}.get(waited, waited)
            case _:
                return await super().perform(adapter, call)
        return contracts.DONE

    def can(self, call: Call) -> bool:
        """See Kind. Who was not told of a term does not know it."""
        place = {"renew": 0, "resign": 0, "save": 1}.get(call.name)
        return place is None or call.arguments[place] in self.terms

    def _won(self, found: Leadership) -> Answer:
        self.terms[found.term] = found
        return found.server, found.term, found.lease


class SqliteWindow(_Leading, _InSqlite):
    """In SQLite."""

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process, name
        return SqliteOracleStore(Path("oracle"), steady=self, poll=POLL, database=self.database())


class MemoryWindow(_Leading):
    """In memory."""

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process, name
        return MemoryOracleStore(steady=self, poll=POLL)


class EtcdWindow(_Leading):
    """In etcd, through its client. Leases have whole seconds, and end when the script says so."""

    closed = 0
    endpoint: ClassVar[str] = f"http://{HOST}:{PORT}"

    def __init__(self, world: World, faults: Faults) -> None:
        super().__init__(world, faults)
        self.gateway = Gateway(faults)
        self._clients: list[EtcdClient] = []

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        match call:
            case ("campaign", (server, lease)):
                return contracts.window(state, Call("campaign", (server, float(math.ceil(lease)))))
            case ("lapse", ()):
                return state._replace(expires=state.now), contracts.DONE
            case ("vacancy", ()):
                return state._replace(expires=state.now), 0.0
        return super().contract(state, call)

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process
        client = EtcdClient(self.endpoint, timeout=4.0, connect=self.gateway.connect)
        return EtcdOracleStore(self.endpoint, prefix=name, client=client)

    async def perform(self, adapter: Any, call: Call) -> Answer:
        """See Kind. ``vacancy``: the lease of the leader ends while somebody waits for that."""
        match call:
            case ("lapse", ()):
                self.gateway.end_lease(self._leader())
                return contracts.DONE
            case ("vacancy", ()):
                self.gateway.leaves = self._leader()
                before = self.gateway.passed
                await adapter.wait_vacant()
                return self.gateway.passed - before
            case ("close", ()):
                await adapter.close()
                return len(self.gateway.open)
        return await super().perform(adapter, call)

    def _leader(self) -> int:
        return max((pair.lease for _, pair in self.gateway.content[etcd.KEYS]), default=0)

    def _won(self, found: Leadership) -> Answer:
        """Leases are numbers of etcd's own; here they are counted as they win the key."""
        number = len(self.terms) + 1
        self.terms[number] = found
        return found.server, number, found.lease
