"""The design with the other boundary."""

from tidemark.spec.flowgraph import FlowGraph


class StrictFilter(FlowGraph):
    """Only what lies below the position is dropped (hazard 47)."""

    DROPS_AT = False
