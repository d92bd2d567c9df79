"""Tests of the native reading: codec, kernel, search, graph."""
