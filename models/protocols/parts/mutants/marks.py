"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.language import invariant
from tidemark.spec.parts import Parts


class WrongMarks(Parts):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def every_channel_is_exact(s):
        return super().every_channel_is_exact()
