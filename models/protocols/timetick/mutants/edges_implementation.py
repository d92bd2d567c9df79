"""Mutants of the logs under a coordinator that takes over: what a fence is not.

Those of a variant compare their fault with the variant of the specification that makes the same mistake: so
what is refuted is a property and not only the likeness.
"""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.timetick.program.takeover import takeover

LOG = "broker/channel_log.py:ChannelLog."
_VARIANTS = "tidemark.spec.timetick.variants.edges"
FENCED = "source != self.coordinator"
TICK = Host("timetick-edges-tick", takeover)
CRASH = Host("timetick-edges-crash", takeover)
FOLLOWED = Host("timetick-edges-followed", takeover)

MUTANTS = patches(
    __name__,
    Patch(
        "last-tick-is-read-before-the-fence",
        at="broker/broker.py:CoordinatorStreams.last_tick",
        old="await log.follow(self.source)\n        return log.last_tick",
        new="found = log.last_tick\n        await log.follow(self.source)\n        return found",
        on=TICK,
        source="hazard 30",
        says="A coordinator asks for the last tick, and then for the fence.",
    ),
    Patch(
        "tick-of-the-old-coordinator-is-taken",
        at=LOG + "_refuse",
        old=FENCED,
        new=FENCED + " and not isinstance(append.message, Tick)",
        killer="timetick.ticks_never_go_back",
        on=TICK.like(protocol=f"{_VARIANTS}:TicksAreTaken", others=2),
        source="hazards 12, 30",
        says="A log that has been fenced takes ticks of earlier coordinators.",
    ),
    Patch(
        "ddl-message-of-the-old-coordinator-is-taken",
        at=LOG + "_refuse",
        old=FENCED,
        new=FENCED + " and isinstance(append.message, Tick)",
        killer="timetick.ticks_are_below_all_to_come",
        on=CRASH.like(protocol=f"{_VARIANTS}:DdlIsTaken"),
        source="B46; hazard 12",
        says="A log that has been fenced takes DDL messages of earlier coordinators.",
    ),
    # A coordinator that was followed.
    Patch(
        "older-coordinator-does-not-ask",
        at="rootcoord/time_tick_sync.py:TimeTickSync._ask_to_admit",
        old="or await self._is_newest()",
        new="or True",
        killer="timetick.whoever_serves_is_waited_for",
        on=FOLLOWED.like(protocol=f"{_VARIANTS}:OlderDoesNotAsk"),
        source="facts 2.4, 4",
        says="A coordinator that was followed admits a proxy of which its successor does not know.",
    ),
    Patch(
        "later-coordinator-is-taken-for-oneself",
        at="broker/broker.py:CoordinatorStreams.is_newest",
        old="==",
        new="<=",
        on=FOLLOWED,
        source="facts 2.4, 4",
        says="Numbers of coordinators fall: the log tells the older one that it is the newest.",
    ),
)
