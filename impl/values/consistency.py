"""The consistency levels of reads."""

from enum import Enum


class ConsistencyLevel(Enum):
    """The promise of a read.

    Milvus: ConsistencyLevel
    """

    STRONG = "strong"
    """Everything that was acknowledged before it."""
    SESSION = "session"
    """Every write and answer that its client knows."""
    BOUNDED = "bounded"
    """Every write that is not recent."""
    EVENTUALLY = "eventually"
    """No promise."""
    CUSTOMIZED = "customized"
    """Every write up to a timestamp that the client names."""
