"""The design with another rule, or with a step more."""

from tidemark.spec.language import Bool, Self, action, each, exists, ite, maximum, option, reachable, require
from tidemark.spec.meta import Meta


class InvalidationWithoutVersion(Meta):
    """An answer that is older than the invalidation is taken (hazard 36)."""

    VERSIONED = False


class CoordinatorRestarts(Meta):
    """The coordinator ends during a change, the proxies live. Its successor finds the change in the store."""

    TELLS_AGAIN: Bool = option(True)  # it tells every proxy; else what is stored counts as acknowledged

    @action(source="seed 002, DDL; facts 4: initSessions")
    def coordinator_restarts(s) -> None:
        """A successor begins with the stored change: which proxies have been told is lost."""
        require(s.changing)
        s.changing = s.TELLS_AGAIN
        s.acknowledged = ite(s.TELLS_AGAIN, s.acknowledged, s.current)
        s.stamped = ite(s.TELLS_AGAIN, s.stamped, s.current)
        s.told = each(s.Proxy, lambda p: False)

    @action(source="facts 12; facts 4: initSessions")
    def invalidate_again(s, p: Meta.Proxy) -> None:
        """The change was acknowledged, and has no timestamp yet: the successor tells of it once more."""
        require(~s.changing & s.listed[p])
        s.has[p] = False
        s.cache[p] = 0
        s.floor[p] = maximum(s.floor[p], s.current)
        s.shared = each(s.Fetch, lambda f: s.shared[f] & ~(s.by[f] == p))

    @reachable(after="coordinator_restarts", source="facts 12")
    def a_proxy_that_was_told_is_told_again(before, after: Self) -> Bool:
        """A proxy was told, and has asked for the new version, when the successor begins."""
        return exists(after.Proxy, lambda p: before.told[p] & after.has[p])


class TakesUpWhatIsStored(CoordinatorRestarts):
    """The successor takes the stored change for acknowledged."""

    TELLS_AGAIN = False
