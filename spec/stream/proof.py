"""Inductive lemmas: why no message is lost or stored twice, for any number of channels and messages."""

from tidemark.spec.language import Bool, all_of, exists, forall, implies, lemma
from tidemark.spec.stream.claims import StreamClaims


class Stream(StreamClaims):
    """Channels and one consumer of them that crashes and seeks; any number of messages and ticks."""

    @lemma(source="facts 5.1")
    def a_place_holds_one_thing(s) -> Bool:
        """Two messages of a channel, and their copies, have places of their own; so has a tick."""
        return all_of(
            forall(s.Message, s.Message, s.have_places_of_their_own),
            forall(
                s.Message,
                lambda m: all_of(
                    s.place[m] <= s.end[s.channel[m]],
                    s.again[m] <= s.end[s.channel[m]],
                    implies(s.again[m] > 0, (s.place[m] > 0) & (s.place[m] < s.again[m])),
                    s.tick_at[s.channel[m], s.place[m]] == 0,
                    s.tick_at[s.channel[m], s.again[m]] == 0,
                    implies(s.place[m] > 0, s.ts[m] > 0),
                ),
            ),
            forall(
                s.Channel,
                s.Place,
                lambda c, p: implies(s.tick_at[c, p] > 0, (p > 0) & (p <= s.end[c])),
            ),
        )

    def have_places_of_their_own(s, m: StreamClaims.Message, n: StreamClaims.Message) -> Bool:
        return implies(
            (m != n) & (s.channel[m] == s.channel[n]),
            all_of(
                implies(s.place[m] > 0, (s.place[m] != s.place[n]) & (s.place[m] != s.again[n])),
                implies(s.again[m] > 0, s.again[m] != s.again[n]),
            ),
        )

    @lemma(source="seed 002, watermark; property W")
    def messages_follow_smaller_ticks(s) -> Bool:
        """Messages after a tick are above it; the greatest tick is the greatest."""
        return forall(s.Channel, s.Place, lambda c, p: s.tick_at[c, p] <= s.highest[c]) & forall(
            s.Place,
            s.Message,
            lambda p, m: all_of(
                implies(s.place[m] > p, s.ts[m] > s.tick_at[s.channel[m], p]),
                implies(s.again[m] > p, s.ts[m] > s.tick_at[s.channel[m], p]),
            ),
        )

    @lemma(source="facts 5.1")
    def positions_are_in_order(s) -> Bool:
        """First position, stored position, last pack and greatest tick are in order."""
        return all_of(
            s.start <= s.position_ts,
            s.position_ts <= s.last,
            (s.next_ts == 0) | (s.next_ts == s.last),
            (s.next_ts > 0) | (s.last == s.position_ts),
            (s.next_ts == 0) | (s.next_ts > s.position_ts),
        )

    @lemma(source="facts 5.1")
    def places_are_in_order(s) -> Bool:
        """The consumer's places are in the log, and positions have the places of what was read."""
        return forall(
            s.Channel,
            lambda c: all_of(
                s.read[c] <= s.end[c],
                s.at[c] <= s.highest[c],
                (s.seeking[c] & (s.last == s.start)) | (s.last <= s.highest[c]),
                implies(s.at[c] > 0, s.read[c] > 0),
                (s.position_place[c] > 0) == (s.position_ts > s.start),
                (s.next_place[c] > 0) == (s.next_ts > 0),
                s.next_place[c] <= s.read[c],
                s.position_place[c] <= s.end[c],
            ),
        )

    @lemma(source="facts 5.1")
    def who_seeks_has_no_pack(s) -> Bool:
        """While a channel is sought, it is at no tick, and the last pack is that of the position."""
        return forall(
            s.Channel,
            lambda c: implies(s.seeking[c], (s.at[c] == 0) & (s.last == s.position_ts)),
        )

    @lemma(source="facts 5.1: pursuit mode")
    def a_drop_holds_all_channels(s) -> Bool:
        """While a pack has a message that drops the collection, all channels are at its tick."""
        return forall(s.Message, s.Channel, lambda m, c: implies(s.held[m] & s.drops[m], s.at[c] == s.last))

    @lemma(source="facts 5.1")
    def the_buffer_is_complete(s) -> Bool:
        """Messages that were read and are above the last pack are buffered."""
        return forall(
            s.Message,
            lambda m: (
                s.buffered[m] == all_of(s.place[m] > 0, s.place[m] <= s.read[s.channel[m]], s.ts[m] > s.last)
            ),
        )

    @lemma(source="seed 002, watermark; facts 5.1")
    def what_is_to_be_read_is_new(s) -> Bool:
        """The unread messages of a channel that is not sought are above its tick, and above the last pack."""
        return forall(
            s.Message,
            lambda m: implies(
                ~s.seeking[s.channel[m]],
                all_of(
                    implies(s.place[m] > s.read[s.channel[m]], s.is_new(m)),
                    implies(s.again[m] > s.read[s.channel[m]], s.is_new(m)),
                ),
            ),
        )

    def is_new(s, m: StreamClaims.Message) -> Bool:
        """The message is above the last pack, and above the tick of its channel."""
        return (s.ts[m] > s.last) & (s.ts[m] > s.at[s.channel[m]])

    @lemma(source="facts 5.1")
    def packs_are_in_order(s) -> Bool:
        """Stored messages are at or below the position, those of the pack above it, up to its end."""
        return forall(
            s.Message,
            lambda m: all_of(
                implies(s.done[m], s.is_wanted(m) & (s.ts[m] <= s.position_ts)),
                implies(
                    s.held[m],
                    all_of(s.place[m] > 0, s.ts[m] > s.position_ts, s.ts[m] <= s.last, s.next_ts > 0),
                ),
            ),
        )

    @lemma(source="facts 5.1")
    def nothing_above_a_position_lies_before_its_place(s) -> Bool:
        """Messages before the place of a position are at or below its timestamp."""
        return forall(
            s.Message,
            lambda m: all_of(
                implies(
                    (s.place[m] > 0) & (s.place[m] < s.position_place[s.channel[m]]),
                    s.ts[m] <= s.position_ts,
                ),
                implies(
                    (s.place[m] > 0) & (s.place[m] < s.next_place[s.channel[m]]),
                    s.ts[m] <= s.next_ts,
                ),
            ),
        )

    @lemma(source="facts 5.1; hazard 32")
    def who_is_ahead_is_at_its_tick(s) -> Bool:
        """A channel is at a tick that was read, and not beyond a greatest tick above the last pack."""
        return forall(
            s.Channel,
            lambda c: all_of(
                (s.at[c] == 0) | exists(s.Place, lambda p: (p <= s.read[c]) & (s.tick_at[c, p] == s.at[c])),
                implies(
                    (s.at[c] > s.last) & forall(s.Channel, lambda d: s.at[d] <= s.at[c]),
                    (s.tick_at[c, s.read[c]] == s.at[c]) & exists(s.Channel, lambda d: s.at[d] < s.at[c]),
                ),
            ),
        )
