"""The subject of a proof: a protocol with its options, perhaps with lemmas added or left out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tidemark.models.frozen import FrozenMap
from tidemark.models.instance import Bound, Instance
from tidemark.models.symbolic.ranking import reasons
from tidemark.spec.language.protocol import ranking_of, resolve
from tidemark.spec.language.spec import Property, Ranking, Spec


def _changed(spec: Spec, added: tuple[Property, ...], without: frozenset[str]) -> Spec:
    kept = tuple(prop for prop in spec.properties if prop.id not in without)
    return replace(spec, properties=(*kept, *added))


@dataclass(frozen=True)
class ProofInstance(Instance):
    """A bounded instance of the same protocol with the same lemmas added and left out."""

    added: tuple[Property, ...] = ()
    without: frozenset[str] = frozenset()

    def traced(self) -> Spec:
        """The protocol with added and without removed lemmas."""
        return _changed(super().traced(), self.added, self.without)


@dataclass(frozen=True)
class ProofSubject:
    """A protocol ``module:Class``; ``constants`` override declared options. Small to send to a process."""

    protocol: str
    constants: Mapping[str, Any] = field(default_factory=dict)
    added: tuple[Property, ...] = ()
    """Added lemmas."""
    without: frozenset[str] = frozenset()
    """Ids of removed properties."""
    implied: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Claims that follow from others in the same state, each with these others (see ``Obligations``)."""
    liveness: tuple[str, ...] = ()
    """Ids of the leads_to to prove, and of all on which they rest; see ``models.lemmas.ranking``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "constants", FrozenMap(self.constants))
        object.__setattr__(self, "implied", FrozenMap(self.implied))

    def __getstate__(self) -> dict[str, Any]:
        names = ("protocol", "constants", "added", "without", "implied", "liveness")
        return {name: getattr(self, name) for name in names}

    @cached_property
    def rankings(self) -> tuple[Ranking, ...]:
        """The rankings of these leads_to. Raises SpecError."""
        protocol = resolve(self.protocol)
        return tuple(ranking_of(protocol, claim) for claim in self.liveness)

    @property
    def finitely(self) -> tuple[str, ...]:
        """All numbers that the rankings assume to change finitely often."""
        return tuple(sorted({number.name for ranking in self.rankings for number in ranking.finitely}))

    @cached_property
    def _further(self) -> tuple[Property, ...]:
        """The goals beside the claims of the protocol."""
        return (*self.added, *reasons(resolve(self.protocol).trace(), self.rankings))

    @cached_property
    def spec(self) -> Spec:
        """The traced protocol with its options substituted. Raises SpecError."""
        return _changed(resolve(self.protocol).trace(), self._further, self.without).with_options(
            self.constants
        )

    def instance(self, bounds: Mapping[str, Bound], *, name: str = "small") -> Instance:
        """A bounded instance; constants without a value stay open."""
        if not self._further and not self.without:
            return Instance(self.protocol, bounds, self.constants, name=name)
        return ProofInstance(self.protocol, bounds, self.constants, name, self._further, self.without)
