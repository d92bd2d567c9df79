"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.queries import Queries


class ClosedAtOnce(Queries):
    """A stream is closed when it is removed, whoever writes."""

    WAITS_FOR_WRITERS = False
