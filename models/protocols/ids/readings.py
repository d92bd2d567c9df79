"""What the proxies assume of the coordinator's side, which is an oracle of its own."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.ids import Ids
from tidemark.spec.language import all_of, exists, forall, implies, plain
from tidemark.spec.tso import Tso


class BatchOfACall(Reading, user=Ids, owner=Tso, action="answer"):
    """A batch is the answer to one call, and no two batches are the answer to the same one."""

    @staticmethod
    def glue(ids, oracle, b: Ids.Batch, first: Ids.Key, last: Ids.Key):
        def is_this_call(a):
            return is_the_batch(oracle, a, first, last) & forall(
                ids.Batch,
                lambda c: implies((c != b) & ids.is_granted(c), is_another(ids, oracle, a, c)),
            )

        return exists(oracle.Call, is_this_call)

    @staticmethod
    def takes(ids, b, first, last):
        return ids.is_new(b, first, last)


class BatchOfASecondCall(BatchOfACall, user=Ids, action="answer_again"):
    """A second delivery of the question is a call of its own."""


def is_the_batch(oracle, call, first, last):
    """The call was answered with the ids from the first to the last."""
    return all_of(
        oracle.answered(call), oracle.first_ts(call) == plain(first), oracle.last_ts(call) == plain(last)
    )


def is_another(ids, oracle, call, batch):
    """The batch is the answer to another call."""
    return exists(
        oracle.Call,
        lambda d: (d != call) & is_the_batch(oracle, d, ids.lowest[batch], ids.highest[batch]),
    )
