"""Tests of the search of interleavings."""
