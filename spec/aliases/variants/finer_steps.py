"""The protocol as it is built: a proxy keeps also that a name means nothing, and the cluster starts again."""

from tidemark.spec.aliases import Aliases
from tidemark.spec.language import Set, action, each, exists, ite, require


class AsBuilt(Aliases):
    """What the implementation does beyond the steps of the protocol; the claims are the same.

    An answer that says that a name means nothing is on its way like any other, and is kept until the name
    changes. When the cluster starts again its proxies are new: they keep nothing, no request goes on, and
    the change that was stored last is done, since there is nobody to be told of it.
    """

    lacks: Set[Aliases.Proxy, Aliases.Name] = False  # the proxy keeps that the name means nothing

    @action(fairness="weak", source="facts 12")
    def deny(s, r: Aliases.Request, n: Aliases.Name):
        """The cache has nothing about the name, and the coordinator answers that it means nothing."""
        require((s.stage[r] == "begun") & s.looks_up(r, n))
        require(~s.is_kept(s.at[r], n) & ~s.lacks[s.at[r], n] & s.is_free(n))
        s.stage[r] = "answered"
        s.given[r] = s.now

    @action(fairness="weak", source="facts 12")
    def note(s, r: Aliases.Request, n: Aliases.Name):
        """That answer is there. The cache takes it if nothing newer is known of the name."""
        require(
            (s.stage[r] == "answered") & s.looks_up(r, n) & ~exists(s.Collection, lambda x: s.brings[r, x])
        )
        s.lacks[s.at[r], n] = s.lacks[s.at[r], n] | s.is_taken(r, n)
        s.given[r] = 0
        s._ends_without(r)

    @action(source="facts 12")
    def restart(s):
        """The cluster ends, and starts again with what is stored."""
        s.changing = False
        s.settled = each(s.Name, lambda n: s.changed[n])
        s.told = each(s.Proxy, lambda p: False)
        s.shown = each(s.Name, s.Collection, s.means)
        s.keeps = each(s.Proxy, s.Name, s.Collection, lambda p, n, x: False)
        s.lacks = each(s.Proxy, s.Name, lambda p, n: False)
        s.moment = each(s.Proxy, s.Name, lambda p, n: 0)
        s.floor = each(s.Proxy, s.Name, lambda p, n: s.changed[n])
        s.pick = each(s.Request, s.Collection, lambda r, x: s.pick[r, x] & ~s.is_active(r))
        s.brings = each(s.Request, s.Collection, lambda r, x: False)
        s.given = each(s.Request, lambda r: 0)
        s.through = each(s.Request, lambda r: False)
        s.stage = each(s.Request, lambda r: ite(s.is_active(r), "refused", s.stage[r]))

    def _ends_without(s, r):
        """The name means nothing: the request is refused, or begins again behind an alias."""
        s.stage[r] = ite(s.through[r], "begun", "refused")
        s.pick = each(s.Request, s.Collection, lambda q, y: s.pick[q, y] & (q != r))
        s.through[r] = False

    def miss(s, r, n):
        """The cache keeps that the name means nothing."""
        require((s.stage[r] == "begun") & s.looks_up(r, n) & s.lacks[s.at[r], n])
        s._ends_without(r)

    def alter_alias(s, n, x):
        """An alias points to another collection, or again to the one that it points to already."""
        require(~s.changing & s.live[x] & exists(s.Collection, lambda y: s.alias[n, y]))
        s.alias = each(s.Name, s.Collection, lambda m, y: ite(m == n, y == x, s.alias[m, y]))
        s._changes(n)

    def answer(s, r, n, x):
        require(~s.lacks[s.at[r], n])
        super().answer(r, n, x)

    def insert(s, r, n, x):
        s.lacks[s.at[r], n] = s.lacks[s.at[r], n] & ~s.is_taken(r, n)
        super().insert(r, n, x)

    def invalidate(s, p, n):
        super().invalidate(p, n)
        s.lacks[p, n] = False
