"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.aliases import Aliases
from tidemark.spec.language import require


class CopiesUnderTheAlias(Aliases):
    """A proxy keeps the collection's metadata under the alias, and forgets them when the alias changes."""

    COPIES = True


class OnlyWhoKeepsItIsTold(Aliases):
    """A proxy without an entry of the name does not answer (for the proof that must fail)."""

    def invalidate(s, p, n):
        require(s.is_kept(p, n))
        super().invalidate(p, n)
