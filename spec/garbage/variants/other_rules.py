"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.garbage import Garbage


class NoTerm(Garbage):
    """What no record names is garbage, also while its save is under way."""

    CHECKS_TERM = False
