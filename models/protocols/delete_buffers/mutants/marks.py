"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.delete_buffers import DeleteBuffers
from tidemark.spec.language import invariant


class WrongMarks(DeleteBuffers):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def no_consumed_delete_is_lost(s):
        return super().no_consumed_delete_is_lost()
