"""Mutants of the logs under the whole chain: what a proxy or a coordinator hears of them is not so."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.chain.edges import chain_over_edges

LATE = Host("chain-edges-late", chain_over_edges)
PROMISE = "watermark_promise"

MUTANTS = patches(
    __name__,
    Patch(
        "given-up-message-comes-later",
        at="broker/channel_log.py:ChannelLog.settle",
        old="return any(",
        new="self.given_up.clear()\n        return any(",
        killer=PROMISE,
        on=LATE,
        source="hazard 12",
        tier="full",
        says="A log says of a message that waits for a line that it never comes.",
    ),
    Patch(
        "late-message-is-not-settled",
        at="broker/broker.py:ProxyStreams.settle",
        old="await self._broker.log(message.channel).settle(self._source, message.ts)",
        new="False",
        killer=PROMISE,
        on=LATE,
        source="hazard 12",
        tier="full",
        says="An append whose time is up counts as refused.",
    ),
    Patch(
        "tick-of-the-old-coordinator-is-taken",
        at="broker/channel_log.py:ChannelLog._refuse",
        old="source != self.coordinator",
        new="source != self.coordinator and not isinstance(append.message, Tick)",
        killer="ticks_never_go_back",
        on=Host("chain-edges-crash", chain_over_edges),
        source="hazards 12, 30",
        tier="full",
        says="A log that has been fenced takes ticks of earlier coordinators.",
    ),
)
