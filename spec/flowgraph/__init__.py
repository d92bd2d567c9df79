"""Recovery of a data node's flow graph by the positions of segments, as designed in 2021."""

from tidemark.spec.flowgraph.proof import FlowGraph as FlowGraph
