"""Mutants of gateway and host: each as an override of one method, refuted by the reckonings of ``edge``."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from tidemark.impl.proxy.gateway import Gateway, ReadReply
from tidemark.impl.proxy.host import ProxyHost
from tidemark.impl.proxy.meta_cache import CollectionVersion
from tidemark.impl.proxy.proxy import Proxy, ProxyParts
from tidemark.impl.proxy.queues import QueueKind
from tidemark.impl.proxy.reads import ConsistencyLevel
from tidemark.impl.proxy.scheduler import TaskScheduler
from tidemark.impl.proxy.values import AppendOutcome, DmlTask, TaskPhase
from tidemark.impl.proxy.writes import WriteTask
from tidemark.impl.queries.pages import Page
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


class _AsText(Page):
    def cut(self, rows: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
        rest = [row for row in rows if self.after is None or row[0] > self.after]
        keys = sorted(dict(rest), key=str)[: self.limit]
        return tuple(row for row in rest if row[0] in keys)


class _NoZero(Page):
    def cut(self, rows: Sequence[tuple[int, str]]) -> tuple[tuple[int, str], ...]:
        return Page.cut(self if self.after else Page(self.limit), rows)


class _OtherPages(Gateway):
    pages: type[Page]

    async def read(
        self, collection: str, level: ConsistencyLevel, *, page: Page | None = None, **asked: Any
    ) -> ReadReply:
        other = None if page is None else self.pages(page.limit, page.after, page.moments)
        return await super().read(collection, level, page=other, **asked)


class _PagesAsText(_OtherPages):
    pages = _AsText


class _PagesFromZero(_OtherPages):
    pages = _NoZero


@mutant(killer="clients_hear_what_became_of_their_calls", source="facts 6.2", instance="proxy-impl-gateway")
def pages_are_cut_by_keys_as_text() -> gateway.GatewayLife:
    """A page has the first keys in the order of texts: 10 comes before 4."""
    return gateway.life(gateway=_PagesAsText)


@mutant(killer="clients_hear_what_became_of_their_calls", source="facts 6.2", instance="proxy-impl-gateway")
def a_page_after_zero_is_the_first() -> gateway.GatewayLife:
    """The key 0 counts as none."""
    return gateway.life(gateway=_PagesFromZero)


class _EndsWithTheFirst(TaskScheduler):
    async def execute(self, task: DmlTask) -> None:
        if task.error is None:
            await task.prepare()
        missing = [channel for channel in task.channels if channel not in task.outcomes]
        produces = [asyncio.create_task(self._produce(task, channel), name=channel) for channel in missing]
        for produce in produces:
            await produce
            if AppendOutcome.REFUSED in task.outcomes.values():
                break
        task.phase = TaskPhase.FINISHED
        task.answered.set()
        await self._settle_all(task)
        await self.queue.pop(task)


@mutant(killer="clients_hear_what_became_of_their_calls", source="facts 3.1", instance="proxy-impl-gateway")
def a_write_ends_with_its_first_refusal() -> gateway.GatewayLife:
    """A client is answered when one log has refused, while others may still take the rows."""
    return gateway.life(parts=ProxyParts(scheduler=_EndsWithTheFirst))
