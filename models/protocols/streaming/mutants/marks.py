"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import transition_invariant
from tidemark.spec.streaming import Streaming


class WrongMarks(Streaming):
    """A frame condition counts as a property, or a property as a frame condition."""

    @transition_invariant(frame=True)
    def ticks_never_go_back(before, after):
        return super().ticks_never_go_back(after)
