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
        "a-wake-up-is-lost",
        at=LOG + "_add",
        old="self._grown.set()",
        new="pass",
        killer="stream.every_message_is_stored",
        on=SMALL,
        source="facts 5.1: a wait",
        says="The event for which readers wait is replaced, and never set.",
    ),
    Patch(
        "what-is-not-forced-is-read",
        at=LOG + "_write",
        old="await self._writer.append_line(_line(entries))\n        self._add(entries)",
        new="self._add(entries)\n        await self._writer.append_line(_line(entries))",
        killer=DURABLE,
        on=SMALL,
        source="facts 5.1: what was read stays",
        says="Readers get the entries of a line that is not forced to the disk yet.",
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
