"""Runs in which the parts of claims show: of the protocol itself, and of wrong ones."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from tidemark.checks.strength.parts import Part, parts_of
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import BelowZeroError
from tidemark.models.native.parts import KernelOfParts, PartsLibrary
from tidemark.models.native.search.breadth_first import Search, SearchLimits
from tidemark.spec.language.spec import Property, Spec

KINDS = ("invariant", "transition_invariant")
"""Kinds of claim whose parts are looked at."""
CHUNK = 2048
"""States that are expanded together."""


@dataclass(frozen=True)
class _Asked(Instance):
    """An instance whose claims are what must be seen."""

    of: Instance = field(default_factory=lambda: Instance(""))
    asked: tuple[Property, ...] = ()

    def traced(self) -> Spec:
        """The same steps, other claims."""
        return replace(self.of.traced(), properties=self.asked)


@dataclass
class Trials:
    """Which parts were seen to matter, and where.

    Attributes:
        claims: the claims by id whose parts are looked at.
        base: the claims as the protocol says them.
        parts: all their parts by id.
        seen: by the id of a part, what has shown it.
        runs: searches.
        states: states of all searches.
    """

    claims: Mapping[str, Property]
    base: Mapping[str, Property]
    parts: Mapping[str, Part] = field(init=False)
    seen: dict[str, str] = field(default_factory=dict)
    runs: int = 0
    states: int = 0
    _libraries: dict[object, PartsLibrary] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.parts = {part.id: part for claim in self.claims.values() for part in parts_of(claim)}

    def of(self, claims: Iterable[str], *, wrong: bool) -> list[Part]:
        """Parts of these claims that a wrong protocol, or else the protocol itself, can show."""
        chosen = set(claims)
        return [part for part in self.parts.values() if part.claim in chosen and wrong == part.place.weakens]

    def left(self, parts: Iterable[Part], *, listed: Collection[str]) -> list[Part]:
        """Those that did not show yet, and are not listed as idle."""
        return [part for part in parts if part.id not in self.seen and part.id not in listed]

    def try_on(self, instance: Instance, parts: Iterable[Part], *, states: int | None, what: str) -> None:
        """Search an instance, or so many states of it, for runs that show some of the parts.

        The same parts should be asked for again and again: each change of them compiles all steps anew.

        A claim that the instance's protocol says in other words than the base is left out.
        """
        own = {prop.id: prop for prop in instance.traced().properties}
        chosen = [part for part in parts if _alike(own.get(part.claim), self.base.get(part.claim))]
        if not chosen:
            return
        asked = _Asked(
            instance.protocol,
            instance.bounds,
            instance.constants,
            instance.name,
            instance,
            tuple(part.shows for part in chosen),
        )
        key = (instance.bounds, instance.constants)
        kernel = KernelOfParts(asked, self._libraries.setdefault(key, PartsLibrary()))
        search = Search(kernel, SearchLimits(states=states), chunk=CHUNK, workers=1)
        try:
            found = search.run()
        except BelowZeroError as error:  # of a wrong protocol: what it has shown before counts
            found = search.result(str(error))
        if search.interrupted:
            raise KeyboardInterrupt
        self.runs += 1
        self.states += found.distinct
        shown = [part.id for part in chosen if found.hit(part.shows) is not None]
        self.seen = dict.fromkeys(shown, what) | self.seen


def _alike(one: Property | None, other: Property | None) -> bool:
    return one is not None and other is not None and one.expr == other.expr
