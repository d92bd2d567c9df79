"""A data node by itself: what it asks of log, store and coordinator, and when."""
