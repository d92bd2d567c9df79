"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.queries.readings import NumberOfARequest, has_id
from tidemark.spec.language import exists, forall, implies


class OneIdForAll(NumberOfARequest):
    """Two requests may have one id."""

    @staticmethod
    def glue(queries, ids, r, k):
        return exists(ids.Row, lambda q: has_id(ids, q, k)) & forall(
            queries.Request,
            lambda p: implies(
                queries.number[p] > 0, exists(ids.Row, lambda q: has_id(ids, q, queries.number[p]))
            ),
        )
