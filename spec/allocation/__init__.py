"""Allocation of segments: a row gets a segment that is still growing at its timestamp."""

from tidemark.spec.allocation.proof import Allocation as Allocation
