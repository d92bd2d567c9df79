"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import transition_invariant
from tidemark.spec.stream import Stream


class WrongMarks(Stream):
    """A frame condition counts as a property, or a property as a frame condition."""

    @transition_invariant()
    def packs_advance(before, after):
        return super().packs_advance(after)

    @transition_invariant(frame=True)
    def positions_never_go_back(before, after):
        return super().positions_never_go_back(after)
