"""The manifest of a tiny protocol and fake judges, for tests of the gate."""

import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tidemark.checks.verdicts.counterexample import Counterexample, Step
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import COVERAGE, Aspect, Verdict, holds, proved, refuted
from tidemark.models.manifest import (
    AnyEntry,
    GeneratedMutants,
    ImplementationMutants,
    InstanceEntry,
    Kind,
    Manifest,
    MutantEntry,
    ProofEntry,
    parse,
)

REFERENCE = "tests.protocols.lights:Lights"
SAFE = "lights.never_both"
FORWARD = "lights.count_grows"
REACHED = "lights.second_turn"


TEXT = f"""
name = "lights"
protocol = "{REFERENCE}"
properties = {{ invariant = ["{SAFE}"], transition_invariant = ["{FORWARD}"], reachable = ["{REACHED}"] }}

[[instance]]
name = "two-lamps"
protocol = "{REFERENCE}"
engines = ["explore"]
bounds = {{ Lamp = 2, Turn = 3 }}
expect = {{ every = "holds" }}
counts = {{ distinct = 10 }}

[[instance]]
name = "careless"
protocol = "{REFERENCE}"
tier = "full"
engines = ["explore"]
bounds = {{ Lamp = 2, Turn = 3 }}
constants = {{ CAREFUL = false }}
expect = {{ every = "holds", refuted = ["{SAFE}"] }}
counts = {{ distinct = 16 }}

[[proof]]
name = "any-size"
protocol = "{REFERENCE}"
expect = {{ every = "proved" }}
skip = {{}}
counts = {{ obligations = 6 }}

[[mutant]]
name = "careless-mutant"
ref = "tests.protocols.lights:Darker"
instance = "two-lamps"
source = "a lamp forgotten"
killer = "{SAFE}"
"""


def data(**changes: Any) -> dict[str, Any]:
    """A complete manifest as TOML gives it; the caller may break it."""
    return tomllib.loads(TEXT) | changes


def manifest(**changes: Any) -> Manifest:
    return parse(data(**changes), file="lights.toml")


def trace(failing: str = "a == b, with a = 0, b = 1") -> Counterexample:
    return Counterexample(
        initial={"lit": (False, False), "any_lit": False, "turns": 0},
        steps=(
            Step(
                action="switch_on",
                args={"lamp": 0},
                after={"lit": (True, False), "any_lit": True, "turns": 1},
            ),
            Step(
                action="switch_on", args={"lamp": 1}, after={"lit": (True, True), "any_lit": True, "turns": 2}
            ),
        ),
        failing=failing,
        axes={"lit": ((0, 1),)},
    )


Answer = Callable[[AnyEntry, Context], list[Verdict]]


@dataclass
class Fake:
    """A judge that answers what a test tells it; by default exactly what is expected."""

    name: str
    kinds: frozenset[Kind] = frozenset({Kind.INVARIANT, Kind.TRANSITION, Kind.REACHABLE})
    answer: Answer | None = None
    calls: list[str] = field(default_factory=list)

    def run(self, entry: AnyEntry, context: Context) -> list[Verdict]:
        self.calls.append(entry.name)
        context.progress(1, total=2, unit="states")
        if self.answer is not None:
            return self.answer(entry, context)
        return expected_verdicts(self, entry, context)


def expected_verdicts(by: Fake, entry: AnyEntry, context: Context) -> list[Verdict]:
    if isinstance(entry, MutantEntry):
        subject = context.subject(entry, by.name, entry.killer or "equivalent", Aspect.MUTANT)
        counts = {"distinct": 4}
        if entry.killer is None:
            return [holds(subject, counts=counts, bounds="Lamp 2")]
        return [
            refuted(subject, counts=counts, counterexample=trace(), replay=f"tidemark mutate {entry.name}")
        ]
    assert not isinstance(entry, GeneratedMutants | ImplementationMutants)
    counts = {name: count for name, count in entry.counts.items() if name != "obligations"} or {
        "obligations": 2
    }
    if isinstance(entry, InstanceEntry | ProofEntry):
        claims = context.manifest.claims_of(entry, by.kinds)
    else:
        claims = entry.claims
    found: list[Verdict] = []
    for claim in claims:
        subject = context.subject(entry, by.name, claim)
        if isinstance(entry, ProofEntry):
            found.append(proved(subject, counts=counts))
        elif entry.expect.of(claim).value == "refuted":
            found.append(refuted(subject, counts=counts, counterexample=trace(), replay="tidemark replay x"))
        else:
            found.append(holds(subject, counts=counts, bounds="Lamp 2, Turn 3", seconds=0.25))
    if not isinstance(entry, ProofEntry):
        cover = context.subject(entry, by.name, COVERAGE, Aspect.VACUITY)
        found.append(holds(cover, counts=counts, bounds="Lamp 2, Turn 3"))
    return found


def fakes(**answers: Answer) -> dict[str, Fake]:
    """A registry of fakes; ``answers`` by judge name."""
    names: Sequence[str] = (
        "explore",
        "prove",
        "mutate",
        "distribute",
        "interpreted",
        "conform",
        "interleave",
    )
    return {name: Fake(name, answer=answers.get(name)) for name in names}
