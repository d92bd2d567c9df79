"""What the client's retry assumes of metadata in the caches of proxies, in their words."""

from tidemark.models.composition.reading import Reading
from tidemark.spec.language import all_of, forall
from tidemark.spec.meta import Meta
from tidemark.spec.retries import Retries


class AcknowledgementOfAChange(Reading, user=Retries, owner=Meta, action="acknowledge"):
    """The change is the one that the coordinator has just acknowledged. A proxy that serves knows what its
    cache holds; without an entry it would ask, and know the present version.
    """

    @staticmethod
    def glue(retries, meta):
        return (meta.acknowledged == retries.current) & forall(
            retries.Proxy,
            lambda p: (
                all_of(meta.alive[p], meta.has[p], retries.knows[p] == meta.cache[p])
                | (retries.knows[p] == retries.current)
            ),
        )

    @staticmethod
    def takes(retries):
        return forall(retries.Proxy, lambda p: retries.knows[p] >= retries.current)
