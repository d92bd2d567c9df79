"""The message stream of one channel: places of the log, packs between ticks, positions, seek.

What is described: a log has messages and ticks at its places. A consumer reads place after place. At a tick
that is greater than the last it hands over a pack: the messages with a timestamp up to the tick; later ones
stay buffered. The end position of a pack is the tick, with the place of the first message that is still
buffered, or of the tick if none is. Whoever takes the pack stores what is in it and saves the position in one
step. A consumer that starts again seeks the position: it reads from its place, which is included, and skips
what is at or below its timestamp up to the first tick that is not smaller.

Sources: facts 5.1, hazards 30 and 31, bug B62. This is the stream as it is *meant*: the next pack begins at
the timestamp of the position, and not at 0 as in the code.

Left out: several channels of one stream (hazard 32 is decided in ``timetick``), pursuit mode, duplicates in
the log, the earliest position, other messages than those that carry rows.
"""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    action,
    all_of,
    each,
    exists,
    implies,
    ite,
    least,
    maximum,
    option,
    require,
    when,
)


class StreamActions(Protocol, name="stream"):
    """One channel, one consumer of it that crashes and seeks; any number of messages and ticks."""

    Message = Sort()
    Ts = Nat()
    Place = Nat()
    Faults = Nat()

    PROMISE: Bool = option(True)  # what is appended lies above every tick in the log

    # The log.
    end: Place = 0  # its last place; the first is 1
    place: Map[Message, Place] = 0  # 0: not in the log
    ts: Map[Message, Ts] = 0
    tick_at: Map[Place, Ts] = 0  # 0: no tick
    highest: Ts = 0

    # The consumer's memory.
    read: Place = 0
    last: Ts = 0  # the end of the last pack
    seeking: Bool = False
    buffered: Set[Message] = False
    held: Set[Message] = False  # handed over, and not stored
    next_ts: Ts = 0  # the end position of what is held; 0 if nothing was handed over
    next_place: Place = 0

    # What is stored.
    done: Set[Message] = False
    twice: Set[Message] = False
    position_ts: Ts = 0
    position_place: Place = 0
    faults: Faults = 0

    # ---- the log ----

    @action(source="facts 3.1, 5.1", relies_on=("timetick.ticks_are_below_all_to_come",))
    def append(s, m: Message, ts: Ts):
        """A message is in the log."""
        require((s.place[m] == 0) & (ts > 0))
        require(implies(s.PROMISE, ts > s.highest))
        s.end = s.end + 1
        s.place[m] = s.end
        s.ts[m] = ts

    @action(source="facts 4, 5.1; hazard 30")
    def send_tick(s, value: Ts):
        """A tick is in the log. It may be smaller than the last."""
        require(value > 0)
        s.end = s.end + 1
        s.tick_at[s.end] = value
        s.highest = maximum(s.highest, value)

    # ---- the consumer ----

    def is_skipped(s, m):
        """A consumer that seeks has this message already."""
        return s.seeking & (s.ts[m] <= s.position_ts)

    @action(fairness="weak", source="facts 5.1; hazard 31")
    def read_message(s, m: Message):
        """The next place holds a message."""
        require((s.place[m] == s.read + 1) & (s.next_ts == 0))
        s.read = s.read + 1
        s.buffered[m] = ~s.is_skipped(m)

    @action(fairness="weak", source="facts 5.1; hazard 30")
    def read_tick(s, value: Ts):
        """The next place holds a tick: a pack, unless it is not greater, or the consumer still seeks."""
        require((value > 0) & (s.tick_at[s.read + 1] == value) & (s.next_ts == 0))
        s.read = s.read + 1
        with when(~s.seeking & (value > s.last)):
            s.hand_over(value)
        s.seeking = s.seeking & (value < s.position_ts)

    def hand_over(s, value):
        """Everything buffered up to the tick goes into a pack."""
        s.held = each(s.Message, lambda m: s.buffered[m] & (s.ts[m] <= value))
        s.buffered = each(s.Message, lambda m: s.buffered[m] & (s.ts[m] > value))
        s.last = value
        s.next_ts = value
        s.next_place = s.place_of_position()

    def place_of_position(s):
        """The place of the first message that is still buffered, or that of the tick."""
        return least(
            s.Place,
            lambda p: exists(s.Message, lambda m: s.buffered[m] & (s.place[m] == p)),
            default=s.read,
        )

    @action(fairness="weak", source="facts 5.1, 7.5")
    def store(s):
        """What is held is stored with its end position."""
        require(s.next_ts > 0)
        s.twice = each(s.Message, lambda m: s.twice[m] | all_of(s.held[m], s.done[m]))
        s.done = each(s.Message, lambda m: s.done[m] | s.held[m])
        s.held = each(s.Message, lambda m: False)
        s.position_ts = s.next_ts
        s.position_place = s.next_place
        s.next_ts = 0
        s.next_place = 0

    @action(source="facts 5.1; hazard 31")
    def crash(s):
        """The memory is lost. The next consumer seeks the stored position."""
        s.held = each(s.Message, lambda m: False)
        s.buffered = each(s.Message, lambda m: False)
        s.next_ts = 0
        s.next_place = 0
        s.last = s.position_ts
        s.read = s.start_of(s.position_place)
        s.seeking = s.position_place > 0
        s.faults = s.faults + 1

    def start_of(s, place):
        """What counts as read when a seek to the place begins: the place itself is read again."""
        return ite(place > 0, place - 1, 0)
