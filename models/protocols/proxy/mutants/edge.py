"""Mutants of gateway and host: each as an override of one method, refuted by the reckonings of ``edge``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from tidemark.impl.proxy.gateway import Gateway
from tidemark.impl.proxy.host import ProxyHost
from tidemark.impl.proxy.meta_cache import CollectionVersion
from tidemark.impl.proxy.proxy import Proxy
from tidemark.impl.proxy.queues import QueueKind
from tidemark.impl.proxy.writes import WriteTask
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.proxy.edge import gateway, host

Answer = TypeVar("Answer")


class _OneQueue(Gateway):
    async def _call(
        self, kind: QueueKind, component: str, execute: Callable[[Proxy, Timestamp], Awaitable[Answer]]
    ) -> Answer:
        del kind
        return await super()._call(QueueKind.DDL, component, execute)


@mutant(
    killer="no_call_waits_for_another",
    source="seed 004, 6.6.1: three queues",
    instance="proxy-impl-gateway",
)
def reads_wait_for_changes() -> gateway.GatewayLife:
    """Reads are tasks of the queue of changes."""
    return gateway.life(gateway=_OneQueue)


class _NotAgain(Gateway):
    def _check_again(self, task: WriteTask, known: CollectionVersion, proxy: Proxy) -> None:
        del task, known, proxy


@mutant(
    killer="rows_are_written_as_they_are_wanted",
    source="seed 002, DDL: a check before the timestamp alone",
    instance="proxy-impl-gateway",
)
def writes_are_checked_once() -> gateway.GatewayLife:
    """A write is not compared with the collection again when it has its timestamp."""
    return gateway.life(gateway=_NotAgain)


class _TakesWhatIsThere(ProxyHost):
    async def serving(self) -> Proxy:
        await self._there.wait()
        assert self.proxy is not None
        return self.proxy


@mutant(
    killer="callers_get_the_proxy_that_serves",
    source="hazard 10: the coordinator does not wait for a proxy that it does not know",
    instance="proxy-impl-host",
)
def callers_get_a_proxy_too_early() -> host.HostLife:
    """Whoever asks for the proxy is told one that does not serve yet."""
    return host.life(host=_TakesWhatIsThere)


class _OneRun(Gateway):
    async def insert_values(
        self, collection: str, values: Sequence[str]
    ) -> tuple[Timestamp, tuple[int, ...]]:
        ids = (await self._host.serving()).ids
        if not values or ids is None:
            return await super().insert_values(collection, values)
        runs = await ids.take(len(values))
        keys = tuple(range(runs[0].first, runs[0].first + len(values)))
        return await self.insert(collection, list(zip(keys, values, strict=True))), keys


@mutant(killer="rows_are_written_as_they_are_wanted", source="seed 004, 6.0", instance="proxy-impl-gateway")
def keys_run_on_behind_a_batch() -> gateway.GatewayLife:
    """Rows get the ids that follow the first one, whoever has those."""
    return gateway.life(gateway=_OneRun)
