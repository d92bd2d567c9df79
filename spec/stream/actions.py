"""The message stream: places of a log, packs between ticks, several channels, positions, seek.

The log of a channel has messages and ticks at its places. A consumer reads one channel or several, place
after place. It compares the last ticks of its channels: those at the greatest wait, the others read on. If
all are at the same tick, and it is greater than the end of the last pack, the messages up to the tick form a
pack; later ones stay buffered. The end position of a pack is the tick, with one place for each channel: that
of the first message that is still buffered, or of the tick if none is. Storing a pack and saving its position
is one step. A consumer that restarts seeks the position: in each channel it reads from the place, which is
included, and skips messages at or below the timestamp of the position up to the first tick that is not
smaller.

Sources: seed 002 (bufMsgPackToChannel), facts 5.1, hazards 30 to 32, bugs B26 and B62. This is the stream as
it is *meant*: the next pack after a seek begins at the timestamp of the position, not at 0 as in the code.

How it is cut:

- The first position has a timestamp and no place (an empty message id): the log is read from its beginning,
  and messages at or below the timestamp are skipped. The timestamp 0 is the earliest position.
- A message may be in the log twice (``append_again``: its producer has tried again). A copy is removed within
  a pack, and only there. The watermark promise puts both into one pack.
- Pursuit: a consumer that is behind may read on to a further tick before its pack is taken. A message that
  drops the collection ends the pack.
- ``read_message`` and ``read_tick`` read one place; other steps may come between them. A channel does not
  wait for a common round of all, as it does in the code.

Left out: limits of size and time of a pursuit (it may stop at any tick), other messages than those that carry
rows or drop a collection.
"""

from tidemark.spec.language import (
    Bool,
    Map,
    Nat,
    Protocol,
    Set,
    Sort,
    TypeAlias,
    action,
    all_of,
    any_of,
    anything,
    constant,
    each,
    everywhere,
    exists,
    forall,
    implies,
    initially,
    ite,
    least,
    maximum,
    option,
    require,
    when,
)


