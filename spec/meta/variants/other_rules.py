"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.meta import Meta


class InvalidationWithoutVersion(Meta):
    """An answer that is older than the invalidation is taken (hazard 36)."""

    VERSIONED = False
