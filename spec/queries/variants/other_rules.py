"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.queries import Queries


class ClosedAtOnce(Queries):
    """A stream is closed when it is removed, even if a request writes through it."""

    WAITS_FOR_WRITERS = False
