"""Spark: the session, and the searches that are spread over it."""
