"""Service time and reads: the answers of each consistency level."""

from tidemark.spec.reads.proof import Reads as Reads
