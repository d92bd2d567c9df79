"""Inductive lemmas: why nothing is lost and nothing stored twice, for any number of messages and ticks."""

from tidemark.spec.language import all_of, forall, implies, lemma
from tidemark.spec.stream.claims import StreamClaims


class Stream(StreamClaims):
    """One channel, one consumer of it that crashes and seeks; any number of messages and ticks."""

    @lemma(source="facts 5.1")
    def a_place_holds_one_thing(s):
        """Two messages have two places, and a tick a third one."""
        return all_of(
            forall(
                s.Message,
                s.Message,
                lambda m, n: implies((s.place[m] == s.place[n]) & (s.place[m] > 0), m == n),
            ),
            forall(s.Message, lambda m: (s.place[m] <= s.end) & (s.tick_at[s.place[m]] == 0)),
            forall(s.Place, lambda p: implies(s.tick_at[p] > 0, (p > 0) & (p <= s.end))),
            forall(s.Message, lambda m: implies(s.place[m] > 0, s.ts[m] > 0)),
        )

    @lemma(source="seed 002, watermark; property W")
    def messages_follow_smaller_ticks(s):
        """What comes after a tick lies above it; the greatest tick is the greatest."""
        return forall(s.Place, lambda p: s.tick_at[p] <= s.highest) & forall(
            s.Place,
            s.Message,
            lambda p, m: implies((s.tick_at[p] > 0) & (s.place[m] > p), s.ts[m] > s.tick_at[p]),
        )

    @lemma(source="facts 5.1")
    def positions_are_in_order(s):
        """Stored position, last pack, greatest tick; the consumer reads what there is."""
        return all_of(
            s.position_ts <= s.last,
            s.last <= s.highest,
            s.read <= s.end,
            (s.next_ts == 0) | (s.next_ts == s.last),
            (s.next_ts > 0) | (s.last == s.position_ts),
            (s.position_place > 0) == (s.position_ts > 0),
            (s.next_place > 0) == (s.next_ts > 0),
            s.next_place <= s.read,
            s.position_place <= s.end,
        )

    @lemma(source="facts 5.1")
    def the_buffer_is_complete(s):
        """Buffered is what was read and lies above the last pack."""
        return forall(
            s.Message,
            lambda m: s.buffered[m] == all_of(s.place[m] > 0, s.place[m] <= s.read, s.ts[m] > s.last),
        )

    @lemma(source="seed 002, watermark; facts 5.1")
    def what_is_to_be_read_is_new(s):
        """A consumer that does not seek has all still to come above its last pack."""
        return s.seeking | forall(s.Message, lambda m: implies(s.place[m] > s.read, s.ts[m] > s.last))

    @lemma(source="facts 5.1")
    def packs_are_in_order(s):
        """Stored is what lies at or below the position, held what lies above it, up to the last pack."""
        return forall(
            s.Message,
            lambda m: all_of(
                implies(s.done[m], (s.place[m] > 0) & (s.ts[m] <= s.position_ts)),
                implies(
                    s.held[m],
                    all_of(s.place[m] > 0, s.ts[m] > s.position_ts, s.ts[m] <= s.last, s.next_ts > 0),
                ),
            ),
        )

    @lemma(source="facts 5.1")
    def nothing_above_a_position_lies_before_its_place(s):
        """What lies before the place of a position lies at or below its timestamp."""
        return forall(
            s.Message,
            lambda m: all_of(
                implies((s.place[m] > 0) & (s.place[m] < s.position_place), s.ts[m] <= s.position_ts),
                implies((s.place[m] > 0) & (s.place[m] < s.next_place), s.ts[m] <= s.next_ts),
            ),
        )
