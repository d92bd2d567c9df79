"""Mutants of what lies under all rooms, each as an override of one small method. Rules make the others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any

from tidemark.impl.client.connection import Json
from tidemark.impl.client.line_server import LineServer
from tidemark.impl.proxy.config import ProxyConfig
from tidemark.impl.rpc import Calls
from tidemark.impl.runtime import Supervisor
from tidemark.impl.stepped_lock import SteppedLock
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.node.core import calls, configs, lines, locks, tasks


class _NeverSends(Calls):
    async def call(self, handler: Coroutine[Any, Any, Any], *, name: str, deadline: float) -> Any:
        if name != "DropChannel":
            return await super().call(handler, name=name, deadline=deadline)
        handler.close()
        return None


@mutant(killer=calls.ARRIVES, source="seed 000", instance="core-impl-calls")
def a_drop_is_not_sent(**scenario: Any) -> calls.CallsProgram:
    """A caller hears that its channel is dropped, and nobody was asked."""
    return calls.calls(calls_class=_NeverSends, **scenario)


class _StopsTheCallee(Calls):
    async def call(self, handler: Coroutine[Any, Any, Any], *, name: str, deadline: float) -> Any:
        task = asyncio.create_task(super().call(handler, name=name, deadline=deadline), name=f"around {name}")
        try:
            return await task
        except BaseException:
            for running in self.running:
                running.cancel()
            raise


@mutant(killer=calls.GOES_ON, source="seed 000", instance="core-impl-calls")
def who_gives_up_stops_the_callee(**scenario: Any) -> calls.CallsProgram:
    """A call whose caller has left ends half-way."""
    return calls.calls(calls_class=_StopsTheCallee, **scenario)


class _KeepsTheLast(Supervisor):
    async def _guard(self, work: Any) -> None:
        self.failure = None
        await super()._guard(work)

    def check(self) -> None:
        before, self.failure = self.failure, None
        if before is not None:
            raise before


@mutant(killer=tasks.FIRST, source="seed 000", instance="core-impl-tasks")
def a_failure_is_told_once(**scenario: Any) -> tasks.TasksProgram:
    """A failure that was raised once is forgotten."""
    return tasks.tasks(supervisor_class=_KeepsTheLast, **scenario)


class _AnyOrder(SteppedLock):
    @asynccontextmanager
    async def holding(self, point: str) -> AsyncIterator[None]:
        await self._preemption.point(point)
        async with super().holding(point):
            yield


@mutant(killer=locks.POINTS, source="facts 1", instance="core-impl-locks")
def everybody_passes_a_point(**scenario: Any) -> locks.LocksProgram:
    """Who has not waited passes the point of those who have."""
    return locks.locks(lock_class=_AnyOrder, **scenario)


class _OneAtATime(LineServer):
    async def _take_requests(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._turn = asyncio.Lock()
        await super()._take_requests(reader, writer)

    async def _answer(self, request: Json, writer: asyncio.StreamWriter) -> None:
        async with self._turn:
            await super()._answer(request, writer)


@mutant(killer=lines.ANSWERS, source="seed 002", instance="core-impl-lines")
def requests_wait_for_each_other(**scenario: Any) -> lines.LinesProgram:
    """A slow request holds back those behind it."""
    return lines.lines(server_class=_OneAtATime, **scenario)


class _GoesOnTaking(LineServer):
    async def stop(self) -> None:
        stopping = asyncio.create_task(super().stop(), name="stop")
        await asyncio.sleep(0)
        self._stopped = False
        await stopping


@mutant(killer=lines.STOPS, source="seed 002", instance="core-impl-lines")
def a_server_that_stops_goes_on_taking(**scenario: Any) -> lines.LinesProgram:
    """A request that arrives while a server stops is begun."""
    return lines.lines(server_class=_GoesOnTaking, **scenario)


def _without_ticks(**values: Any) -> ProxyConfig:
    if values.get("tick_interval_ts", 1) < 1:
        raise ValueError("tick_interval_ts must be at least 1")
    return ProxyConfig(**values)


@mutant(killer=configs.TAKEN, source="hazard 28", instance="core-impl-configs")
def an_interval_of_nothing_is_refused(**scenario: Any) -> configs.ConfigsProgram:
    """A proxy cannot be told to give each tick its own timestamp."""
    return configs.configs(made={**configs.CONFIGURATIONS, "proxy": _without_ticks}, **scenario)
