"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import invariant
from tidemark.spec.proxy import Proxy


class WrongMarks(Proxy):
    """A frame condition counts as a property, or a property as a frame condition."""

    @invariant()
    def least_and_greatest_are_exact(s):
        return super().least_and_greatest_are_exact()

    @invariant(frame=True)
    def no_ghost_is_tracked(s):
        return super().no_ghost_is_tracked()
