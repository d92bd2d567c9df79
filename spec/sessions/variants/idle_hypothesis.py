"""A claim with an idle hypothesis, for a judge of strength to find."""

from tidemark.spec.language import implies, invariant
from tidemark.spec.sessions import Sessions


class IdleHypothesis(Sessions):
    """The view equals the store also while no coordinator has a list: the hypothesis is idle."""

    @invariant()
    def the_view_is_the_store_of_its_revision(s):
        return implies(s.phase != "down", super().the_view_is_the_store_of_its_revision())
