"""A reading from which nothing follows: the judge of the argument must find it."""

from tidemark.models.protocols.segments.readings import PackOfTheDispatcher
from tidemark.spec.language import all_of, exists, forall, implies


class PackOfAnotherTarget(PackOfTheDispatcher):
    """The writes are messages for any target."""

    @staticmethod
    def glue(segments, dispatch, t):
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
                            dispatch.ts[m] == segments.ts[w],
                            implies(dispatch.got[t, m], segments.applied[w]),
                        ),
                    ),
                ),
            ),
        )
