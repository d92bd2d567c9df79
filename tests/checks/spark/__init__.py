"""Tests of the distributed search."""
