"""Mutants of the ticks of an idle channel."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.streaming.program.idle import IdleProgram

IDLE = Host("streaming-impl-idle", IdleProgram)
HELD_BACK = "streaming/time_tick.py:TimeTickOperator._is_held_back"

MUTANTS = patches(
    __name__,
    Patch(
        "holds-back-one-round-more",
        at=HELD_BACK,
        old=">=",
        new=">",
        killer="a_tick_of_an_idle_channel_comes_in_time",
        on=IDLE,
        source="facts 11: idle ticks, off by one",
        says="Ticks of an idle channel are held back for one round more.",
    ),
    Patch(
        "holds-nothing-back",
        at=HELD_BACK,
        old="if not",
        new="if True or not",
        killer="the_longest_wait_is_reached",
        on=IDLE,
        source="facts 11: idle ticks",
        says="Each round writes a tick, though nothing was appended.",
    ),
    Patch(
        "holds-back-though-something-was-appended",
        at=HELD_BACK,
        old="not self._acks.is_quiet or ",
        new="",
        killer="a_tick_passes_an_append_in_time",
        on=IDLE,
        source="facts 11: idle ticks, busy channel",
        says="Ticks are held back whether the channel is idle or not.",
    ),
)
