"""Mutants of dispatchers whose channel has ticks for ever: what only endless runs show.

The functions return the program of ``tidemark.models.protocols.dispatch.endless:endless`` with the fault in
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tidemark.impl.stream.dispatchers import MainDispatcher
from tidemark.impl.stream.manager import DispatcherManager, DispatcherParts
from tidemark.impl.stream.targets import Target
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.dispatch.endless import endless
from tidemark.models.protocols.dispatch.program import DispatchProgram

_ENDLESS = "dispatch-endless"


class _AsksAgain(MainDispatcher):
    def _may_split(self, target: Target) -> bool:
        del target
        return False


@mutant(killer="dispatch.ticks_reach_who_takes_them", source="facts 5.2; H50: who waits", instance=_ENDLESS)
def a_slow_target_is_asked_again(**scenario: Any) -> DispatchProgram:
    """A target that took nothing for too long is not split off: it is waited for once more, and the others
    with it.
    """
    return endless(parts=DispatcherParts(main=_AsksAgain), **scenario)


class _PausesNoDeputy(DispatcherManager):
    def next_step(self) -> Callable[[], None] | None:
        step = super().next_step()
        return None if step == self._pause_deputy else step


@mutant(killer="dispatch.a_merge_ends", source="facts 5.2; H50: the second pause", instance=_ENDLESS)
def a_merge_does_not_go_on(**scenario: Any) -> DispatchProgram:
    """The main dispatcher is paused for a merge, and the deputy is not: the check that both wait for never
    comes.
    """
    return endless(manager=_PausesNoDeputy, **scenario)
