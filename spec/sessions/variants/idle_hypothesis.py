"""A claim with a hypothesis that says nothing: a judge of strength must tell."""

from tidemark.spec.language import implies, invariant
from tidemark.spec.sessions import Sessions


class IdleHypothesis(Sessions):
    """The view is that of the store also while no coordinator has a list: the hypothesis says nothing."""

    @invariant()
    def the_view_is_the_store_of_its_revision(s):
        return implies(s.phase != "down", super().the_view_is_the_store_of_its_revision())
