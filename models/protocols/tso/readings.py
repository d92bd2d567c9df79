"""The timestamp oracle as its callers see it."""

import inspect
from typing import Any

from tidemark.models.composition.reading import Reading
from tidemark.spec.language import Protocol, all_of, exists, plain
from tidemark.spec.tso import Tso


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


class AnswerOfACall(Reading, owner=Tso):
    """A step that takes a timestamp from the answer to a call of the oracle: ``user=..., action=..., ts=Ts``.

    The last keyword names the value that is the timestamp, and its type. A subclass has one static method,
    ``floor(user, **values)``, of the other values: the greatest timestamp that was answered before the call
    began. ``glue`` and ``takes`` follow from it.
    """

    def __init_subclass__(cls, *, user: type[Protocol] | None = None, action: str = "", **stamp: Any) -> None:
        super().__init_subclass__(user=user, action=action)
        floor = getattr(vars(cls).get("floor"), "__func__", None)
        if floor is None:  # a variant that replaces glue or takes
            return
        ((name, kind),) = stamp.items()
        state, *values = inspect.signature(floor).parameters.values()
        either_way = inspect.Parameter.POSITIONAL_OR_KEYWORD
        oracle, ts = inspect.Parameter("oracle", either_way), inspect.Parameter(name, either_way)

        def glue(state, oracle, *given):
            return is_an_answer(oracle, floor(state, *given[:-1]), given[-1])

        def takes(state, *given):
            return given[-1] > floor(state, *given[:-1])

        for function, params in ((glue, [state, oracle, *values, ts]), (takes, [state, *values, ts])):
            vars(function)["__signature__"] = inspect.Signature(params)
            function.__annotations__ = {**inspect.get_annotations(floor), name: kind}
            setattr(cls, function.__name__, staticmethod(function))
