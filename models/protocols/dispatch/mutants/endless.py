"""Mutants of dispatchers whose channel has ticks for ever: what only endless runs show."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.dispatch.program.endless import endless

ENDLESS = Host("dispatch-endless", endless)

MUTANTS = patches(
    __name__,
    Patch(
        "a-slow-target-is-asked-again",
        at="stream/dispatchers.py:MainDispatcher._may_split",
        old="target in self.owed and target.is_full and len(self.targets) > 1",
        new="False",
        killer="dispatch.ticks_reach_who_takes_them",
        on=ENDLESS,
        source="facts 5.2; H50: who waits",
        says="A target that took nothing for too long is waited for once more, and the others with it.",
    ),
    Patch(
        "a-merge-does-not-go-on",
        at="stream/manager.py:DispatcherManager._next_of_a_merge",
        old="return self._pause_deputy if",
        new="return None if",
        killer="dispatch.a_merge_ends",
        on=ENDLESS,
        source="facts 5.2; H50: the second pause",
        says="The main dispatcher is paused for a merge, and the deputy is not: no second check comes.",
    ),
)
