"""Segments at a query node: growing and sealed ones, loads while the stream advances, and their deletes."""

from tidemark.spec.segments.proof import Segments as Segments
