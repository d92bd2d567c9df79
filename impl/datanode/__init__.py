"""The data node: it buffers the rows of a virtual channel, syncs them, and reports its checkpoint."""
