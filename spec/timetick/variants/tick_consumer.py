"""A consumer of ticks: the cost of a broken promise (hazard 31).

It takes the messages up to a tick, stores them, and moves its checkpoint to the tick. After a crash it seeks
the checkpoint: messages with ts <= the position are skipped.
"""

from tidemark.spec.language import (
    Bool,
    Enum,
    Map,
    Self,
    TypeAlias,
    action,
    all_of,
    each,
    everywhere,
    exists,
    forall,
    implies,
    invariant,
    ite,
    lemma,
    reachable,
    require,
)
from tidemark.spec.timetick import TimeTick


class Consumer(TimeTick):
    """One consumer of every channel: pack, store, checkpoint; a crash, and a seek to the checkpoint."""

    Row: TypeAlias = Enum["absent", "held", "stored"]

    row: Map[TimeTick.Message, Row] = everywhere("absent")
    position: Map[TimeTick.Channel, TimeTick.Ts] = everywhere(0)  # the last tick consumed
    checkpoint: Map[TimeTick.Channel, TimeTick.Ts] = everywhere(0)
    # where it began to read: ts <= this is skipped
    sought: Map[TimeTick.Channel, TimeTick.Ts] = everywhere(0)

    def comes_with(s, m: TimeTick.Message, c: TimeTick.Channel) -> Bool:
        """The message is in the next pack of the channel: in the log, at or below the tick, not yet taken."""
        return all_of(
            s.channel_of[m] == c,
            s.message[m] == "appended",
            s.row[m] == "absent",
            s.ts[m] <= s.tick[c],
            s.ts[m] > s.sought[c],
        )

    @action(fairness="weak", source="facts 5.1")
    def consume(s, c: TimeTick.Channel) -> None:
        """The next pack: everything up to a greater tick, late messages too. A smaller tick is ignored."""
        require(s.tick[c] > s.position[c])
        s.row = each(s.Message, lambda m: ite(s.comes_with(m, c), "held", s.row[m]))
        s.position[c] = s.tick[c]

    @action(fairness="weak", source="facts 5.1, 7.5")
    def store(s, c: TimeTick.Channel) -> None:
        """The messages that it holds are stored, and the checkpoint moves to the tick."""
        require(s.checkpoint[c] < s.position[c])
        s.row = each(
            s.Message,
            lambda m: ite((s.channel_of[m] == c) & (s.row[m] == "held"), "stored", s.row[m]),
        )
        s.checkpoint[c] = s.position[c]

    @action(source="hazard 31")
    def crash_consumer(s, c: TimeTick.Channel) -> None:
        """The memory of the channel is lost; a new consumer seeks the checkpoint."""
        s.row = each(
            s.Message,
            lambda m: ite((s.channel_of[m] == c) & (s.row[m] == "held"), "absent", s.row[m]),
        )
        s.position[c] = s.checkpoint[c]
        s.sought[c] = s.checkpoint[c]
        s.fault()

    @invariant(source="hazard 31; property S")
    def a_seek_skips_only_what_is_stored(s) -> Bool:
        """Every message in the log that the consumer's seek has skipped is stored."""
        return forall(
            s.Message,
            lambda m: implies(
                (s.message[m] == "appended") & (s.ts[m] <= s.sought[s.channel_of[m]]),
                s.row[m] == "stored",
            ),
        )

    @invariant(source="hazard 31; property S")
    def a_checkpoint_claims_only_what_is_stored(s) -> Bool:
        """Every message in the log at or below the checkpoint is stored."""
        return forall(
            s.Message,
            lambda m: implies(
                (s.message[m] == "appended") & (s.ts[m] <= s.checkpoint[s.channel_of[m]]),
                s.row[m] == "stored",
            ),
        )

    @reachable(after="crash_consumer", source="hazard 31")
    def a_consumer_reads_again(before, after: Self, c: TimeTick.Channel) -> Bool:
        """A crash loses a message that was taken, and the new consumer will read it again."""
        return exists(after.Message, lambda m: (before.row[m] == "held") & (after.row[m] == "absent"))

    @reachable(after="crash_consumer", source="hazard 31")
    def a_seek_skips_a_message(before, after: Self, c: TimeTick.Channel) -> Bool:
        """A seek skips a message that is stored."""
        return exists(
            after.Message,
            lambda m: (
                (after.row[m] == "stored") & (after.channel_of[m] == c) & (after.ts[m] <= after.sought[c])
            ),
        )

    @lemma(source="facts 5.1")
    def positions_are_in_order(s) -> Bool:
        """Sought, checkpoint, position, greatest tick."""
        return forall(
            s.Channel,
            lambda c: all_of(
                s.sought[c] <= s.checkpoint[c],
                s.checkpoint[c] <= s.position[c],
                s.position[c] <= s.highest[c],
            ),
        )

    @lemma(source="facts 5.1")
    def what_was_passed_was_taken(s) -> Bool:
        """Every message in the log at or below the last tick consumed is held or stored."""
        return forall(
            s.Message,
            lambda m: implies(
                (s.message[m] == "appended") & (s.ts[m] <= s.position[s.channel_of[m]]),
                s.row[m] != "absent",
            ),
        )


class ConsumerOfLateMessages(Consumer):
    """A proxy serves before the coordinator waits for it; a consumer recovers (hazards 10 and 31)."""

    BARRIER = False

    @reachable(after="consume", source="facts 5.1")
    def a_late_message_is_taken(before, after: Self, c: Consumer.Channel) -> Bool:
        """A consumer takes a late message with the next pack."""
        return exists(
            after.Message,
            lambda m: (
                (before.row[m] == "absent")
                & (after.row[m] == "held")
                & (after.channel_of[m] == c)
                & (after.ts[m] <= before.position[c])
            ),
        )


class ConsumerOfTicksThatGoBack(Consumer):
    """Ticks may go back; the consumer ignores those (hazard 30)."""

    MONOTONE = False
    RESUMES = False
