"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import implies, invariant
from tidemark.spec.sessions import Sessions


class WrongMarks(Sessions):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def who_serves_is_known_or_refused(s):
        return super().who_serves_is_known_or_refused()


class IdleHypothesis(Sessions):
    """The view is that of the store also while no coordinator has a list: the hypothesis says nothing."""

    @invariant()
    def the_view_is_the_store_of_its_revision(s):
        return implies(s.phase != "down", super().the_view_is_the_store_of_its_revision())
