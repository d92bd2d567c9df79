"""Mutants of the broker's log as its readers see it."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.stream.program.edge import DURABLE, edge

SMALL = Host("stream-edge-small", edge)
LOG = "broker/channel_log.py:ChannelLog."

MUTANTS = patches(
    __name__,
    Patch(
        "the-place-is-left-out",
        at=LOG + "read",
        old="while ",
        new="place += 1\n        while ",
        killer="stream.what_was_read_is_kept",
        on=SMALL,
        source="B62: exclusive",
        says="A reader gets the entries behind the place that it asks for (B62).",
    ),
    Patch(
        "the-log-begins-anew",
        at=LOG + "read",
        old="[place - 1 :]",
        new="",
        on=SMALL,
        source="facts 5.1: the seek",
        says="A reader gets the entries from the first one on, whatever place it asks for.",
    ),
    Patch(
        "a-follower-forces-only-once",
        at="storage/file_log.py:read_lines",
        old="if lines:",
        new="if lines and not offset:",
        killer=DURABLE,
        on=Host("stream-edge-followed", edge),
        source="B54: unknown",
        says="What is appended after the first look is handed over before it is forced.",
    ),
)
