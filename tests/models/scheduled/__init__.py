"""Tests of the forms in which a protocol is judged."""
