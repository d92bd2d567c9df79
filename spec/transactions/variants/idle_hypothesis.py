"""A claim with a hypothesis that says nothing: a judge of strength must tell."""

from tidemark.spec.language import implies, invariant
from tidemark.spec.transactions import Transactions


class IdleHypothesis(Transactions):
    """A claim of the log is made only of a log with an end: the hypothesis says nothing."""

    @invariant()
    def nothing_else_is_delivered(s):
        return implies(s.end >= 0, super().nothing_else_is_delivered())
