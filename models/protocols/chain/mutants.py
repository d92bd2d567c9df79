"""The mutants of the parts, in the whole chain: what they do to the logs.

The functions return the chain with one fault in it, and take the same arguments as
``tidemark.models.protocols.chain.program:chain``.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.proxy.proxy import Proxy, ProxyParts
from tidemark.impl.proxy.queues import QueueKind
from tidemark.impl.proxy.values import DmlTask
from tidemark.impl.rootcoord.ddl_source import DdlSource
from tidemark.impl.rootcoord.root_coord import RootCoord, RootCoordParts
from tidemark.impl.rootcoord.time_tick_sync import TimeTickSync
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.chain.ddl import DdlChainProgram, ddl_chain
from tidemark.models.protocols.chain.program import ChainProgram, chain
from tidemark.models.protocols.proxy.mutants import implementation as proxy_impl
from tidemark.models.protocols.timetick.mutants import implementation as timetick_impl


@mutant(killer="watermark_promise", source="hazard 26, B7", instance="chain-one-write")
def lock_is_lost(**scenario: Any) -> ChainProgram:
    """Timestamps enter the statistics in any order (hazard 26)."""
    return chain(proxy_parts=ProxyParts(queue=proxy_impl.Unlocked), **scenario)


@mutant(killer="watermark_promise", source="hazard 24", instance="chain-one-write")
def now_after_the_snapshot(**scenario: Any) -> ChainProgram:
    """The tick takes the snapshot, then fetches its timestamp (hazard 24)."""
    return chain(proxy_parts=ProxyParts(ticker=proxy_impl.SnapshotFirst), **scenario)


@mutant(killer="watermark_promise", source="hazard 25, B6", instance="chain-one-write")
def no_minus_one(**scenario: Any) -> ChainProgram:
    """The tick publishes minTs itself (hazard 25, B6)."""
    return chain(proxy_parts=ProxyParts(ticker=proxy_impl.NoMinusOne), **scenario)


@mutant(killer="watermark_promise", source="hazard 12", instance="chain-late-append", tier="full")
def unknown_outcome_is_popped(**scenario: Any) -> ChainProgram:
    """A produce that timed out is over (hazard 12)."""
    return chain(proxy_parts=ProxyParts(scheduler=proxy_impl.IgnoresTheUnknown), **scenario)


@mutant(killer="watermark_promise", source="B45", instance="chain-one-write")
def ddl_key_collides(**scenario: Any) -> ChainProgram:
    """The DDL report replaces the proxy's (B45)."""
    return chain(root_parts=RootCoordParts(sync=timetick_impl.Collides), **scenario)


@mutant(killer="watermark_promise", source="facts 4", instance="chain-one-write")
def tick_is_the_greatest_report(**scenario: Any) -> ChainProgram:
    """The tick is the maximum over the sessions."""
    return chain(root_parts=RootCoordParts(sender=timetick_impl.Greatest), **scenario)


class _OneProxyCloses(TimeTickSync):
    def _is_complete(self) -> bool:
        return len([source for source, report in self.entries.items() if report is not None]) > 1


@mutant(killer="watermark_promise", source="facts 4", instance="chain-one-write-of-two", tier="full")
def one_proxy_closes_the_round(**scenario: Any) -> ChainProgram:
    """A round is over when the DDL source and any one proxy have reported."""
    return chain(root_parts=RootCoordParts(sync=_OneProxyCloses), **scenario)


class _TakesWritesAtOnce(Proxy):
    async def submit(self, task: DmlTask, kind: QueueKind = QueueKind.DML) -> None:
        await self.queues.submit(kind, task)


@mutant(killer="watermark_promise", source="hazard 10", instance="chain-early-write")
def writes_before_it_serves(**scenario: Any) -> ChainProgram:
    """A proxy takes a write before the coordinator waits for it (hazard 10)."""
    return chain(proxy=_TakesWritesAtOnce, **scenario)


class _NoScheduler(DdlSource):
    async def minimum(self) -> Timestamp:
        background = await self.lock_manager.min_ddl_ts()
        await self._preemption.point("ddl.scheduler")
        return background


@mutant(killer="watermark_promise", source="seed 002, sendMinDdlTsAsTt", instance="chain-ddl-task-and-job")
def default_minimum_ignores_the_scheduler(**scenario: Any) -> DdlChainProgram:
    """The coordinator's own DDL source leaves the tasks of clients out."""
    return ddl_chain(parts=RootCoordParts(ddl=_NoScheduler), **scenario)


class _DummiesEnd(RootCoord):
    async def _run_dummies(self) -> None:
        while True:
            await self._ports.clock.sleep(self._config.dummy_seconds)
            await self.ddl.run_dummy()


@mutant(killer="execution", source="B11", instance="chain-ddl-silent-oracle")
def one_silent_oracle_ends_the_dummies(**scenario: Any) -> DdlChainProgram:
    """A call of the oracle fails, and with it the loop that moves the minimum: no tick is sent any more."""
    return ddl_chain(coordinator=_DummiesEnd, **scenario)
