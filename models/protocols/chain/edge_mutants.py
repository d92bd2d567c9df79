"""Mutants of the logs under the whole chain: what a proxy or a coordinator hears of them is not so.

The functions return the chain with one fault in it, and take the same arguments as
``tidemark.models.protocols.chain.edges:chain_over_edges``.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.broker.broker import ProxyStreams
from tidemark.impl.broker.channel_log import Append, ChannelLog
from tidemark.impl.broker.messages import Tick
from tidemark.impl.proxy.values import AppendOutcome, Message
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.chain.edges import EdgeChainProgram, ProxyLogs, chain_over_edges
from tidemark.models.protocols.timetick.takeover import TakeoverParts


class _ForgetsWhatWasGivenUp(ChannelLog):
    async def settle(self, source: int, ts: Timestamp) -> bool:
        found = await super().settle(source, ts)
        self.given_up.clear()
        return found


@mutant(killer="watermark_promise", source="hazard 12", instance="chain-edges-late", tier="full")
def given_up_message_comes_later(**scenario: Any) -> EdgeChainProgram:
    """A log says of a message that waits for a line that it never comes."""
    return chain_over_edges(edges=TakeoverParts(log=_ForgetsWhatWasGivenUp), **scenario)


class _SettlesAtOnce(ProxyStreams):
    async def settle(self, message: Message) -> AppendOutcome:
        del message
        return AppendOutcome.REFUSED


class _SettledAtOnce(ProxyLogs):
    proxies = _SettlesAtOnce


@mutant(killer="watermark_promise", source="hazard 12", instance="chain-edges-late", tier="full")
def late_message_is_not_settled(**scenario: Any) -> EdgeChainProgram:
    """An append whose time is up counts as refused."""
    return chain_over_edges(logs=_SettledAtOnce, **scenario)


class _TakesOldTicks(ChannelLog):
    def _refuse(self, append: Append) -> None:
        if not isinstance(append.message, Tick):
            super()._refuse(append)


@mutant(killer="ticks_never_go_back", source="hazards 12, 30", instance="chain-edges-crash", tier="full")
def tick_of_the_old_coordinator_is_taken(**scenario: Any) -> EdgeChainProgram:
    """A log that has been fenced takes ticks of earlier coordinators."""
    return chain_over_edges(edges=TakeoverParts(log=_TakesOldTicks), **scenario)
