"""A reading from which nothing follows: the judge of the argument must find it."""

from tidemark.models.protocols.proxy.readings import StampOfATask
from tidemark.spec.language import exists, plain


class StampThatOverlaps(StampOfATask):
    """What was answered before the call began may be answered after it."""

    @staticmethod
    def glue(user, oracle, t, ts):
        def answered(value):
            return exists(
                oracle.Call,
                lambda c: oracle.answered(c) & (oracle.count[c] == 1) & (oracle.last_ts(c) == plain(value)),
            )

        return answered(ts) & answered(user.floor[t])
