"""Mutants of the consumers: of one channel, of several, of channels with ticks of their own, and of pursuit.

A claim about states is refuted at the variant of the specification that makes the same mistake; where a claim
is about steps, the specification itself tells.
"""

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.stream.program import SPECIFICATION, stream
from tidemark.models.protocols.stream.program.aligned import aligned
from tidemark.models.protocols.stream.program.minimum import minimum

CRASH = Host("stream-impl-crash", stream)
FIRST = Host("stream-impl-first-position", stream)
ALIGNED = Host("stream-impl-aligned", aligned)
ALIGNED_CRASH = Host("stream-impl-aligned-crash", aligned)
PURSUIT = Host("stream-impl-pursuit", aligned)
FULL = Host("stream-impl-pursuit-full", aligned)
OWN = Host("stream-impl-minimum", minimum)
OWN_CRASH = Host("stream-impl-minimum-crash", minimum)

READER = "stream/reader.py:ChannelReader."
CONSUMER = "stream/consumer.py:ChannelConsumer."
SEVERAL = "stream/aligned.py:AlignedConsumer."
MINIMUM = "stream/minimum.py:MinimumConsumer."

VARIANTS = "tidemark.models.protocols.stream.mutants.specification:"
OWN_VARIANTS = "tidemark.models.protocols.stream.mutants.minimum:"
KEPT = "stream.what_was_read_is_kept"
INTERVAL = "stream.packs_hold_their_interval"
PLACES = "stream.a_position_has_the_place_of_what_comes_next"
PACKS_END = "a_pack_ends_when_it_may_not_grow"
GROWS = "facts 5.1: pursuit mode"

