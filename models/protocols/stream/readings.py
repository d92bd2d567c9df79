"""What the message stream assumes of the time tick, in its own words."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.language import all_of, exists, one_of
from tidemark.spec.stream import Stream
from tidemark.spec.timetick import TimeTick


class MessageOfTheLog(Reading, user=Stream, owner=TimeTick, action="append"):
    """What is appended is a message that the log of its channel takes; the greatest tick is the channel's."""

    @staticmethod
    def glue(stream, tick, m: Stream.Message, c: TimeTick.Channel, ts: Stream.Ts):
        return (tick.highest[c] == stream.highest[stream.channel[m]]) & exists(
            tick.Message, lambda n: is_the_message(tick, n, c, ts)
        )

    @staticmethod
    def takes(stream, m, ts):
        return ts > stream.highest[stream.channel[m]]


class CopyOfAMessage(Reading, user=Stream, owner=TimeTick, action="append_again"):
    """A copy is a message that is under way still: its producer waits for an answer."""

    @staticmethod
    def glue(stream, tick, m: Stream.Message, c: TimeTick.Channel):
        return (tick.highest[c] == stream.highest[stream.channel[m]]) & exists(
            tick.Message, lambda n: is_the_message(tick, n, c, stream.ts[m])
        )

    @staticmethod
    def takes(stream, m):
        return stream.ts[m] > stream.highest[stream.channel[m]]


def is_the_message(tick, n, c, ts):
    """The message of this channel, with this timestamp, is one that the log would take."""
    return all_of(
        tick.channel_of[n] == c,
        tick.may_append(n),
        one_of(tick.message[n], "open", "lost"),
        tick.ts[n] == ts,
    )
