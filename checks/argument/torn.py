"""Which actions must be one step: each is torn by rule, and the claims are looked at.

Each action is tried on the small instances of its protocol, in the order of their size, until a claim falls.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tidemark.models.instance import Instance
from tidemark.models.manifest import Expected, InstanceEntry, Kind, Manifest, SearchEngine, Tier, instance_of
from tidemark.models.mutation.torn import DIFFERS, LATE, LOOKS, Rule, TornInstance
from tidemark.models.native.parts import KernelOfParts, PartsLibrary
from tidemark.models.native.search.breadth_first import Search, SearchLimits
from tidemark.models.native.search.path import path_to
from tidemark.spec.language.protocol import resolve

SAFETY = (Kind.INVARIANT, Kind.TRANSITION)
LARGEST = 10_000
"""States of the protocol itself in the largest instance that is tried; the smallest is tried anyway."""
LIMITS = SearchLimits(states=1_000_000, seconds=60.0)
CHUNK = 2048
"""States that are expanded together: a violation is looked for after each chunk."""


class Fate(StrEnum):
    """What becomes of a protocol when an action is torn."""

    FALLS = "falls"
    HOLDS = "holds"
    """A late step was taken whose guard did not hold, and no claim fell."""
    SAME = "never differs"
    """No late step finds its guard false."""
    UNKNOWN = "limit"


@dataclass(frozen=True)
class Trial:
    """The result of one rule on one action.

    Attributes:
        instance: where it was decided: where a claim fell, or the last that was tried.
        states: of the torn protocol there.
        claim: that fell first.
        steps: of the shortest run.
        between: the steps of others between look and late step.
    """

    fate: Fate
    instance: str
    states: int
    claim: str = ""
    steps: int = 0
    between: tuple[str, ...] = ()


class Tearing:
    """Tears the actions of the protocol of a manifest. ``ends``: see ``TornInstance``."""

    def __init__(self, manifest: Manifest, ends: Sequence[str] = ()) -> None:
        self.ends = tuple(ends)
        self.spec = resolve(manifest.protocol).trace()
        self.hosts = [instance_of(entry) for entry in hosts(manifest)]
        self._libraries = [PartsLibrary() for _ in self.hosts]

    def trial(self, action: str, rule: Rule) -> Trial:
        """The first instance on which a claim falls, or the last."""
        found: Trial | None = None
        for host, library in zip(self.hosts, self._libraries, strict=True):
            now = self._on(host, library, action, rule)
            if now.fate is Fate.FALLS:
                return now
            if found is None or found.fate is Fate.SAME or now.fate is Fate.UNKNOWN:
                found = now
        assert found is not None
        return found

    def _on(self, host: Instance, library: PartsLibrary, action: str, rule: Rule) -> Trial:
        given = (host.protocol, host.bounds, host.constants, host.name)
        torn = TornInstance(*given, action=action, rule=rule, ends=self.ends)
        kernel = KernelOfParts(torn, library)
        claims = torn.spec.of_kind("invariant", "transition_invariant")
        stop_on = frozenset(claim.id for claim in claims)
        search = Search(
            kernel,
            SearchLimits(states=LIMITS.states, seconds=LIMITS.seconds, stop_on=stop_on),
            chunk=CHUNK,
            workers=1,
        )
        found = search.run()
        if search.interrupted:
            raise KeyboardInterrupt
        hits = [(claim, hit) for claim in claims if (hit := found.hit(claim)) is not None]
        if hits:
            claim, hit = min(hits, key=lambda one: (one[0].frame is not None, one[1].state))
            run = [str(step).replace("()", "") for step in path_to(found, hit).steps]
            names = [step.partition("(")[0] for step in run]
            late = len(run) - 1 - names[::-1].index(action + LATE)
            between = tuple(run[names.index(action + LOOKS) + 1 : late])
            return Trial(Fate.FALLS, host.name, found.distinct, claim.id, len(run), between)
        if not found.complete:
            return Trial(Fate.UNKNOWN, host.name, found.distinct)
        differs = found.hit(torn.spec.property(DIFFERS)) is not None
        return Trial(Fate.HOLDS if differs else Fate.SAME, host.name, found.distinct)


def hosts(manifest: Manifest) -> list[InstanceEntry]:
    """Small instances of the protocol itself of which all claims about states and steps hold, in the order of
    their size.
    """
    options = resolve(manifest.protocol).trace().options
    known = [
        entry
        for entry in manifest.instance
        if entry.protocol == manifest.protocol
        and SearchEngine.EXPLORE in entry.engines
        and entry.tier is Tier.FAST
        and entry.expect.every is Expected.HOLDS
        and not entry.expect.refuted
        and not entry.constants.keys() & options.keys()
        and len(manifest.claims_of(entry, SAFETY)) == sum(len(manifest.properties.get(kind, ())) for kind in SAFETY)
    ]
    known.sort(key=lambda entry: entry.counts.get("distinct", 0))
    return [entry for at, entry in enumerate(known) if not at or entry.counts.get("distinct", 0) <= LARGEST]
