"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.dispatch.readings import PackOfTheMain, holds_what_is_logged


class PackOfAnEarlierTick(PackOfTheMain):
    """The last pack of the stream ended before the tick of this one."""

    @staticmethod
    def glue(dispatch, stream, end):
        return (
            (stream.start <= dispatch.main_at) & (stream.last < end) & holds_what_is_logged(dispatch, stream)
        )
