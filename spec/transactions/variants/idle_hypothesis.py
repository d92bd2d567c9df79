"""A claim with an idle hypothesis, for a judge of strength to find."""

from tidemark.spec.language import implies, invariant
from tidemark.spec.transactions import Transactions


class IdleHypothesis(Transactions):
    """A claim of the log, limited to a log with an end: the hypothesis is idle."""

    @invariant()
    def nothing_else_is_delivered(s):
        return implies(s.end >= 0, super().nothing_else_is_delivered())
