"""The breadth-first search on Spark."""
