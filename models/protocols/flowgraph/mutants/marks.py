"""Claims with wrong marks: what must be found of them is said in the manifest."""

from tidemark.spec.flowgraph import FlowGraph
from tidemark.spec.language import invariant


class WrongMarks(FlowGraph):
    """A frame condition counts as a property, or a property as a frame condition."""

    @invariant(frame=True)
    def no_row_is_lost(s):
        return super().no_row_is_lost()
