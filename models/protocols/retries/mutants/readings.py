"""Readings from which nothing follows: the judge of the argument must find them."""

from tidemark.models.protocols.retries.readings import AcknowledgementOfAChange
from tidemark.spec.language import all_of, forall


class ProxiesThatHaveEnded(AcknowledgementOfAChange):
    """Proxies whose sessions have ended are taken for proxies that serve."""

    @staticmethod
    def glue(retries, meta):
        return (meta.acknowledged == retries.current) & forall(
            retries.Proxy, lambda p: all_of(meta.has[p], retries.knows[p] == meta.cache[p])
        )
