"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import invariant
from tidemark.spec.paused import Paused


class WrongMarks(Paused):
    """A frame condition counts as a property, or a property as a frame condition."""

    @invariant(frame=True)
    def acknowledged_rows_are_not_lost(s):
        return super().acknowledged_rows_are_not_lost()
