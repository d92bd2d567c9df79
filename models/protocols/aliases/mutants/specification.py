"""Named mutants of aliases, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.aliases import Aliases
from tidemark.spec.language import Bool, each, exists, forall, ite, require

ONE = "aliases-one-collection"
BOTH = "aliases-alias-or-collection"
AGAIN = "aliases-name-used-again"


@mutant(killer="aliases.an_alias_is_no_collection", source="B64", instance=BOTH)
class CreateLooksAtCollectionsOnly(Aliases):
    """A collection may have the name of an alias."""

    def create(s, x: Aliases.Collection) -> None:
        require(~s.changing & ~s.made[x])
        require(forall(s.Collection, lambda y: ~(s.live[y] & (s.called[y] == s.called[x]))))
        s.made[x] = True
        s.live[x] = True
        s._changes(s.called[x])


@mutant(killer="aliases.an_alias_is_no_collection", source="B64", instance=ONE)
class AliasLooksAtAliasesOnly(Aliases):
    """An alias may have the name of a collection."""

    def create_alias(s, n: Aliases.Name, x: Aliases.Collection) -> None:
        require(~s.changing & s.live[x])
        require(forall(s.Collection, lambda y: ~s.alias[n, y]))
        s.alias[n, x] = True
        s._changes(n)


@mutant(killer="aliases.a_request_is_served_what_its_name_meant", source="B66", instance=ONE)
class OnlyTheCollectionIsForgotten(Aliases):
    """A change of an alias invalidates the entry of its collection; the alias's own stays."""

    def invalidate(s, p: Aliases.Proxy, n: Aliases.Name) -> None:
        keeps, moment, floor = s.keeps, s.moment, s.floor
        is_alias = exists(s.Collection, lambda x: s.keeps[p, n, x] & (s.called[x] != n))
        super().invalidate(p, n)
        s.keeps = each(
            s.Proxy, s.Name, s.Collection, lambda q, m, x: ite(is_alias, keeps[q, m, x], s.keeps[q, m, x])
        )
        s.moment[p, n] = ite(is_alias, moment[p, n], s.moment[p, n])
        s.floor[p, n] = ite(is_alias, floor[p, n], s.floor[p, n])


@mutant(killer="aliases.caches_are_not_behind", source="facts 12; hazard 36", instance=ONE)
class TakesWhatIsOneOlder(Aliases):
    """The comparison with the last invalidation is off by one."""

    def is_taken(s, r: Aliases.Request, n: Aliases.Name) -> Bool:
        return s.given[r] + 1 >= s.floor[s.at[r], n]


@mutant(killer="aliases.a_request_ends", source="B65", instance=AGAIN)
class WaitsForTheCollection(Aliases):
    """A request whose alias has named a collection that is gone waits for it."""

    def miss(s, r: Aliases.Request, n: Aliases.Name) -> None:
        require(~s.through[r])
        super().miss(r, n)
