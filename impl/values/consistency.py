"""The consistency levels of reads."""

from __future__ import annotations

from enum import Enum


class ConsistencyLevel(Enum):
    """What a read must see.

    Milvus: ConsistencyLevel
    """

    STRONG = "strong"
    """Everything that was acknowledged before it."""
    SESSION = "session"
    """Everything that its client knows of."""
    BOUNDED = "bounded"
    """Everything but what is recent."""
    EVENTUALLY = "eventually"
    """Anything."""
    CUSTOMIZED = "customized"
    """Everything up to a timestamp that the client names."""
