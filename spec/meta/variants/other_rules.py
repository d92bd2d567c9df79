"""The design with another rule, or with a step more."""

from tidemark.spec.language import Bool, action, each, ite, option, require
from tidemark.spec.meta import Meta


class InvalidationWithoutVersion(Meta):
    """An answer that is older than the invalidation is taken (hazard 36)."""

    VERSIONED = False


class CoordinatorRestarts(Meta):
    """The coordinator ends during a change, the proxies live. Its successor finds the change in the store."""

    TELLS_AGAIN: Bool = option(True)  # it tells every proxy; else what is stored counts as acknowledged

    @action(source="seed 002, DDL; facts 4: initSessions")
    def coordinator_restarts(s):
        """The successor begins with the stored change: which proxies have been told is lost."""
        require(s.changing)
        s.changing = s.TELLS_AGAIN
        s.acknowledged = ite(s.TELLS_AGAIN, s.acknowledged, s.current)
        s.stamped = ite(s.TELLS_AGAIN, s.stamped, s.current)
        s.told = each(s.Proxy, lambda p: False)
