"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.scheduler.readings import IdOfATask
from tidemark.spec.language import exists, forall, implies


class OneRunForTwo(IdOfATask):
    """Two tasks may have their ids from one run."""

    @staticmethod
    def glue(scheduler, ids, t):
        return forall(
            scheduler.Task,
            lambda u: implies(
                scheduler.has_id(u),
                exists(
                    ids.Row,
                    lambda r: ids.has[r] & implies(scheduler.id[t] == scheduler.id[u], ids.id[r] > 0),
                ),
            ),
        )
