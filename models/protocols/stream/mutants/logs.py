"""Mutants of the broker's logs as those see them who append, fence, and follow their files."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.stream import following, promises, sources

PROMISES = Host("stream-log-promises", promises.promises)
FOLLOWED = Host("stream-log-followed", following.following)
SOURCES = Host("stream-log-sources", sources.sources)

LOG = "broker/channel_log.py:ChannelLog."
BROKER = "broker/broker.py:Broker."
UNKNOWN = "B54: unknown"
TWO = "B46: two coordinators"

MUTANTS = patches(
    __name__,
    Patch(
        "an-append-that-waits-is-not-looked-at-again",
        at=LOG + "_take",
        old="self._refuse(append)",
        new="pass",
        killer=promises.RULED_OUT,
        on=PROMISES,
        source="hazard 11: given up",
        says="What waits for its line is written, though it was given up meanwhile.",
    ),
    Patch(
        "an-append-that-waits-is-written-for-the-fenced",
        at=LOG + "_take",
        old="self._refuse(append)",
        new="pass",
        killer=promises.FENCED,
        on=PROMISES,
        source="hazard 11",
        says="What waits for its line is written, though its source was fenced meanwhile.",
    ),
    Patch(
        "a-disk-that-fails-refuses",
        at=LOG + "_write",
        old="await self._writer.append_line(_line(entries))",
        new="""try:
            await self._writer.append_line(_line(entries))
        except Exception as failure:
            for append in taken:
                append.done.set_exception(RpcError(f"not written: {failure}"))
            return""",
        killer=promises.ANSWERED,
        on=PROMISES,
        source=UNKNOWN,
        says="An append of which nobody knows whether it is in the file counts as refused.",
    ),
    Patch(
        "an-older-coordinator-is-followed-again",
        at=LOG + "follow",
        old="min(self.coordinator, coordinator)",
        new="coordinator",
        killer=promises.FENCED,
        on=PROMISES,
        source=TWO,
        says="A log that follows a coordinator goes back to an older one that asks later.",
    ),
    Patch(
        "a-follower-forces-only-once",
        at="storage/file_log.py:read_lines",
        old="if lines:",
        new="if lines and not offset:",
        killer=following.DURABLE,
        on=FOLLOWED,
        source=UNKNOWN,
        says="What is appended after the first look is handed over before it is forced.",
    ),
    Patch(
        "a-follower-begins-anew-at-each-look",
        at="broker/reader.py:FileEntryLog._read_on",
        old="file, self._offsets[channel]",
        new="file, 0",
        killer=following.READ,
        on=FOLLOWED,
        source="facts 5.1",
        says="Entries that were read are read again, and count as new.",
    ),
    Patch(
        "a-fence-tells-one-log-only",
        at=BROKER + "fence",
        old="self.logs.values()",
        new="[*self.logs.values()][:1]",
        killer=following.FENCED,
        on=FOLLOWED,
        source="hazard 11",
        says="The fence of a source is over when the first log refuses it.",
    ),
    Patch(
        "a-coordinator-is-new-in-one-log-only",
        at=BROKER + "next_coordinator",
        old="min(",
        new="max(",
        killer=following.FENCED,
        on=FOLLOWED,
        source=TWO,
        says="The number of a new coordinator is below that of one log, and not of every one.",
    ),
    Patch(
        "a-message-of-another-source-settles",
        at=LOG + "settle",
        old="entry.source == source and ",
        new="",
        killer=sources.ANSWERED,
        on=SOURCES,
        source=UNKNOWN,
        says="A message counts as appended if another source has one of this timestamp in the log.",
    ),
    Patch(
        "a-coordinator-hears-the-tick-before-its-turn",
        at="broker/broker.py:CoordinatorStreams.last_tick",
        old="await log.follow(self.source)\n        return log.last_tick",
        new="before = log.last_tick\n        await log.follow(self.source)\n        return before",
        killer=sources.ANSWERED,
        on=SOURCES,
        source=TWO,
        says="A new coordinator does not hear of a tick of the earlier one that is on its way.",
    ),
    Patch(
        "a-log-takes-an-entry-at-any-place",
        at=LOG + "_add",
        old="entry.place != len(self.entries) + 1",
        new="False",
        killer=sources.FOUND,
        on=SOURCES,
        source=UNKNOWN,
        says="A log that is opened does not look at the places of its entries.",
    ),
)
