"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.aliases import Aliases
from tidemark.spec.language import invariant


class WrongMarks(Aliases):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def caches_are_not_behind(s):
        return super().caches_are_not_behind()