class StreamActions(Protocol, name="stream"):
    """Channels and one consumer of them that crashes and seeks; any number of messages and ticks."""

    Channel: TypeAlias = Sort
    Message: TypeAlias = Sort
    Ts: TypeAlias = Nat
    Place: TypeAlias = Nat
    Faults: TypeAlias = Nat

    PROMISE: Bool = option(True)  # each message is appended above every tick in the log
    PURSUIT: Bool = option(True)  # a pack may grow by further ticks until it is taken

    channel: Map[Message, Channel] = constant()
    drops: Set[Message] = constant()  # the message drops the collection
    start: Ts = constant()  # the timestamp of the first position; 0: the earliest

    # The logs.
    end: Map[Channel, Place] = everywhere(0)  # the last place; the first is 1
    place: Map[Message, Place] = everywhere(0)  # 0: not in the log
    again: Map[Message, Place] = everywhere(0)  # the place of its copy; 0: none
    ts: Map[Message, Ts] = everywhere(0)
    tick_at: Map[Channel, Place, Ts] = everywhere(0)  # 0: no tick
    highest: Map[Channel, Ts] = everywhere(0)

    # The consumer's memory.
    read: Map[Channel, Place] = everywhere(0)
    at: Map[Channel, Ts] = everywhere(0)  # the last tick that was read; 0 while it seeks
    last: Ts = anything  # the end of the last pack
    seeking: Set[Channel] = anything
    buffered: Set[Message] = everywhere(False)
    held: Set[Message] = everywhere(False)  # in the pack, and not stored
    next_ts: Ts = 0  # the end position of the pack; 0 if there is none
    next_place: Map[Channel, Place] = everywhere(0)

    # The store.
    done: Set[Message] = everywhere(False)
    twice: Set[Message] = everywhere(False)
    position_ts: Ts = anything
    position_place: Map[Channel, Place] = everywhere(0)  # 0: an empty message id
    faults: Faults = 0

    @initially
    def begins_at_the_first_position(s) -> Bool:
        """A consumer that starts for the first time seeks the first position."""
        return all_of(
            s.position_ts == s.start,
            s.last == s.start,
            forall(s.Channel, lambda c: s.seeking[c] == (s.start > 0)),
        )

    # ---- the logs ----

    @action(source="facts 3.1, 5.1", relies_on=("timetick.ticks_are_below_all_to_come",))
    def append(s, m: Message, ts: Ts) -> None:
        """A message is in the log."""
        require((s.place[m] == 0) & (ts > 0))
        require(implies(s.PROMISE, ts > s.highest[s.channel[m]]))
        s.end[s.channel[m]] = s.end[s.channel[m]] + 1
        s.place[m] = s.end[s.channel[m]]
        s.ts[m] = ts

    @action(source="facts 3.1, 5.1", relies_on=("timetick.ticks_are_below_all_to_come",))
    def append_again(s, m: Message) -> None:
        """A message is in the log a second time: its producer had no answer, and has tried again."""
        require((s.place[m] > 0) & (s.again[m] == 0))
        require(implies(s.PROMISE, s.ts[m] > s.highest[s.channel[m]]))
        s.end[s.channel[m]] = s.end[s.channel[m]] + 1
        s.again[m] = s.end[s.channel[m]]

    @action(source="facts 4, 5.1; hazard 30")
    def send_tick(s, c: Channel, value: Ts) -> None:
        """A tick is in the log of a channel. It may be smaller than the last."""
        require(value > 0)
        s.end[c] = s.end[c] + 1
        s.tick_at[c, s.end[c]] = value
        s.highest[c] = maximum(s.highest[c], value)

    # ---- the consumer ----

    def is_skipped(s, m: Message) -> Bool:
        """A consumer that seeks has this message already."""
        return s.seeking[s.channel[m]] & (s.ts[m] <= s.position_ts)

    def is_behind(s, c: Channel) -> Bool:
        """Another channel has been read to a greater tick."""
        return exists(s.Channel, lambda d: s.at[d] > s.at[c])

    def is_level(s) -> Bool:
        return forall(s.Channel, s.Channel, lambda c, d: s.at[c] == s.at[d])

    def pursues(s) -> Bool:
        """The pack may grow: no message in it drops the collection."""
        return s.PURSUIT & ~exists(s.Message, lambda m: s.held[m] & s.drops[m])

    def may_read(s, c: Channel) -> Bool:
        """The consumer reads on in this channel."""
        return s.is_behind(c) | (s.is_level() & ((s.next_ts == 0) | s.pursues()))

    @action(fairness="weak", source="facts 5.1; hazard 31")
    def read_message(s, m: Message) -> None:
        """The next place of a channel holds a message."""
        require(s.may_read(s.channel[m]))
        require(s.lies_at(m, s.read[s.channel[m]] + 1))
        s.read[s.channel[m]] = s.read[s.channel[m]] + 1
        s.buffered[m] = ~s.is_skipped(m)

    def lies_at(s, m: Message, p: Place) -> Bool:
        """The message, or its copy, is at this place."""
        return any_of(s.place[m] == p, s.again[m] == p)

    @action(fairness="weak", source="facts 5.1; hazard 30")
    def read_tick(s, c: Channel, value: Ts) -> None:
        """The next place of a channel is a tick: a pack, if all are at it, it is greater, and none seeks."""
        require(s.may_read(c))
        require((value > 0) & (s.tick_at[c, s.read[c] + 1] == value))
        s.read[c] = s.read[c] + 1
        s.at[c] = ite(s.seeking[c], 0, value)
        with when(s.makes_a_pack(c, value)):
            s.gather(value)
        s.seeking[c] = s.seeking[c] & (value < s.position_ts)

    def makes_a_pack(s, c: Channel, value: Ts) -> Bool:
        """All channels are at this tick, and it is greater than the end of the last pack."""
        return all_of(~s.seeking[c], s.is_level(), value > s.last)

    def gather(s, value: Ts) -> None:
        """All buffered messages up to the tick move to the pack."""
        s.held = each(s.Message, lambda m: s.held[m] | (s.buffered[m] & (s.ts[m] <= value)))
        s.buffered = each(s.Message, lambda m: s.buffered[m] & (s.ts[m] > value))
        s.last = value
        s.next_ts = value
        s.next_place = each(s.Channel, s.place_of_position)

    def place_of_position(s, c: Channel) -> Place:
        """The place of the first message that is still buffered, or that of the tick."""
        return least(
            s.Place,
            lambda p: exists(s.Message, lambda m: all_of(s.buffered[m], s.place[m] == p, s.channel[m] == c)),
            default=s.read[c],
        )

    @action(fairness="weak", source="facts 5.1, 7.5")
    def store(s) -> None:
        """The pack is taken: its messages are stored with its end position."""
        require(s.next_ts > 0)
        s.twice = each(s.Message, lambda m: s.twice[m] | all_of(s.held[m], s.done[m]))
        s.done = each(s.Message, lambda m: s.done[m] | s.held[m])
        s.held = each(s.Message, lambda m: False)
        s.position_ts = s.next_ts
        s.position_place = each(s.Channel, lambda c: s.next_place[c])
        s.next_ts = 0
        s.next_place = each(s.Channel, lambda c: 0)

    @action(source="facts 5.1; hazard 31")
    def crash(s) -> None:
        """The memory is lost. The next consumer seeks the stored position."""
        s.held = each(s.Message, lambda m: False)
        s.buffered = each(s.Message, lambda m: False)
        s.next_ts = 0
        s.next_place = each(s.Channel, lambda c: 0)
        s.last = s.position_ts
        s.at = each(s.Channel, lambda c: 0)
        s.read = each(s.Channel, lambda c: s.start_of(c, s.position_place[c]))
        s.seeking = each(s.Channel, lambda c: s.position_ts > 0)
        s.faults = s.faults + 1

    def start_of(s, c: Channel, place: Place) -> Place:
        """Where reading begins after a seek to the place: the place itself is read again."""
        return ite(place > 0, place - 1, 0)
