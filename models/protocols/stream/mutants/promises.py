"""Mutants of the broker's log as those who append see it: each overrides one method.

The functions return the program ``tidemark.models.protocols.stream.promises:promises`` with the fault in it.
"""

from __future__ import annotations

from collections.abc import Sequence

from tidemark.impl.broker.channel_log import Append, ChannelLog
from tidemark.impl.errors import RpcError, StoreError
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.stream.promises import ANSWERED, FENCED, RULED_OUT, LogPromises, promises

_PROMISES = "stream-log-promises"


class _LooksOnce(ChannelLog):
    def _take(self) -> list[Append]:
        waiting, self.waiting = self.waiting, []
        return waiting


@mutant(killer=RULED_OUT, source="hazard 11: given up", instance=_PROMISES)
@mutant(
    killer=FENCED,
    source="hazard 11",
    instance=_PROMISES,
    name="an-append-that-waits-is-written-for-the-fenced",
)
def an_append_that_waits_is_not_looked_at_again() -> LogPromises:
    """What waits for its line is written, though it was given up or its source was fenced meanwhile."""
    return promises(log=_LooksOnce)


class _SaysNo(ChannelLog):
    async def _write(self, taken: Sequence[Append]) -> None:
        try:
            await super()._write(taken)
        except StoreError as failure:
            for append in taken:
                append.done.set_exception(RpcError(f"not written: {failure}"))


@mutant(killer=ANSWERED, source="B54: unknown", instance=_PROMISES)
def a_disk_that_fails_refuses() -> LogPromises:
    """An append of which nobody knows whether it is in the file counts as refused."""
    return promises(log=_SaysNo)


class _FollowsTheLast(ChannelLog):
    async def follow(self, coordinator: int) -> None:
        self.coordinator = coordinator
        await self._end_of_turn()


@mutant(killer=FENCED, source="B46: two coordinators", instance=_PROMISES)
def an_older_coordinator_is_followed_again() -> LogPromises:
    """A log that follows a coordinator goes back to an older one that asks later."""
    return promises(log=_FollowsTheLast)
