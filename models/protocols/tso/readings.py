"""The timestamp oracle as its callers see it."""

from tidemark.spec.language import all_of, exists, plain


def is_an_answer(oracle, floor, ts):
    """A call was answered with this timestamp alone; ``floor`` is the greatest that was answered before the
    call began, 0 if none was.
    """
    return exists(
        oracle.Call,
        lambda b: all_of(
            oracle.answered(b),
            oracle.count[b] == 1,
            oracle.last_ts(b) == plain(ts),
            (floor == 0)
            | exists(oracle.Call, lambda a: oracle.precedes[a, b] & (oracle.last_ts(a) == plain(floor))),
        ),
    )