MUTANTS = patches(
    __name__,
    Patch(
        "seek-leaves-its-place-out",
        at=READER + "__init__",
        old="max(position.place - 1, 0)",
        new="position.place",
        killer=KEPT,
        on=CRASH.like(protocol=VARIANTS + "SeekLeavesItsPlaceOut"),
        source="B62: exclusive",
        says="A seek begins behind the place of the position (B62).",
    ),
    Patch(
        "seek-skips-nothing",
        at=READER + "read_one",
        old="if not self.seeking or entry.message.ts > self.position.ts:",
        new="if True:",
        killer=INTERVAL,
        on=CRASH.like(protocol=VARIANTS + "SeekSkipsNothing"),
        source="B62: nothing is skipped",
        says="A consumer that seeks keeps what it has already (B62).",
    ),
    Patch(
        "seek-keeps-the-bound",
        at=READER + "read_one",
        old="entry.message.ts > ",
        new="entry.message.ts >= ",
        killer=INTERVAL,
        on=CRASH.like(protocol=VARIANTS + "SeekKeepsTheBound"),
        source="B62: the bound",
        says="A consumer that seeks keeps what has the timestamp of the position.",
    ),
    Patch(
        "late-messages-are-skipped",
        at=READER + "read_one",
        old="not self.seeking or ",
        new="",
        killer=KEPT,
        on=Host("stream-impl-late", stream),
        source="hazard 31",
        says="A consumer skips what is not above the position after its seek, too: a late message is lost.",
    ),
    Patch(
        "seek-ends-at-any-tick",
        at=READER + "_is_before_the_position",
        old="tick < self.position.ts",
        new="False",
        on=FIRST,
        source="facts 5.1: the seek",
        says="A seek ends at the first tick, also if that is smaller than the position.",
    ),
    Patch(
        "empty-place-is-the-earliest",
        at=READER + "read_one",
        old="if not self.seeking or ",
        new="if not self.seeking or self.position.place <= 0 or ",
        killer=INTERVAL,
        on=FIRST.like(protocol=VARIANTS + "EmptyPlaceIsTheEarliest"),
        source="B26: the earliest position",
        says="A position without a place is taken for the earliest: nothing is skipped (B26).",
    ),
    Patch(
        "position-is-the-place-of-the-tick",
        at=READER + "place_of_position",
        old="self.buffered[0][0] if self.buffered else ",
        new="",
        killer=KEPT,
        on=CRASH.like(protocol=VARIANTS + "PositionIsThePlaceOfTheTick"),
        source="facts 5.1",
        says="The position has the place of the tick, though a message before it is still buffered.",
    ),
    Patch(
        "every-tick-makes-a-pack",
        at=CONSUMER + "next_pack",
        old="tick >",
        new="tick !=",
        killer="stream.packs_advance",
        on=Host("stream-impl-smaller-tick", stream).like(protocol=VARIANTS + "EveryTickMakesAPack"),
        source="H30: a tick that goes back",
        says="A smaller tick makes a pack, too (hazard 30).",
    ),
    Patch(
        "copies-are-not-removed",
        at=CONSUMER + "_hand_over",
        old="each_once(held)",
        new="tuple(held)",
        killer="stream.nothing_is_stored_twice",
        on=Host("stream-impl-copies", stream),
        source="facts 5.1: duplicates",
        says="A pack holds a message and its copy.",
    ),
    Patch(
        "next-pack-begins-at-zero",
        at=CONSUMER + "__init__",
        old="= position.ts",
        new="= 0",
        killer="stream.positions_are_in_order",
        on=CRASH,
        source="facts 5.1: BeginTs after a seek",
        says="A consumer does not take the end of the last pack from its position: the next begins at 0.",
    ),
    # Several channels that get the same ticks, and packs that grow.
    Patch(
        "first-tick-makes-a-pack",
        at=SEVERAL + "_is_level",
        old="all(reader.tick == self.readers[0].tick for reader in self.readers)",
        new="True",
        killer=PLACES,
        on=ALIGNED.like(protocol=VARIANTS + "FirstTickMakesAPack"),
        source="H32: not aligned",
        says="A pack is made when one channel is at a greater tick, whatever the others have read.",
    ),
    Patch(
        "position-is-the-places-of-the-ticks",
        at=SEVERAL + "_gather",
        old="reader.place_of_position()",
        new="reader.read",
        killer=KEPT,
        on=ALIGNED_CRASH.like(protocol=VARIANTS + "PositionIsThePlaceOfTheTick"),
        source="facts 5.1",
        says="The position has the places of the ticks, though a message before one is still buffered.",
    ),
    Patch(
        "one-place-for-all-channels",
        at=SEVERAL + "_gather",
        old="reader.place_of_position()",
        new="self.readers[0].place_of_position()",
        killer=PLACES,
        on=ALIGNED_CRASH,
        source="facts 5.1: positions",
        says="The position has the place of the first channel for all of them.",
    ),
    Patch(
        "pursuit-passes-a-drop",
        at="stream/aligned.py:AlignedPack.may_grow",
        old="not self.drops and ",
        new="",
        killer="stream.a_drop_ends_its_pack",
        on=PURSUIT.like(protocol=VARIANTS + "PursuitPassesADrop"),
        source=GROWS,
        says="A pack grows though a message in it drops the collection.",
    ),
    Patch(
        "pursuit-forgets-what-it-has",
        at=SEVERAL + "_gather",
        old="(*self.pack.messages, *messages)",
        new="messages",
        killer="stream.packs_leave_nothing_out",
        on=PURSUIT.like(protocol=VARIANTS + "PursuitForgetsWhatItHas"),
        source=GROWS,
        says="A further tick replaces what the pack holds.",
    ),
    Patch(
        "pursuit-hands-over-at-once",
        at="stream/aligned.py:AlignedPack.may_grow",
        old="not self.drops and lag > pursuit.lag and few",
        new="False",
        killer=PACKS_END,
        on=FULL,
        source=GROWS,
        says="A pack is handed over at its first tick, though the consumer is behind.",
    ),
    Patch(
        "pursuit-waits-for-ever",
        at=SEVERAL + "next_pack",
        old="pursuit.seconds",
        new="None",
        killer="stream.every_message_is_stored",
        on=Host("stream-impl-pursuit-waits", aligned),
        source="facts 5.1: at most 60 s",
        says="A pack that may grow waits for a tick that does not come.",
    ),
    Patch(
        "packs-keep-their-start",
        at=SEVERAL + "_gather",
        old="self._start = finish",
        new="pass",
        killer="a_pack_begins_where_the_last_has_ended",
        on=ALIGNED,
        source="facts 5.1: start position = previous end position",
        says="Every pack begins where the consumer has begun.",
    ),
    # Channels with ticks of their own.
    Patch(
        "equal-ticks-are-waited-for",
        at=MINIMUM + "_is_level",
        old="reader.tick >",
        new="reader.tick == self.readers[0].tick >",
        killer="stream.every_message_is_stored",
        on=OWN.like(protocol=SPECIFICATION),
        source="H32: who waits",
        says="A pack waits until all channels are at the same tick, as in Milvus: it never comes.",
    ),
    Patch(
        "one-channel-makes-a-pack",
        at=MINIMUM + "_is_level",
        old="all(",
        new="any(",
        also=(Edit(MINIMUM + "_read_one", "min(", "max("),),
        killer=PLACES,
        on=OWN.like(protocol=OWN_VARIANTS + "OneChannelIsEnough"),
        source="H32: not aligned",
        says="A pack is made when one channel has been read beyond the last, whatever the others have read.",
    ),
    Patch(
        "who-is-ahead-reads-on",
        at=SEVERAL + "next_reader",
        old="min(",
        new="max(",
        killer="stream.who_need_not_read_waits",
        on=OWN,
        source="H32: who waits",
        says="The channel at the greatest tick is read on, and not the one at the smallest.",
    ),
    Patch(
        "the-tick-that-ends-a-seek-counts-for-nothing",
        at=SEVERAL + "__init__",
        old="self.reader_class(",
        new="ChannelReader(",
        on=OWN_CRASH,
        source="facts 5.1: the seek",
        says="A channel that was ahead waits for one more tick after a seek, though it is past the position.",
    ),
    Patch(
        "a-position-has-the-places-of-the-last-ticks",
        at=SEVERAL + "_gather",
        old="reader.place_of_position()",
        new="reader.read",
        killer=KEPT,
        on=OWN_CRASH.like(protocol=OWN_VARIANTS + "PlacesAreThoseOfTheTicks"),
        source="facts 5.1: end positions",
        says="The position has the places of the last ticks, though one channel has messages before its own.",
    ),
    Patch(
        "what-lies-above-the-pack-is-let-go",
        at=READER + "take_upto",
        old="[(place, message) for place, message in self.buffered if message.ts > tick]",
        new="[]",
        killer=KEPT,
        on=OWN,
        source="facts 5.1: what stays buffered",
        says="A pack empties the buffers: what a channel ahead has read above its end is lost.",
    ),
    Patch(
        "position-is-the-place-of-the-tick",
        at="stream/reader.py:ChannelReader.place_of_position",
        old="self.buffered[0][0] if self.buffered else ",
        new="",
        walked=Host("stream-driven", stream),
        source="facts 5.1",
        says="The position has the place of the tick, though a message before it is still buffered.",
    ),
    Patch(
        "pursuit-keeps-the-first-end",
        at="stream/aligned.py:AlignedConsumer._gather",
        old="finish=finish, ",
        new="",
        walked=Host("stream-driven-aligned", aligned),
        source="facts 5.1: pursuit mode",
        says="A pack that has grown ends at its first tick.",
    ),
    Patch(
        "the-tick-of-a-seek-is-forgotten",
        at="stream/aligned.py:AlignedConsumer.__init__",
        old="self.reader_class(",
        new="ChannelReader(",
        walked=Host("stream-driven-minimum", minimum),
        source="facts 5.1: the seek",
        says="The tick that ends a seek counts for nothing, though it is greater than the position.",
    ),
)

UNKNOWN = "B54: unknown"

SLIPS = (
    Patch(
        "a-disk-that-fails-refuses",
        at="broker/channel_log.py:ChannelLog._write",
        old="await self._writer.append_line(_line(entries))",
        new="""try:
            await self._writer.append_line(_line(entries))
        except Exception as failure:
            for append in taken:
                append.done.set_exception(RpcError(f"not written: {failure}"))
            return""",
        source=UNKNOWN,
        says="An append of which nobody knows whether it is in the file counts as refused.",
    ),
    Patch(
        "a-follower-begins-anew-at-each-look",
        at="broker/reader.py:FileEntryLog._read_on",
        old="file, self._offsets[channel]",
        new="file, 0",
        source="facts 5.1",
        says="Entries that were read are read again, and count as new.",
    ),
    Patch(
        "a-fence-tells-one-log-only",
        at="broker/broker.py:Broker.fence",
        old="self.logs.values()",
        new="[*self.logs.values()][:1]",
        source="hazard 11",
        says="The fence of a source is over when the first log refuses it.",
    ),
)
