"""The design with the other boundary."""

from tidemark.spec.flowgraph import FlowGraph


class StrictFilter(FlowGraph):
    """Only rows below the position are dropped (hazard 47)."""

    DROPS_AT = False
