"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import invariant, transition_invariant
from tidemark.spec.segments import Segments


class WrongMarks(Segments):
    """A frame condition counts as a property, or a property as a frame condition."""

    @transition_invariant()
    def service_time_never_goes_back(before, after):
        return super().service_time_never_goes_back(after)

    @invariant(frame=True)
    def rows_are_served(s):
        return super().rows_are_served()
