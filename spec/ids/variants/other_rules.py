"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.ids import Ids


class Repeated(Ids):
    """An answer that comes twice is taken twice."""

    ONCE = False
