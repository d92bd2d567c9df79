"""What the message stream takes for granted of the time tick, in its own words."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.language import all_of, exists, one_of
from tidemark.spec.stream import Stream
from tidemark.spec.timetick import TimeTick


class MessageOfTheLog(Reading, user=Stream, owner=TimeTick, action="append"):
    """What is appended is a message that the log of the channel takes; the greatest tick is the channel's."""

    @staticmethod
    def glue(stream, tick, c: TimeTick.Channel, ts: Stream.Ts):
        return (tick.highest[c] == stream.highest) & exists(
            tick.Message,
            lambda m: all_of(
                tick.channel_of[m] == c,
                tick.may_append(m),
                one_of(tick.message[m], "open", "lost"),
                tick.ts[m] == ts,
            ),
        )

    @staticmethod
    def takes(stream, ts):
        return ts > stream.highest
