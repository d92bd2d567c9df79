"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.flush import Flush
from tidemark.spec.language import invariant, transition_invariant


class WrongMarks(Flush):
    """A frame condition counts as a property, or a property as a frame condition."""

    @transition_invariant()
    def only_the_owner_records(before, after):
        return super().only_the_owner_records(after)

    @invariant(frame=True)
    def stored_once(s):
        return super().stored_once()
