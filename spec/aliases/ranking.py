"""Why a change ends, for any number of proxies and names: a measure, and the actions that lower it."""

from tidemark.spec.aliases.claims import AliasesClaims
from tidemark.spec.language import all_of, each, forall, helpful, rank


class AliasesRanking(AliasesClaims):
    """Names of collections and aliases: changes, caches of proxies, invalidations, requests."""

    @rank("a_change_ends")
    def what_a_change_waits_for(s):
        """Proxies that have not answered: no other change begins."""
        return each(s.Proxy, lambda p: ~s.told[p])

    @helpful("a_change_ends", action="invalidate")
    def a_proxy_is_told(s, p: AliasesClaims.Proxy, n: AliasesClaims.Name):
        return all_of(s.changing, s.changed[n] == s.now, ~s.told[p]), (p, n)

    @helpful("a_change_ends", action="acknowledge")
    def all_are_told(s):
        return s.changing & forall(s.Proxy, lambda p: s.told[p]), ()
