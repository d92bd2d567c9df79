"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import invariant
from tidemark.spec.meta import Meta


class WrongMarks(Meta):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def caches_are_not_behind(s):
        return super().caches_are_not_behind()
