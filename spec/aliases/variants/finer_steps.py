"""The protocol as built: a proxy also remembers that a name means nothing, and the cluster restarts."""

from tidemark.spec.aliases import Aliases
from tidemark.spec.language import Bool, Set, action, each, everywhere, exists, ite, require


class AsBuilt(Aliases):
    """Steps of the implementation beyond those of the protocol; the claims are the same.

    An answer that a name means nothing travels like any other, and is kept until the name changes. When the
    cluster restarts its proxies are new: their caches are empty, no request continues. The change that was
    stored last has ended, or every proxy is told of it again.
    """

    lacks: Set[Aliases.Proxy, Aliases.Name] = everywhere(False)  # the proxy keeps that the name means nothing

    @action(fairness="weak", source="facts 12")
    def deny(s, r: Aliases.Request, n: Aliases.Name) -> None:
        """The cache has nothing about the name, and the coordinator answers that it means nothing."""
        require((s.stage[r] == "begun") & s.looks_up(r, n))
        require(~s.is_kept(s.at[r], n) & ~s.lacks[s.at[r], n] & s.is_free(n))
        s.stage[r] = "answered"
        s.given[r] = s.now

    @action(fairness="weak", source="facts 12")
    def note(s, r: Aliases.Request, n: Aliases.Name) -> None:
        """That answer arrives. The cache takes it unless it knows of a newer change of the name."""
        require(
            (s.stage[r] == "answered") & s.looks_up(r, n) & ~exists(s.Collection, lambda x: s.brings[r, x])
        )
        s.lacks[s.at[r], n] = s.lacks[s.at[r], n] | s.is_taken(r, n)
        s.given[r] = 0
        s._ends_without(r)

    @action(source="facts 12")
    def restart(s, again: Bool) -> None:
        """The cluster ends, and starts again from its store."""
        s.changing = s.changing & again
        s.settled = each(s.Name, lambda n: ite(s.changing, s.settled[n], s.changed[n]))
        s.told = each(s.Proxy, lambda p: False)
        s.shown = each(s.Name, s.Collection, lambda n, x: ite(s.changing, s.shown[n, x], s.means(n, x)))
        s.keeps = each(s.Proxy, s.Name, s.Collection, lambda p, n, x: False)
        s.lacks = each(s.Proxy, s.Name, lambda p, n: False)
        s.moment = each(s.Proxy, s.Name, lambda p, n: 0)
        s.floor = each(s.Proxy, s.Name, lambda p, n: s.changed[n])
        s.pick = each(s.Request, s.Collection, lambda r, x: s.pick[r, x] & ~s.is_active(r))
        s.brings = each(s.Request, s.Collection, lambda r, x: False)
        s.given = each(s.Request, lambda r: 0)
        s.through = each(s.Request, lambda r: False)
        s.stage = each(s.Request, lambda r: ite(s.is_active(r), "refused", s.stage[r]))

    def _ends_without(s, r: Aliases.Request) -> None:
        """The name means nothing: the request is refused, or begins again behind an alias."""
        s.stage[r] = ite(s.through[r], "begun", "refused")
        s.pick = each(s.Request, s.Collection, lambda q, y: s.pick[q, y] & (q != r))
        s.through[r] = False

    def miss(s, r: Aliases.Request, n: Aliases.Name) -> None:
        """The cache keeps that the name means nothing."""
        require((s.stage[r] == "begun") & s.looks_up(r, n) & s.lacks[s.at[r], n])
        s._ends_without(r)

    def alter_alias(s, n: Aliases.Name, x: Aliases.Collection) -> None:
        """An alias points to another collection, or is altered to its present target."""
        require(~s.changing & s.live[x] & exists(s.Collection, lambda y: s.alias[n, y]))
        s.alias = each(s.Name, s.Collection, lambda m, y: ite(m == n, y == x, s.alias[m, y]))
        s._changes(n)

    def answer(s, r: Aliases.Request, n: Aliases.Name, x: Aliases.Collection) -> None:
        require(~s.lacks[s.at[r], n])
        super().answer(r, n, x)

    def insert(s, r: Aliases.Request, n: Aliases.Name, x: Aliases.Collection) -> None:
        s.lacks[s.at[r], n] = s.lacks[s.at[r], n] & ~s.is_taken(r, n)
        super().insert(r, n, x)

    def invalidate(s, p: Aliases.Proxy, n: Aliases.Name) -> None:
        super().invalidate(p, n)
        s.lacks[p, n] = False
