"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import transition_invariant
from tidemark.spec.reads import Reads


class WrongMarks(Reads):
    """A frame condition counts as a property, or a property as a frame condition."""

    @transition_invariant()
    def service_time_never_goes_back(before, after):
        return super().service_time_never_goes_back(after)
