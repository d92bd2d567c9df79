"""The query node: service time, segments, deletes, and reads at one moment."""
