"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import implies, invariant
from tidemark.spec.transactions import Transactions


class WrongMarks(Transactions):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def committed_bodies_are_delivered(s):
        return super().committed_bodies_are_delivered()


class IdleHypothesis(Transactions):
    """A claim of the log is made only of a log with an end: the hypothesis says nothing."""

    @invariant()
    def nothing_else_is_delivered(s):
        return implies(s.end >= 0, super().nothing_else_is_delivered())
