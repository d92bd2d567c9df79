"""Why a tick passes each message, for any size: a measure, and the actions that lower it."""

from tidemark.spec.language import all_of, each, exists, helpful, rank
from tidemark.spec.streaming.claims import StreamingClaims


class StreamingRanking(StreamingClaims):
    """One channel of a streaming node: timestamps, appends, ticks, terms, a consumer that recovers."""

    def awaits_a_tick(s, m):
        """The log is open, and no tick has passed the message in it."""
        return all_of(s.is_open, s.place[m] > 0, s.tick < s.ts[m])

    def is_being_drawn(s, n):
        return s.mine[n] & (s.stage[n] == "drawn")

    def holds_up(s, n, m):
        """A tick that passes the one message waits for the acknowledgement of the other."""
        return s.is_waited_for(n) & (s.ts[n] <= s.ts[m])

    def is_held_up(s, m):
        """No tick can be collected that passes the message."""
        return exists(s.Message, lambda n: s.is_being_drawn(n) | s.holds_up(n, m))

    @rank("ticks_pass_a_message")
    def what_a_message_waits_for(s, m: StreamingClaims.Message):
        """New messages, which may be drawn; the lock; appends, acknowledgements; a tick, and its write."""
        return (
            each(s.Message, lambda n: s.stage[n] == "new"),
            each(s.Message, s.is_being_drawn),
            each(s.Message, lambda n: s.holds_up(n, m) & (s.stage[n] == "pending")),
            each(s.Message, lambda n: s.holds_up(n, m)),
            s.ts[m] - s.passed,
            s.to_write > 0,
        )

    @helpful("ticks_pass_a_message", action="enter")
    def a_message_is_entered(s, m: StreamingClaims.Message, n: StreamingClaims.Message):
        return s.awaits_a_tick(m) & s.is_being_drawn(n), (n,)

    @helpful("ticks_pass_a_message", action="append")
    def a_message_is_appended(s, m: StreamingClaims.Message, n: StreamingClaims.Message):
        return s.awaits_a_tick(m) & s.holds_up(n, m) & (s.stage[n] == "pending"), (n,)

    @helpful("ticks_pass_a_message", action="acknowledge")
    def a_message_is_acknowledged(s, m: StreamingClaims.Message, n: StreamingClaims.Message):
        return s.awaits_a_tick(m) & s.holds_up(n, m) & (s.stage[n] == "logged"), (n,)

    @helpful("ticks_pass_a_message", action="write_tick")
    def a_tick_is_written(s, m: StreamingClaims.Message):
        return s.awaits_a_tick(m) & ~s.is_held_up(m) & (s.to_write > 0), ()

    @helpful("ticks_pass_a_message", action="collect")
    def a_tick_is_collected(s, m: StreamingClaims.Message):
        return s.awaits_a_tick(m) & ~s.is_held_up(m) & (s.to_write == 0), (s.ts[m], s.confirmed)
