"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import invariant
from tidemark.spec.ownership import Ownership


class WrongMarks(Ownership):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def stored_once(s):
        return super().stored_once()
