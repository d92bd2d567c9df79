"""What queries assume of the ids of their proxies, and of the flush of segments, in their words."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.flush import Flush
from tidemark.spec.ids import Ids
from tidemark.spec.language import all_of, exists, forall, implies, plain
from tidemark.spec.queries import Queries


class NumberOfARequest(Reading, user=Queries, owner=Ids, action="begin"):
    """A request's number is an id that was given for it, and for no other request."""

    @staticmethod
    def glue(queries, ids, r: Queries.Request, k: Queries.Number):
        def is_this_id(q):
            return has_id(ids, q, k) & forall(
                queries.Request,
                lambda p: implies((p != r) & (queries.number[p] > 0), is_another(ids, q, queries.number[p])),
            )

        return exists(ids.Row, is_this_id)

    @staticmethod
    def takes(queries, r, k):
        return queries.is_new_number(r, k)


class CountOfARow(Reading, user=Queries, owner=Flush, action="persist"):
    """A row counts as persisted when it lies in a segment that is recorded as flushed. It is in a file if it
    is recorded.
    """

    @staticmethod
    def glue(queries, flush, w: Queries.Row, g: Flush.Segment, p: Flush.Position):
        return all_of(flush.flushed[g], flush.row_of(p, g), queries.stored[w] == flush.durable(p))

    @staticmethod
    def takes(queries, w):
        return queries.stored[w]


def has_id(ids, q, k):
    """The id is in the run that was given to this row, or task."""
    return all_of(ids.has[q], ids.id[q] <= plain(k), plain(k) <= ids.last[q])


def is_another(ids, q, k):
    """The id was given to another one."""
    return exists(ids.Row, lambda o: (o != q) & has_id(ids, o, k))
