"""Mutants of gateway and host: each as an override of one method, refuted by the reckonings of ``edge``."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
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
