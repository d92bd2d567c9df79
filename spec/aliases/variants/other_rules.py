"""The design without one of its rules, for proofs that must fail."""

from tidemark.spec.aliases import Aliases
from tidemark.spec.language import Bool, action, each, ite, option, require


class CopiesUnderTheAlias(Aliases):
    """A proxy keeps the collection's metadata under the alias, and forgets them when the alias changes."""

    COPIES = True


class OnlyWhoKeepsItIsTold(Aliases):
    """A proxy without an entry of the name does not answer (for the proof that must fail)."""

    def invalidate(s, p: Aliases.Proxy, n: Aliases.Name) -> None:
        require(s.is_kept(p, n))
        super().invalidate(p, n)


class CoordinatorRestarts(Aliases):
    """The coordinator ends during a change, the proxies live. Its successor finds the change in the store."""

    TELLS_AGAIN: Bool = option(True)  # it tells every proxy; else what is stored counts as acknowledged

    @action(source="facts 12; facts 4: initSessions")
    def coordinator_restarts(s) -> None:
        """The successor begins with the stored change: which proxies have been told is lost."""
        require(s.changing)
        s.changing = s.TELLS_AGAIN
        s.settled = each(s.Name, lambda n: ite(s.TELLS_AGAIN, s.settled[n], s.changed[n]))
        s.told = each(s.Proxy, lambda p: False)
        s.shown = each(s.Name, s.Collection, lambda n, x: ite(s.TELLS_AGAIN, s.shown[n, x], s.means(n, x)))
