"""Named mutants of metadata in caches, each with its killer."""

from tidemark.models.mutation.declared import mutant
from tidemark.spec.language import Bool, each, require
from tidemark.spec.meta import Meta

SMALL = "meta-small"


@mutant(killer="meta.caches_are_not_behind", source="facts 12", instance=SMALL)
class AcknowledgesWithoutAnswers(Meta):
    """A change is acknowledged when it is stored; proxies are told later, or never."""

    def acknowledge(s) -> None:
        require(s.changing)
        s.changing = False
        s.acknowledged = s.current
        s.told = each(s.Proxy, lambda p: False)


@mutant(killer="meta.what_was_replaced_is_not_served", source="B42", instance=SMALL)
class FlightIsNotForgotten(Meta):
    """A request that begins after the change joins a fetch that was answered before it."""

    FORGETS_FLIGHTS = False


@mutant(killer="meta.caches_are_not_behind", source="facts 12; hazard 36", instance=SMALL)
class TakesWhatIsOneOlder(Meta):
    """The comparison with the last invalidation is off by one."""

    def is_taken(s, f: Meta.Fetch) -> Bool:
        return s.value[f] + 1 >= s.floor[s.by[f]]


@mutant(killer="meta.caches_are_not_behind", source="facts 12", instance=SMALL)
class KeepsTheCache(Meta):
    """An invalidation records the version, and leaves the entry where it is."""

    def invalidate(s, p: Meta.Proxy) -> None:
        had, cache = s.has[p], s.cache[p]
        super().invalidate(p)
        s.has[p] = had
        s.cache[p] = cache


@mutant(killer="meta.caches_are_not_behind", source="facts 12", instance=SMALL)
class RecordsTheOldVersion(Meta):
    """The invalidation carries the version before the change."""

    def invalidate(s, p: Meta.Proxy) -> None:
        floor = s.floor[p]
        super().invalidate(p)
        s.floor[p] = floor


@mutant(killer="meta.a_request_ends", source="seed 004, 6.6.4", instance=SMALL)
class OldAnswersAreDropped(Meta):
    """An answer that the cache refuses is not given to those who wait either."""

    def insert(s, f: Meta.Fetch) -> None:
        require(s.is_taken(f))
        super().insert(f)
