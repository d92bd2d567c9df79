"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.garbage import Garbage
from tidemark.spec.language import invariant


class WrongMarks(Garbage):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def named_files_are_there(s):
        return super().named_files_are_there()
