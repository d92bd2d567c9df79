"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.allocation import Allocation
from tidemark.spec.language import invariant


class WrongMarks(Allocation):
    """A property counts as a frame condition."""

    @invariant(frame=True)
    def the_rows_of_an_ended_segment_were_read(s):
        return super().the_rows_of_an_ended_segment_were_read()
