"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.deletes import Deletes
from tidemark.spec.language import invariant


class WrongMarks(Deletes):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def no_consumed_delete_is_lost(s):
        return super().no_consumed_delete_is_lost()
