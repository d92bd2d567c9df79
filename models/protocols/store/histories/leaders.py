"""The oracle's stores as kinds: in SQLite, in memory, in etcd. A script moves the steady clock of leases."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from tidemark.impl.errors import StoreError
from tidemark.impl.storage.etcd_client import EtcdClient, KeyRange, decode, encode
from tidemark.impl.storage.etcd_oracle import EtcdOracleStore
from tidemark.impl.storage.memory_oracle import MemoryOracleStore
from tidemark.impl.storage.sqlite_oracle import SqliteOracleStore
from tidemark.impl.tso.ports import Leadership, OracleStore
from tidemark.models.protocols.common import etcd
from tidemark.models.protocols.store.histories import contracts
from tidemark.models.protocols.common.faults import Faults
from tidemark.models.protocols.common.etcd_gateway import HOST, PORT, Gateway
from tidemark.models.protocols.store.histories.kinds import InSqlite, Kind
from tidemark.models.protocols.store.histories.order import Answer, Call, State
from tidemark.models.simulation.world.process import Process
from tidemark.models.simulation.world.world import World

POLL = 0.75
"""Seconds between two looks at the key of another."""


class Leading(Kind):
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


class SqliteWindow(Leading, InSqlite):
    """In SQLite."""

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process, name
        return SqliteOracleStore(Path("oracle"), steady=self, poll=POLL, database=self.database())


class MemoryWindow(Leading):
    """In memory."""

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process, name
        return MemoryOracleStore(steady=self, poll=POLL)


class EtcdWindow(Leading):
    """In etcd, through its client. Leases have whole seconds, and end when the script says so."""

    closed = (0, True)
    endpoint: ClassVar[str] = f"http://{HOST}:{PORT}"

    def __init__(self, world: World, faults: Faults) -> None:
        super().__init__(world, faults)
        self.gateway = Gateway(faults)
        self._client: EtcdClient | None = None

    def contract(self, state: State, call: Call) -> tuple[State, Answer] | None:
        """See Kind."""
        match call:
            case ("campaign", (server, lease)):
                return contracts.window(state, Call("campaign", (server, float(math.ceil(lease)))))
            case ("lapse", ()):
                return state._replace(expires=state.now), contracts.DONE
            case ("vacancy", (silent,)):
                return state._replace(expires=state.now), (silent > 0, silent + 1)
            case ("leases", ()):
                return state, int(state.held)
            case ("keys", ()):
                return state, (("w/leader",) if state.held else ()) + (("w/window",) if state.saved else ())
            case ("reach" | "hear" | "follow", (_, expected)):
                return state, expected
        return super().contract(state, call)

    def give(self, what: Any) -> None:
        """See Kind: keys and values."""
        for key, value in what:
            self.gateway.answer("/v3/kv/put", {"key": encode(key), "value": encode(value)})

    def adapter(self, process: Process, name: str) -> Any:
        """See Kind."""
        del process
        self._client = EtcdClient(self.endpoint, timeout=4.0, connect=self.gateway.connect)
        return EtcdOracleStore("http://elsewhere", prefix=name, client=self._client)

    async def perform(self, adapter: Any, call: Call) -> Answer:
        """See Kind. ``vacancy``: the lease of the leader ends while somebody waits for that, after so many
        watches that hear nothing. Whether time has passed is said, and how many watches there were.
        """
        match call:
            case ("lapse", ()):
                self.gateway.end_lease(self._leader())
                return contracts.DONE
            case ("vacancy", (silent,)):
                self.gateway.leaves, self.gateway.silent = self._leader(), silent
                passed, watches = self.gateway.passed, self.gateway.watches
                await adapter.wait_vacant()
                return self.gateway.passed > passed, self.gateway.watches - watches
            case ("close", ()):
                await adapter.close()
                assert self._client is not None
                return len(self.gateway.open), self._client._workers._shutdown  # noqa: SLF001
            case ("leases", ()):
                return len(self.gateway.content[etcd.LEASES])
            case ("keys", ()):
                return tuple(sorted(decode(key).decode() for key, _ in self.gateway.content[etcd.KEYS]))
            case ("reach", (endpoint, _)):
                return await self._reached(endpoint)
            case ("hear", (lines, _)):
                assert self._client is not None
                self.gateway.says, passed = list(lines), self.gateway.passed
                await self._client.wait_for_event("another", revision=1, seconds=2.5)
                return self.gateway.passed - passed
            case ("follow", (lines, _)):
                assert self._client is not None
                self.gateway.says = list(lines)
                return await self._client.first_change(KeyRange("w/"), after=7, seconds=2.5)
        return await super().perform(adapter, call)

    async def _reached(self, endpoint: str) -> Answer:
        """The host, port and time-out of the connection that a client of this endpoint makes."""
        found: list[Answer] = []

        def connect(host: str, port: int, *, timeout: float) -> Any:
            found.append((host, port, timeout))
            return self.gateway.connect("nowhere", port, timeout=timeout)

        client = EtcdClient(endpoint, timeout=3.0, connect=connect)
        with suppress(StoreError):
            await client.call("/v3/kv/range", {})
        return found[0]

    def left_open(self) -> str | None:
        """See Kind. One thread has one connection, and whatever it has read is read to the end."""
        return f"{len(self.gateway.open)} connections" if len(self.gateway.open) > 1 else None

    def _leader(self) -> int:
        return max((pair.lease for _, pair in self.gateway.content[etcd.KEYS]), default=0)

    def _won(self, found: Leadership) -> Answer:
        """Leases are numbers of etcd's own; here they are counted as they win the key."""
        number = len(self.terms) + 1
        self.terms[number] = found
        return found.server, number, found.lease
