"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.dispatch import Dispatch
from tidemark.spec.language import invariant


class WrongMarks(Dispatch):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def nothing_is_left_out(s):
        return super().nothing_is_left_out()
