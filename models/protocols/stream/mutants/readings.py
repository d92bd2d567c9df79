"""A reading from which nothing follows: the judge of the argument must find it."""

from tidemark.models.protocols.stream.readings import MessageOfTheLog
from tidemark.spec.language import exists


class MessageOfAnotherChannel(MessageOfTheLog):
    """A message of some channel is taken for one of this channel."""

    @staticmethod
    def glue(stream, tick, m, c, ts):
        return (tick.highest[c] == stream.highest[stream.channel[m]]) & exists(
            tick.Message, lambda n: tick.may_append(n) & (tick.ts[n] == ts)
        )
