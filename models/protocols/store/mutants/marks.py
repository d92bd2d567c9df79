"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import invariant, transition_invariant
from tidemark.spec.store import Store


class WrongMarks(Store):
    """A frame condition counts as a property, or a property as a frame condition."""

    @invariant()
    def nothing_is_invented(s):
        return super().nothing_is_invented()

    @transition_invariant(frame=True)
    def the_durable_value_never_goes_back(before, after):
        return super().the_durable_value_never_goes_back(after)
