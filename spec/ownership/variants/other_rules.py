"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.ownership import Ownership


class ByNode(Ownership):
    """The coordinator compares the id of the node."""

    BY_EPOCH = False
