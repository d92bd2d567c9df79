"""What rests on what: the argument of the suite as a graph.

A protocol's environment is described by steps whose guards are other protocols' guarantees
(``@action(relies_on=...)``) and by options that assume something (``option(..., assumes=...)``).
The graph joins them over all manifests. It is an argument only if each guarantee is proved for any size by
its owner, no protocol relies on itself in a circle, what a step assumes follows from the guarantees
(``checks/argument/judge.py``), and each assumption about the environment is needed: there is an entry without
it in which a claim is refuted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import networkx as nx

from tidemark.checks.argument.environment import Assumptions, Found
from tidemark.models.composition.reading import family, reading_of
from tidemark.models.manifest import ArgumentEntry, Expected, Manifest, ProofEntry, load, manifest_files
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.spec import Action, Spec

ENVIRONMENT = "environment."
"""Prefix of the claim id of an option that assumes something about the environment."""

DERIVED = "derived."
"""Prefix of the claim id of what a variant proves not to be needed: ``derived.PROOF``."""

FOLLOWS = "follows."
"""Prefix of the claim id of a composition: ``follows.ACTION.PROTOCOL``."""


@dataclass(frozen=True)
class Reliance:
    """One thing that a protocol assumes, and what supports it. Exactly one of the last two is said.

    Attributes:
        protocol: name of the manifest of the protocol that relies.
        claim: property id of another protocol, ``environment.OPTION``, or ``derived.PROOF``.
        where: the actions that rely on it, or the sentence of what is taken as given.
        support: the proof that gives the guarantee, or that does without what is taken as given; or the
            entry that shows that the assumption is needed.
        problem: why it is not supported.
        refuted: the manifest itself shows that it is not; else it is only not known.
    """

    protocol: str
    claim: str
    where: str
    support: str = ""
    problem: str = ""
    refuted: bool = False

    @property
    def of_environment(self) -> bool:
        """An assumption about the environment, which is not proved."""
        return self.claim.startswith(ENVIRONMENT)

    @property
    def of_variant(self) -> bool:
        """Taken as given, and proved to do no harm by a variant without it."""
        return self.claim.startswith(DERIVED)


@dataclass(frozen=True)
class Step:
    """A step that relies on another protocol.

    Attributes:
        claim: ``follows.ACTION.PROTOCOL``.
        reading: reference of the reading that says how; empty if the manifest names none.
        problem: why there is not exactly one reading.
    """

    claim: str
    reading: str = ""
    problem: str = ""


class Argument:
    """The argument of some manifests."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self.manifests: Mapping[str, Manifest] = {manifest.name: manifest for manifest in manifests}

    def spec(self, name: str) -> Spec:
        """The traced base protocol of a manifest."""
        return resolve(self.manifests[name].protocol).trace()

    def reliances(self, name: str, *, entry: ArgumentEntry | None = None) -> list[Reliance]:
        """All that the protocol of a manifest assumes, guarantees first.

        ``entry``: what this one says, and no other, supports the assumptions about the environment.
        """
        entries = self._entries(name) if entry is None else (entry,)
        return [
            *self._guarantees(name, entries),
            *self._environment(name, entries),
            *self._derived(name, entries),
        ]

    def steps(self, name: str, *, entry: ArgumentEntry | None = None) -> list[Step]:
        """The steps that rely on other protocols, each with its reading; those of variants that are read come
        after the protocol's own.
        """
        entries = self._entries(name) if entry is None else (entry,)
        own = resolve(self.manifests[name].protocol)
        known: dict[str, list[str]] = {}
        for reference in dict.fromkeys(reference for one in entries for reference in one.reads):
            reading = reading_of(reference)
            if issubclass(reading.user, own):
                known.setdefault(f"{FOLLOWS}{reading.action}.{family(reading.owner)}", []).append(reference)
        relying = [*_relying(self.spec(name).actions), *_relying(self._finer(name, entries))]
        return [
            _step(claim, known.get(claim, []), proved=lambda reference: self._is_proved(name, reference))
            for claim in dict.fromkeys(relying)
        ]

    def _is_proved(self, name: str, reference: str) -> bool:
        """The claims of the protocol that a reading is of are expected to be proved."""
        user = reading_of(reference).user
        return user is resolve(self.manifests[name].protocol) or any(
            resolve(entry.protocol) is user and entry.expect.every is Expected.PROVED and not entry.fails
            for entry in self.manifests[name].proof
        )

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """An edge from each protocol to each whose guarantees it uses; its ``claims`` are their ids."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        for name in self.manifests:
            graph.add_node(name)
            for claim in self._relied(name, self._entries(name)):
                owner = self.owner(claim) or claim.partition(".")[0]
                claims = graph.get_edge_data(name, owner, {"claims": ()})["claims"]
                graph.add_edge(name, owner, claims=(*claims, claim))
        return graph

    def owner(self, claim: str) -> str | None:
        """The manifest that pins a property."""
        return next((name for name, manifest in self.manifests.items() if claim in manifest.kinds), None)

    def _entries(self, name: str) -> tuple[ArgumentEntry, ...]:
        return tuple(one for one in self.manifests[name].argument if not one.must_fail)

    def _finer(self, name: str, entries: tuple[ArgumentEntry, ...]) -> list[Action]:
        """Steps of variants of the protocol, of which a reading says how they rely on others."""
        own = resolve(self.manifests[name].protocol)
        users = (reading_of(reference).user for one in entries for reference in one.reads)
        variants = dict.fromkeys(user for user in users if issubclass(user, own) and user is not own)
        return [action for variant in variants for action in variant.trace().actions]

    def _relied(self, name: str, entries: tuple[ArgumentEntry, ...]) -> dict[str, list[str]]:
        """The guarantees that the protocol, or a variant with finer steps, relies on: the steps by claim."""
        users: dict[str, list[str]] = {claim: [] for claim in self.spec(name).relies_on}
        for action in (*self.spec(name).actions, *self._finer(name, entries)):
            for claim in action.relies_on:
                users.setdefault(claim, []).append(action.name)
        return {claim: list(dict.fromkeys(names)) for claim, names in users.items()}

    def _guarantees(self, name: str, entries: tuple[ArgumentEntry, ...]) -> Iterator[Reliance]:
        for claim, users in self._relied(name, entries).items():
            yield self._guarantee(name, claim, ", ".join(users))

    def _guarantee(self, name: str, claim: str, users: str) -> Reliance:
        def unsupported(problem: str) -> Reliance:
            return Reliance(name, claim, users, problem=problem)

        owner = self.owner(claim)
        if owner is None:
            return unsupported(f"no manifest pins a property {claim!r}")
        if owner == name or name in nx.descendants(self.graph, owner):
            return unsupported(f"{owner} relies on {name} in turn: a circle proves nothing")
        manifest = self.manifests[owner]
        proofs = [entry for entry in manifest.proof if _proves(manifest, entry, claim)]
        if not proofs:
            return unsupported(f"no proof of {claim} for any size is expected in the manifest of {owner}")
        return Reliance(name, claim, users, support=proofs[0].name)

    def _assumptions(self, name: str, entries: tuple[ArgumentEntry, ...]) -> Assumptions:
        return Assumptions(
            self.manifests[name],
            needed={option: needed for one in entries for option, needed in one.needed.items()},
            finer={option: finer for one in entries for option, finer in one.finer.items()},
        )

    def _environment(self, name: str, entries: tuple[ArgumentEntry, ...]) -> Iterator[Reliance]:
        assumptions = self._assumptions(name, entries)
        for option, sentence in self.spec(name).environment.items():
            yield _found(name, ENVIRONMENT + option, sentence, assumptions.of(option))

    def _derived(self, name: str, entries: tuple[ArgumentEntry, ...]) -> Iterator[Reliance]:
        assumptions = self._assumptions(name, entries)
        for proof, sentence in {
            proof: said for one in entries for proof, said in one.derived.items()
        }.items():
            yield _found(name, DERIVED + proof, sentence, assumptions.derived(proof))


def _found(name: str, claim: str, sentence: str, found: Found) -> Reliance:
    support = "" if found.problem else found.support
    return Reliance(name, claim, sentence, support=support, problem=found.problem, refuted=found.refuted)


def _relying(actions: Iterable[Action]) -> Iterator[str]:
    for action in actions:
        for owner in dict.fromkeys(claim.partition(".")[0] for claim in action.relies_on):
            yield f"{FOLLOWS}{action.name}.{owner}"


def _step(claim: str, readings: list[str], *, proved: Callable[[str], bool]) -> Step:
    if not readings:
        return Step(claim, problem="no reading under 'reads' says how the guarantees are to be read there")
    if len(readings) > 1:
        return Step(claim, problem=f"there are {len(readings)} readings: {', '.join(readings)}; leave one")
    if not proved(readings[0]):
        return Step(
            claim, problem=f"no proof for any size is expected of the variant that {readings[0]} reads"
        )
    return Step(claim, reading=readings[0])


def _proves(manifest: Manifest, entry: ProofEntry, claim: str) -> bool:
    """The entry is about the protocol itself, and is expected to prove the claim."""
    judged = manifest.claims_of(entry, set(manifest.kinds.values()))
    return (
        entry.protocol == manifest.protocol and claim in judged and entry.expect.of(claim) is Expected.PROVED
    )


def whole_argument(*own: Manifest) -> Argument:
    """The argument of the repository's manifests, with some of them replaced by, or added from, ``own``."""
    names = {manifest.name for manifest in own}
    others = [manifest for manifest in map(load, manifest_files()) if manifest.name not in names]
    return Argument([*others, *own])
