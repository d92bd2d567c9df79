"""Is an assumption about the environment needed, and does it say anything?

An option is needed if an entry that drops it alone expects a claim to be refuted. An option that the
protocol reads says what it says there. One that it does not read represents a coarse step: what the real
system does in several steps happens in one. It says something only in a variant with the finer steps, in
which all claims hold with it, and a claim breaks without.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tidemark.models.manifest import AnyEntry, Expected, InstanceEntry, Manifest, MutantEntry, ProofEntry
from tidemark.spec.language.expr import Expr, Read, walk
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.spec import Spec

FINER = "; with it, in finer steps: "
"""Between the entry that drops an assumption and the one of a variant that needs it."""


@dataclass(frozen=True)
class Found:
    """What supports an assumption, or why nothing does; ``refuted``: the manifest shows the contrary."""

    support: str = ""
    problem: str = ""
    refuted: bool = False


@dataclass(frozen=True)
class Assumptions:
    """The assumptions of a manifest's protocol. ``needed`` and ``finer``: entries by option."""

    manifest: Manifest
    needed: Mapping[str, str]
    finer: Mapping[str, str]

    def of(self, option: str) -> Found:
        """What supports one of them."""
        base = resolve(self.manifest.protocol).trace()
        if option not in self.needed:
            return Found(problem=f"'needed' names no entry without {option}")
        found = self._without(base, option, self.needed[option])
        if found.problem or reads(base, option):
            return found
        if not reads(self._variant(self.needed[option]), option):
            name = self.needed[option]
            return Found(problem=f"the protocol of {name!r} does not read {option}", refuted=True)
        if option not in self.finer:
            what = f"{self.manifest.name} does not read {option}"
            return Found(problem=f"{what}, and 'finer' names no entry of a variant that does")
        finer = self._with(base, option, self.finer[option])
        return finer if finer.problem else Found(support=f"{found.support}{FINER}{finer.support}")

    def derived(self, name: str) -> Found:
        """Does the entry prove all claims of a variant of the protocol, with all assumptions?"""
        entry = self._entry(name)
        if entry is None:
            return Found(problem=f"there is no entry {name!r}")
        if not isinstance(entry, ProofEntry):
            return Found(problem=f"{name!r} is a {entry.section}; name a proof", refuted=True)
        own, variant = resolve(self.manifest.protocol), resolve(entry.protocol)
        if variant is own or not issubclass(variant, own):
            return Found(
                problem=f"{name!r} proves nothing of a variant of {self.manifest.name}", refuted=True
            )
        dropped = self._dropped(own.trace(), variant.trace().options)
        partial = entry.fails or entry.claims is not None or entry.expect.every is not Expected.PROVED
        if dropped or partial:
            what = f"drops {', '.join(dropped)}" if dropped else "does not expect all claims to be proved"
            return Found(problem=f"{name!r} {what}", refuted=True)
        return Found(support=name)

    def _entry(self, name: str) -> AnyEntry | None:
        return next((entry for entry in self.manifest.entries() if entry.name == name), None)

    def _variant(self, name: str) -> Spec:
        entry = self._entry(name)
        assert isinstance(entry, InstanceEntry | ProofEntry | MutantEntry)
        return resolve(entry.ref if isinstance(entry, MutantEntry) else entry.protocol).trace()

    def _without(self, base: Spec, option: str, name: str) -> Found:
        """An entry in which this assumption alone is dropped and a claim breaks."""
        entry = self._entry(name)
        if entry is None:
            return Found(problem=f"there is no entry {name!r}")
        if isinstance(entry, MutantEntry):
            constants, broken = entry.constants, entry.killer is not None
        elif isinstance(entry, InstanceEntry):
            constants = entry.constants
            broken = bool(entry.expect.refuted) or entry.expect.every is Expected.REFUTED
        else:
            return Found(
                problem=f"{name!r} is a {entry.section}; name an instance or a mutant in which a claim is "
                "refuted"
            )
        if not broken:
            return Found(problem=f"nothing is refuted in {name!r}", refuted=True)
        dropped = self._dropped(base, {**self._variant(name).options, **constants})
        if dropped != [option]:
            what = ", ".join(dropped) or "no assumption"
            return Found(problem=f"{name!r} drops {what} instead of {option} alone", refuted=True)
        return Found(support=name)

    def _with(self, base: Spec, option: str, name: str) -> Found:
        """An entry of a variant that reads the option, in which nothing is dropped and nothing breaks."""
        entry = self._entry(name)
        if not isinstance(entry, InstanceEntry | ProofEntry):
            return Found(problem=f"{name!r} is no instance and no proof")
        variant = self._variant(name)
        if not reads(variant, option):
            return Found(problem=f"the protocol of {name!r} does not read {option}", refuted=True)
        constants = entry.constants if isinstance(entry, InstanceEntry) else {}
        fails = entry.fails if isinstance(entry, ProofEntry) else {}
        dropped = self._dropped(base, {**variant.options, **constants})
        if dropped or fails or entry.expect.refuted or entry.expect.every is Expected.REFUTED:
            what = f"drops {', '.join(dropped)}" if dropped else "expects a refutation"
            return Found(
                problem=f"{name!r} {what}; with the assumptions all claims have to hold", refuted=True
            )
        return Found(support=name)

    def _dropped(self, base: Spec, values: Mapping[str, Any]) -> list[str]:
        return [one for one in base.environment if values[one] != base.options[one]]


def reads(spec: Spec, option: str) -> bool:
    """Does a step or a claim of the protocol depend on the option?"""
    said: list[Expr] = [claim.expr for claim in spec.properties]
    for action in spec.actions:
        said += [guard.expr for guard in action.guards] + [new for _, new in action.updates]
    return any(
        isinstance(node, Read) and node.variable.name == option for expr in said for node in walk(expr)
    )
