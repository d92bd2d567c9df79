"""Mutants of a consumer that is asked in attempts: what only endless runs show, and what a time-out loses."""

from typing import Any

from tidemark.models.mutation.declared import mutant
from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.stream.program.endless import AttemptsProgram, endless

ENDLESS = Host("stream-endless", endless)
FOLLOW = "stream.packs_follow_ticks"


@mutant(killer=FOLLOW, source="facts 5.1: an attempt ends", instance=ENDLESS.entry)
def the_caller_gives_up(**scenario: Any) -> AttemptsProgram:
    """After an attempt that has brought no pack the caller asks no more."""
    return endless(asks_again=False, **scenario)


MUTANTS = patches(
    __name__,
    Patch(
        "attempts-wait-for-equal-ticks",
        at="stream/minimum.py:MinimumConsumer._is_level",
        old="reader.tick >",
        new="reader.tick == self.readers[0].tick >",
        killer=FOLLOW,
        on=ENDLESS.like(protocol="tidemark.models.protocols.stream.mutants.minimum:WaitsForEqualTicks"),
        source="H32: who waits",
        says="A pack waits until all channels are at the same tick, as in Milvus: each attempt fails.",
    ),
    Patch(
        "a-time-out-skips-a-place",
        at="stream/reader.py:ChannelReader.read_one",
        old="self._ahead.extend(await self._log.read(self.channel, self.read + 1))",
        new="self.read += 1\n            self._ahead.extend(await self._log.read(self.channel, self.read))",
        killer="stream.what_was_read_is_kept",
        on=ENDLESS,
        source="facts 5.1: an attempt ends",
        says="A place counts as read while the reader waits for it: an attempt that ends then leaves it out.",
    ),
)
