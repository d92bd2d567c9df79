"""Mutants of the dispatchers of a channel on a steady clock: who waits for whom, and how long.

The functions return the program of ``tidemark.models.protocols.dispatch.life:life`` with the fault in it.
"""

from __future__ import annotations

from tidemark.impl.stream.dispatchers import MainDispatcher
from tidemark.impl.stream.manager import DispatcherManager
from tidemark.impl.stream.targets import Target
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.dispatch.life import DispatchLife, life
from tidemark.models.protocols.dispatch.stories import LOOKS, SERVED

LIFE = "dispatch-impl-life"


class _SplitsTheOnlyOne(MainDispatcher):
    def patience(self) -> float | None:
        return self._config.tolerant_seconds

    def _may_split(self, target: Target) -> bool:
        return target in self.owed and target.is_full


@mutant(killer=SERVED, source="facts 5.2: maxTolerantLag", instance=LIFE)
def who_is_alone_has_no_more_time() -> DispatchLife:
    """A target that is alone has as little time as one for which others wait, and is split off."""
    return life(main=_SplitsTheOnlyOne)


class _LooksAgainAndAgain(DispatcherManager):
    async def _run(self) -> None:
        while True:
            await self._preemption.point("dispatch.manage")
            step = self.next_step()
            if step is not None:
                step()
                self._changes.tell()


@mutant(killer=LOOKS, source="facts 5.2: the manager", instance=LIFE)
def the_manager_does_not_wait() -> DispatchLife:
    """The manager looks again and again: no other task of its process gets a turn."""
    return life(manager=_LooksAgainAndAgain)
