"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.ids import Ids
from tidemark.spec.language import invariant


class WrongMarks(Ids):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def ids_are_unique(s):
        return super().ids_are_unique()
