"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.ids.readings import BatchOfACall, is_the_batch
from tidemark.spec.language import exists, forall, implies


class OneCallForAll(BatchOfACall):
    """Two batches may be the answer to one call."""

    @staticmethod
    def glue(ids, oracle, b, first, last):
        def is_this_call(a):
            return is_the_batch(oracle, a, first, last) & forall(
                ids.Batch,
                lambda c: implies((c != b) & ids.is_granted(c), is_some(ids, oracle, c)),
            )

        return exists(oracle.Call, is_this_call)


def is_some(ids, oracle, batch):
    """The batch is the answer to some call."""
    return exists(oracle.Call, lambda d: is_the_batch(oracle, d, ids.lowest[batch], ids.highest[batch]))
