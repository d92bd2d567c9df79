"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.language import require
from tidemark.spec.segments import Segments


class RaisesAtTheEndOnly(Segments):
    """The service time rises only where the node has read the log to its last tick."""

    def raise_safe(s) -> None:
        require(s.pack == s.tick)
        super().raise_safe()
