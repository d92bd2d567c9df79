"""What the dispatchers assume of the time tick and of their message streams, in their own words."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.dispatch import Dispatch
from tidemark.spec.language import all_of, exists, forall, implies, one_of
from tidemark.spec.stream import Stream
from tidemark.spec.timetick import TimeTick


class MessageOfTheLog(Reading, user=Dispatch, owner=TimeTick, action="append"):
    """What is appended is a message that the log of the channel takes; the last tick is the channel's."""

    @staticmethod
    def glue(dispatch, tick, c: TimeTick.Channel, ts: Dispatch.Ts):
        return (tick.highest[c] == dispatch.tick) & exists(
            tick.Message,
            lambda m: all_of(
                tick.channel_of[m] == c,
                tick.may_append(m),
                one_of(tick.message[m], "open", "lost"),
                tick.ts[m] == ts,
            ),
        )

    @staticmethod
    def takes(dispatch, ts):
        return ts > dispatch.tick


def holds_what_is_logged(dispatch, stream):
    """The messages of the log are those of the stream; what the stream has handed over was read."""
    return forall(
        dispatch.Message,
        lambda m: implies(
            dispatch.logged[m],
            exists(
                stream.Message,
                lambda n: all_of(
                    stream.place[n] > 0,
                    stream.ts[n] == dispatch.ts[m],
                    implies(stream.held[n] | stream.done[n], dispatch.handed[m]),
                ),
            ),
        ),
    )


class PackOfTheMain(Reading, user=Dispatch, owner=Stream, action="read_main"):
    """The pack is the last one of the main dispatcher's stream, which began at or below its start."""

    @staticmethod
    def glue(dispatch, stream, end: Dispatch.Ts):
        return all_of(
            stream.start <= dispatch.main_at, stream.last == end, holds_what_is_logged(dispatch, stream)
        )

    @staticmethod
    def takes(dispatch, end):
        return dispatch.is_complete(dispatch.main_at, end)


class PackOfADeputy(Reading, user=Dispatch, owner=Stream, action="send_deputy"):
    """The pack is the last one of the deputy's stream, which began at or below its start."""

    @staticmethod
    def glue(dispatch, stream, t: Dispatch.Target, end: Dispatch.Ts):
        return all_of(
            stream.start <= dispatch.deputy_at[t], stream.last == end, holds_what_is_logged(dispatch, stream)
        )

    @staticmethod
    def takes(dispatch, t, end):
        return dispatch.is_complete(dispatch.deputy_at[t], end)
