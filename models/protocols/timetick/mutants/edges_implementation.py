"""Mutants of the logs under a coordinator that takes over: what a fence is not.

The two functions compare their fault with the variant of the specification that makes the same mistake: so
what is refuted is a property and not only the likeness.
"""

from __future__ import annotations

from typing import Any

from tidemark.models.mutation.declared import mutant
from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.timetick.takeover import TakeoverProgram, takeover

LOG = "broker/channel_log.py:ChannelLog."
_VARIANTS = "tidemark.models.protocols.timetick.mutants.edges"
FENCED = "source != self.coordinator"
TICK = Host("timetick-edges-tick", takeover)
CRASH = Host("timetick-edges-crash", takeover)

MUTANTS = patches(
    __name__,
    Patch(
        "fence-is-not-waited-for",
        at=LOG + "follow",
        old="await self._end_of_turn()",
        new="pass",
        killer="refinement",
        on=TICK,
        source="hazards 12, 30",
        says="A log says its last tick while a line of the predecessor is being written.",
    ),
    Patch(
        "last-tick-is-read-before-the-fence",
        at="broker/broker.py:CoordinatorStreams.last_tick",
        old="await log.follow(self.source)\n        return log.last_tick",
        new="found = log.last_tick\n        await log.follow(self.source)\n        return found",
        killer="refinement",
        on=TICK,
        source="hazard 30",
        says="A coordinator asks for the last tick, and then for the fence.",
    ),
    Patch(
        "fence-of-a-session-is-not-waited-for",
        at=LOG + "fence",
        old="await self._end_of_turn()",
        new="pass",
        killer="refinement",
        on=Host("timetick-edges-lease", takeover),
        source="hazard 11",
        tier="full",
        says="All logs are said to refuse a source while a line of its is being written.",
    ),
)


_TAKES_TICKS = Patch(
    "tick-of-the-old-coordinator-is-taken",
    at=LOG + "_refuse",
    old=FENCED,
    new=FENCED + " and not isinstance(append.message, Tick)",
    on=TICK,
    source="hazards 12, 30",
    says="A log that has been fenced takes ticks of earlier coordinators.",
)
_TAKES_DDL = Patch(
    "ddl-message-of-the-old-coordinator-is-taken",
    at=LOG + "_refuse",
    old=FENCED,
    new=FENCED + " and isinstance(append.message, Tick)",
    on=CRASH,
    source="B46; hazard 12",
    says="A log that has been fenced takes DDL messages of earlier coordinators.",
)


@mutant(killer="timetick.ticks_never_go_back", source="hazards 12, 30", instance=TICK.entry)
def tick_of_the_old_coordinator_is_taken(**scenario: Any) -> TakeoverProgram:
    """A log that has been fenced takes ticks of earlier coordinators."""
    program: TakeoverProgram = _TAKES_TICKS(
        protocol=f"{_VARIANTS}:TicksAreTaken", **{**scenario, "others": 2}
    )
    return program


@mutant(killer="timetick.ticks_are_below_all_to_come", source="B46; hazard 12", instance=CRASH.entry)
def ddl_message_of_the_old_coordinator_is_taken(**scenario: Any) -> TakeoverProgram:
    """A log that has been fenced takes DDL messages of earlier coordinators."""
    program: TakeoverProgram = _TAKES_DDL(protocol=f"{_VARIANTS}:DdlIsTaken", **scenario)
    return program
