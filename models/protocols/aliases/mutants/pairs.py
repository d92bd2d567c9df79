"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.aliases import Aliases


class CopiesUnderTheAlias(Aliases):
    """A proxy keeps the collection's metadata under the alias, and forgets them when the alias changes."""

    COPIES = True
