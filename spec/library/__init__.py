"""Pieces of protocols that are easily written wrong: queue, message bag, quorums, a set as a choice.

A piece is declared in the class body like a type. It adds maps and numbers to the state of the protocol,
whose names begin with its own, and methods over them. Every judge sees the maps alone, so a piece works in
proofs of any size and in the compiled search.
"""

from tidemark.spec.library.bag import Bag
from tidemark.spec.library.families import Quorums, Subsets, all_subsets, majorities
from tidemark.spec.library.queue import Queue

__all__ = ["Bag", "Queue", "Quorums", "Subsets", "all_subsets", "majorities"]
