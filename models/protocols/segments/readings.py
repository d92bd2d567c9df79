"""What a query node assumes of the time tick and of its dispatcher, in its own words."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.dispatch import Dispatch
from tidemark.spec.language import all_of, exists, forall, implies, one_of
from tidemark.spec.segments import Segments
from tidemark.spec.timetick import TimeTick


class WriteOfTheLog(Reading, user=Segments, owner=TimeTick, action="append"):
    """What is appended is a message that the log of the channel takes; the last tick is the channel's."""

    @staticmethod
    def glue(segments, tick, c: TimeTick.Channel, ts: Segments.Ts):
        return (tick.highest[c] == segments.tick) & exists(
            tick.Message,
            lambda m: all_of(
                tick.channel_of[m] == c,
                tick.may_append(m),
                one_of(tick.message[m], "open", "lost"),
                tick.ts[m] == ts,
            ),
        )

    @staticmethod
    def takes(segments, ts):
        return ts > segments.tick


class PackOfTheDispatcher(Reading, user=Segments, owner=Dispatch, action="raise_safe"):
    """The writes of the log are messages for the node's target, and the pipeline has done with what the
    target was sent. The target came with the start of the stream, and its last pack is the present one.
    """

    @staticmethod
    def glue(segments, dispatch, t: Dispatch.Target):
        return all_of(
            dispatch.where[t] != "absent",
            dispatch.begins[t] == segments.start,
            dispatch.upto[t] == segments.pack,
            forall(
                segments.Write,
                lambda w: implies(
                    segments.logged[w],
                    exists(
                        dispatch.Message,
                        lambda m: all_of(
                            dispatch.logged[m],
                            dispatch.is_for(t, m),
                            dispatch.ts[m] == segments.ts[w],
                            implies(dispatch.got[t, m], segments.applied[w]),
                        ),
                    ),
                ),
            ),
        )

    @staticmethod
    def takes(segments):
        return forall(segments.Write, lambda w: ~segments.is_in_pack(w))
