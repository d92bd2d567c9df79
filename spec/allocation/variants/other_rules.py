"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.allocation import Allocation


class ExpiryIsForgotten(Allocation):
    """A restarted coordinator knows of no grant."""

    RAISES_EXPIRY = False
