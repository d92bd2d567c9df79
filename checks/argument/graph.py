"""What rests on what: the argument of the suite as a graph.

A protocol's environment is described by steps whose guards are other protocols' guarantees
(``@action(relies_on=...)``) and by options that take something for granted (``option(..., assumes=...)``).
The graph joins them over all manifests. It is an argument only if each guarantee is proved for any size by
its owner, nobody relies on itself in a circle, and each assumption about the environment is needed: there is
an entry without it in which a claim is refuted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import networkx as nx

from tidemark.models.manifest import (
    Expected,
    InstanceEntry,
    Manifest,
    MutantEntry,
    ProofEntry,
    load,
    manifest_files,
)
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.spec import Spec

ENVIRONMENT = "environment."
"""Prefix of the claim id of an option that assumes something about the environment."""


@dataclass(frozen=True)
class Reliance:
    """One thing that a protocol takes for granted, and what supports it. Exactly one of the last two is said.

    Attributes:
        protocol: name of the manifest of the protocol that relies.
        claim: property id of another protocol, or ``environment.OPTION``.
        where: the actions that rely on it, or the sentence of the assumption.
        support: the proof that gives the guarantee, or the entry that shows that the assumption is needed.
        problem: why it is not supported.
    """

    protocol: str
    claim: str
    where: str
    support: str = ""
    problem: str = ""

    @property
    def of_environment(self) -> bool:
        """An assumption about the environment, which nobody proves."""
        return self.claim.startswith(ENVIRONMENT)


class Argument:
    """The argument of some manifests."""

    def __init__(self, manifests: Iterable[Manifest]) -> None:
        self.manifests: Mapping[str, Manifest] = {manifest.name: manifest for manifest in manifests}

    def spec(self, name: str) -> Spec:
        """The traced base protocol of a manifest."""
        return resolve(self.manifests[name].protocol).trace()

    def reliances(self, name: str) -> list[Reliance]:
        """All that the protocol of a manifest takes for granted, guarantees first."""
        return [*self._guarantees(name), *self._environment(name)]

    @cached_property
    def graph(self) -> nx.DiGraph[str]:
        """An edge from each protocol to each whose guarantees it uses; its ``claims`` are their ids."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        for name in self.manifests:
            graph.add_node(name)
            for claim in self.spec(name).relies_on:
                owner = self.owner(claim) or claim.partition(".")[0]
                claims = graph.get_edge_data(name, owner, {"claims": ()})["claims"]
                graph.add_edge(name, owner, claims=(*claims, claim))
        return graph

    def owner(self, claim: str) -> str | None:
        """The manifest that pins a property."""
        return next((name for name, manifest in self.manifests.items() if claim in manifest.kinds), None)

    def foundations(self, name: str) -> list[str]:
        """The protocols that ``name`` rests on, directly or not, and that rely on nobody."""
        below = [name, *nx.descendants(self.graph, name)]
        return sorted(one for one in below if self.graph.out_degree(one) == 0)

    def _guarantees(self, name: str) -> Iterator[Reliance]:
        spec = self.spec(name)
        for claim in spec.relies_on:
            users = ", ".join(action.name for action in spec.actions if claim in action.relies_on)
            yield self._guarantee(name, claim, users)

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

    def _environment(self, name: str) -> Iterator[Reliance]:
        manifest = self.manifests[name]
        needed = {option: entry for one in manifest.argument for option, entry in one.needed.items()}
        for option, sentence in self.spec(name).environment.items():
            claim = ENVIRONMENT + option
            entry = needed.get(option)
            problem = (
                f"'needed' names no entry without {option}"
                if entry is None
                else self._not_needed(manifest, option, entry)
            )
            yield Reliance(name, claim, sentence, support="" if problem else entry or "", problem=problem)

    def _not_needed(self, manifest: Manifest, option: str, name: str) -> str:
        """Why an entry does not show that an assumption is needed; empty if it does."""
        found = [entry for entry in manifest.entries() if entry.name == name]
        if not found:
            return f"there is no entry {name!r}"
        entry = found[0]
        if isinstance(entry, MutantEntry):
            reference, constants, broken = entry.ref, dict[str, Any](), entry.killer is not None
        elif isinstance(entry, InstanceEntry):
            reference, constants = entry.protocol, entry.constants
            broken = bool(entry.expect.refuted) or entry.expect.every is Expected.REFUTED
        else:
            return f"{name!r} is a {entry.section}; name an instance or a mutant in which a claim is refuted"
        if not broken:
            return f"nothing is refuted in {name!r}"
        base = self.spec(manifest.name)
        values = {**resolve(reference).trace().options, **constants}
        dropped = [one for one in base.environment if values[one] != base.options[one]]
        if dropped != [option]:
            return f"{name!r} drops {', '.join(dropped) or 'no assumption'} instead of {option} alone"
        return ""


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
