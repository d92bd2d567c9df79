"""The manifest of one protocol: what is judged, within which bounds, and what must come out.

One TOML file per protocol, with the data that a green run relies on: ids of properties, instances, expected
verdicts, pinned counts. An entry without an expectation is an error, and so is a key that is not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, StrictInt, model_validator

from tidemark.models.manifest.pins import Pin
from tidemark.models.manifest.reduction import ON_SPARK, Reduction
from tidemark.models.manifest.strict import Strict
from tidemark.models.rooms import PACKAGE

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.+-]*$")]
Reference = Annotated[str, Field(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$")]
"""``package.module:Name``."""
Count = Annotated[int, Field(ge=0)]


class Expected(StrEnum):
    """An expected outcome. Not knowing (``inconclusive``) is never expected."""

    PROVED = "proved"
    HOLDS = "holds"
    REFUTED = "refuted"


class Kind(StrEnum):
    """The kind of a property, as the specification declares it."""

    INVARIANT = "invariant"
    TRANSITION = "transition_invariant"
    LEADS_TO = "leads_to"
    REACHABLE = "reachable"
    LEMMA = "lemma"


class Tier(StrEnum):
    """``fast`` runs before every push; ``full`` adds the large searches."""

    FAST = "fast"
    FULL = "full"


class Expectation(Strict):
    """The outcome of every claim of an entry, and the listed exceptions."""

    every: Expected
    refuted: tuple[str, ...] = ()

    def of(self, claim: str) -> Expected:
        """The expected outcome of one property or claim."""
        return Expected.REFUTED if claim in self.refuted else self.every


class Entry(Strict):
    """What every entry has: a unique name, a tier, an expectation, pinned counts."""

    name: Name
    tier: Tier = Tier.FAST
    about: str = ""
    """One sentence: why this entry exists."""
    expect: Expectation
    counts: dict[str, Count] = Field(default_factory=dict)
    """Pinned counts; a judge that reports the same count must report the same number."""


class VariantEntry(Entry):
    """An entry that judges a protocol or a variant of it."""

    protocol: Reference
    claims: tuple[str, ...] | None = None
    """Properties judged here; all that are pinned if absent."""
    skip: dict[str, str] = Field(default_factory=dict)
    """Properties that are not judged here, each with the reason."""
    kinds: tuple[Kind, ...] | None = None
    """Kinds of property judged here; all kinds if absent."""
    adds: dict[Kind, tuple[str, ...]] = Field(default_factory=dict)
    """Pinned ids by kind of the properties that this variant declares beyond those of its base."""
    constants: dict[str, Any] = Field(default_factory=dict)
    """Values of constants, and of options that are to be others."""


class SearchEngine(StrEnum):
    """Engines that enumerate an instance; all of them must come to the same counts."""

    EXPLORE = "explore"
    DISTRIBUTE = "distribute"
    INTERPRETED = "interpreted"


class InstanceEntry(VariantEntry):
    """A bounded instance, searched exhaustively by each of its engines."""

    section: Literal["instance"] = "instance"
    engines: tuple[SearchEngine, ...] = Field(min_length=1)
    bounds: dict[str, StrictInt | tuple[StrictInt, StrictInt]]
    """Bound per sort or number type, for example ``Segment = 2`` (two of them), ``Position = 4`` (0..4)."""
    symmetry: tuple[str, ...] = ()
    """Opaque sorts whose permutations are identified. Refused together with liveness properties."""
    vacuous: dict[str, str] = Field(default_factory=dict)
    """What this instance cannot exercise, each with the reason: ids of vacuity verdicts, compared exactly."""


class ProofEntry(VariantEntry):
    """A proof for any size. ``counts.obligations`` is pinned."""

    section: Literal["proof"] = "proof"
    timeout_s: float = Field(default=20.0, gt=0)
    """Time-out of one obligation, in seconds."""
    fails: dict[str, str] = Field(default_factory=dict)
    """Claims that do not hold of this variant, each with the obligation that must fail: ``step:ACTION``,
    ``consecution:ACTION`` or ``initiation``. If all must be refuted, by default nothing else is tried."""
    second_opinion: bool = False
    """Another solver answers the queries again; a contradiction is a failure, no answer is counted."""
    implied: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Claims about states that follow from others in the same state, each with these others: one obligation,
    and no induction.
    """
    liveness: tuple[str, ...] = ()
    """Claims of the kind leads_to that are proved too: they have a ``@rank`` and ``@helpful`` cases."""
    finitely: tuple[str, ...] = ()
    """All numbers of the state that their ranks name: the claims are proved of runs in which these change
    finitely often.
    """
    k_induction: int | None = Field(default=None, gt=1)
    """Try induction over so many steps for the invariants that induction over one step leaves open."""

    @property
    def failing(self) -> dict[str, str]:
        """By the name of each obligation that must fail, the claim that it belongs to."""
        return {f"{step}:{claim.partition('.')[2] or claim}": claim for claim, step in self.fails.items()}

    @property
    def only_failing(self) -> bool:
        """Is nothing tried but the obligations that must fail?"""
        return self.claims == ()

    @model_validator(mode="after")
    def _tries_something(self) -> ProofEntry:
        if self.only_failing and not self.fails:
            raise ValueError(f"proof {self.name!r} has no claims; name some, or obligations that must fail")
        return self


class InterleaveEntry(Entry):
    """A program of the implementation, run in every bounded order. ``counts.final_states`` is pinned."""

    section: Literal["interleave"] = "interleave"
    program: Reference
    """A factory of the program's world."""
    claims: tuple[str, ...] = Field(min_length=1)
    """Claim ids that the judge must answer, for example ``refinement``."""
    constants: dict[str, Any] = Field(default_factory=dict)
    """Arguments of the factory: budgets of faults, number of rows, ..."""
    live: tuple[str, ...] = ()
    """Those of the claims that promise something (leads_to), and that no endless fair run may break."""
    reduction: Reduction = Reduction.SLEEP_SETS
    """What the search may leave out."""
    delays: int | None = Field(default=None, ge=0)
    """Only orders with at most so many delays, where all of them are out of reach; None: all orders."""
    limit: int = Field(default=100_000, gt=0)
    """Executions after which the search gives up and is inconclusive, those that are cut short included."""
    distributed: bool | None = None
    """Run the subtrees as Spark tasks; by default by the rule of ``on_spark``."""
    vacuous: dict[str, str] = Field(default_factory=dict)
    """What this program cannot exercise, each with the reason: ids of vacuity verdicts, compared exactly."""

    @property
    def on_spark(self) -> bool:
        """By default from ``ON_SPARK`` pinned executions on, if their number does not depend on the cut."""
        if self.distributed is not None:
            return self.distributed
        cuts_alike = self.reduction in (Reduction.NONE, Reduction.SLEEP_SETS)
        return cuts_alike and self.delays is None and self.counts.get("executions", 0) >= ON_SPARK


class ConformEntry(Entry):
    """A program of the implementation, walked over by Hypothesis; or the implementation and the interpreter
    driven side by side on an instance.
    """

    section: Literal["conform"] = "conform"
    program: Reference | None = None
    """A factory of the program's world, with ``constants`` as its arguments."""
    weights: dict[str, Annotated[int, Field(gt=0)]] = Field(default_factory=dict)
    """How often a kind of event is drawn, by the beginning of its label: 10 if not said, 1 for a fault."""
    unreached: dict[str, str] = Field(default_factory=dict)
    """Actions and faults that no walk has had, each with the reason."""
    reaches: dict[str, Annotated[float, Field(gt=0, le=1)]] = Field(default_factory=dict)
    """Witnesses and actions, each with the least share of the walks that must have it."""
    instance: Name | None = None
    """The instance that gives protocol, bounds and constants."""
    bounds: dict[str, StrictInt | tuple[StrictInt, StrictInt]] = Field(default_factory=dict)
    """Bounds to be used in place of the instance's: examples may go where a search would take too long."""
    constants: dict[str, Any] = Field(default_factory=dict)
    """Likewise constants."""
    adapter: Reference | None = None
    """The class that drives the implementation through the actions."""
    claims: tuple[str, ...] = Field(default=("conformance",), min_length=1)
    examples: int = Field(default=100, gt=0)
    steps: int = Field(default=50, gt=0)
    """Longest sequence of actions, or of events, of an example."""

    @model_validator(mode="after")
    def _walks_or_is_driven(self) -> ConformEntry:
        driven = (self.instance is not None) + (self.adapter is not None)
        if driven != (2 if self.program is None else 0):
            raise ValueError(f"conform {self.name!r} needs either 'program', or 'instance' and 'adapter'")
        return self


class MutantEntry(Strict):
    """A mutant: who must kill it, on which entry; or why it cannot be killed."""

    name: Name
    section: Literal["mutant"] = "mutant"
    tier: Tier = Tier.FAST
    ref: Reference
    rule: str | None = None
    """Id of a generated mutant of the protocol ``ref``, in place of a wrong protocol."""
    constants: dict[str, Any] = Field(default_factory=dict)
    """Options of the protocol ``ref`` that make it wrong, or constants in place of the instance's."""
    instance: Name
    """The instance, proof or interleaving program on which it must die."""
    source: str = Field(min_length=1)
    """Which bug or hazard it stands for."""
    killer: str | None = None
    """Property or claim id that must be refuted."""
    adds: dict[Kind, tuple[str, ...]] = Field(default_factory=dict)
    """Pinned ids by kind of the properties that the mutant declares beyond those of its base."""
    equivalent: str | None = None
    """Reason why no property can tell it apart."""

    @model_validator(mode="after")
    def _has_expectation(self) -> MutantEntry:
        if (self.killer is None) == (self.equivalent is None):
            raise ValueError(f"mutant {self.name!r} needs exactly one of 'killer' and 'equivalent'")
        return self


class GeneratedMutants(Strict):
    """Mutants made from the specification by rule, on one instance."""

    name: Name
    section: Literal["generated"] = "generated"
    tier: Tier = Tier.FAST
    instance: Name
    total: int = Field(gt=0)
    """Pinned number of mutants that behave differently on the instance (those that do not are only
    counted).
    """
    actions: tuple[Name, ...] = ()
    """Only the mutants of these actions; those of all if absent."""
    sample: int | None = Field(default=None, gt=0)
    """Judge so many of them, always the same ones; all if absent."""
    distributed: bool = False
    """Judge them as Spark tasks."""
    equivalent: dict[str, str] = Field(default_factory=dict)
    """Reviewed survivors: mutant id -> reason."""

    @property
    def reviewed(self) -> dict[str, str]:
        """All that need not be killed, with the reasons."""
        return self.equivalent


class MeasuredMutants(Strict):
    """What trials of all mutants of an entry have shown beside their fates."""

    judges: dict[str, Count]
    """Mutants that each judge has killed; ``test``: that tests have killed."""
    median: float = Field(ge=0)
    """Seconds of processor time to a kill."""
    longest: float = Field(ge=0)
    """The longest of them."""


class ImplementationMutants(Strict):
    """Mutants made by rule from the source of the implementation, tried by the judges of the gate.

    Either ``files`` and ``hosts`` or ``tests`` are given, or ``of`` names the entry that has them. With
    ``sample`` only so many are tried: none that is reviewed.
    """

    name: Name
    section: Literal["implementation"] = "implementation"
    tier: Tier = Tier.FAST
    about: str = ""
    package: str = f"{PACKAGE}.impl"
    """The package of the implementation. A mutant is named after its file in the package's folder."""
    files: tuple[str, ...] = ()
    """Files of the package's folder."""
    hosts: tuple[Name, ...] = ()
    """Programs and drivers, of any manifest, that try the mutants: in the order in which they kill."""
    tests: tuple[str, ...] = ()
    """Files and folders of pytest: each file tries what no host has killed. For code that no specification
    describes; the paths begin in the folder of the package's rooms.
    """
    slips: Reference | None = None
    """A list of ``Patch``: mistakes of people, tried with the mutants that rules make."""
    total: int = Field(gt=0)
    """Pinned number of mutants that are tried: the sum of the counts, unless it is said."""
    counts: dict[str, Count] = Field(default_factory=dict)
    """Pinned: mutants by fate, and ``names``, a check sum of their names."""
    measured: MeasuredMutants | None = None
    """What ``tidemark mutants --last`` has printed of it. It is shown, and not compared."""
    of: Name | None = None
    sample: int | None = Field(default=None, gt=0)
    """Try so many of them, always the same ones for a ``seed``."""
    seed: int = 0
    """Another sample for another number."""
    distributed: bool = False
    """Try them in Spark tasks; by default those of the full tier, unless it is a sample."""
    equivalent: dict[str, str] = Field(default_factory=dict)
    """Reviewed: mutant id -> why nothing can tell it apart."""
    counted: dict[str, str] = Field(default_factory=dict)
    """Reviewed: mutant id -> why it shows only as a count, a refusal or a step without an end."""
    holes: dict[str, str] = Field(default_factory=dict)
    """Known: mutant id -> what no judge looks at."""

    @property
    def reviewed(self) -> dict[str, str]:
        """All that need not be killed by a claim, with the reasons."""
        return {**self.equivalent, **self.counted, **self.holes}

    @model_validator(mode="before")
    @classmethod
    def _with_total(cls, data: dict[str, Any]) -> dict[str, Any]:
        total = sum(number for name, number in data.get("counts", {}).items() if name != "names_crc32")
        return {"total": total, "distributed": data.get("tier") == "full" and "sample" not in data, **data}

    @model_validator(mode="after")
    def _has_files(self) -> ImplementationMutants:
        if bool(self.files and (self.hosts or self.tests)) == (self.of is not None):
            raise ValueError(
                f"implementation {self.name!r} needs either 'files' and 'hosts' or 'tests', or 'of'"
            )
        reviewed = [*self.equivalent, *self.counted, *self.holes]
        if len(set(reviewed)) != len(reviewed):
            raise ValueError(f"implementation {self.name!r} gives one mutant two reasons")
        return self


class ArgumentEntry(Entry):
    """What a protocol assumes: proved properties of others, and facts about its environment.

    An entry that is expected to be refuted is judged of its claims alone, and supports nothing: it shows that
    the judge refutes.
    """

    section: Literal["argument"] = "argument"
    claims: tuple[str, ...] = Field(min_length=1)
    """Property ids of other protocols, ``environment.OPTION`` for each option that assumes something,
    ``follows.ACTION.PROTOCOL`` for each step that relies on another protocol, and ``derived.PROOF`` for each
    entry of ``derived``.
    """
    needed: dict[str, Name] = Field(default_factory=dict)
    """Option -> the entry of this manifest that drops this assumption alone and in which a claim breaks."""
    finer: dict[str, Name] = Field(default_factory=dict)
    """Option that the protocol does not read -> the entry of a variant with finer steps that does, and of
    which all claims hold. The entry under ``needed`` is then of such a variant too.
    """
    derived: dict[Name, str] = Field(default_factory=dict)
    """Proof of a variant, for any size -> what the protocol takes as given and that variant does not: what
    happens in one step, or never, and needs no assumption.
    """
    reads: tuple[Reference, ...] = ()
    """How the protocols that it relies on are read in its words: one reading for each step and protocol."""
    without_guarantees: bool = False
    """The readings get no guarantees: a self-test, in which nothing may follow."""
    torn: dict[str, str] | None = None
    """Of an entry with the claims ``torn.ACTION``, in which each action is torn in two steps: action -> what
    keeps it one step. It has an answer if and only if a claim falls.
    """
    ends: tuple[str, ...] = ()
    """Of such an entry: the actions that end a process, which then takes no late step."""

    @property
    def must_fail(self) -> bool:
        """Is it there to be refuted?"""
        return self.expect.every is Expected.REFUTED


class FramesEntry(Entry):
    """Which claims say no more than the steps do: each of them is marked so, and no other one."""

    section: Literal["frames"] = "frames"
    protocol: Reference
    claims: tuple[str, ...] = ()
    """Invariants and transition invariants that are looked at; all if absent."""
    flipped: bool = False
    """Each mark is taken for its opposite: a self-test, in which the solver must tell."""


class StrengthEntry(Entry):
    """Does each part of each claim matter? A part that no run shows is idle."""

    section: Literal["strength"] = "strength"
    protocol: Reference
    parts: Literal["claims", "liveness", "lemmas"] = "claims"
    """What is looked at: the parts of invariants and transition invariants; hypotheses and fairness of
    liveness claims; each lemma, as a part of the proof.
    """
    claims: tuple[str, ...] = ()
    """Claims that are looked at; all of their kind if absent."""
    instances: tuple[Name, ...] = Field(min_length=1)
    """Instances on which a claim without a hypothesis must fail, or an induction without a lemma."""
    generated: dict[Name, tuple[str, ...]] = Field(default_factory=dict)
    """Instance -> ids of mutants by rule that show the conjuncts that no mutant by hand shows; ``*`` for all
    of them.
    """
    states: int = Field(default=50_000, gt=0)
    """States of a wrong protocol that are searched at most; the instances are searched whole."""
    idle: dict[str, str] = Field(default_factory=dict)
    """Parts that are known to be idle, each with the reason."""

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """The kinds of claim that are looked at."""
        return {
            "claims": (Kind.INVARIANT, Kind.TRANSITION),
            "liveness": (Kind.LEADS_TO,),
            "lemmas": (Kind.LEMMA,),
        }[self.parts]


VARIANTS = "variants"
"""Claim id: all variants and mutants differ from the protocol as is pinned."""


class PinsEntry(Entry):
    """What a protocol says, compared with the lock beside the manifest."""

    section: Literal["pins"] = "pins"
    protocol: Reference
    """The protocol of the manifest; or a variant, which the same pins must tell from it."""
    pinned: tuple[Pin, ...] = ()
    """The lines of the lock. They are never written in a manifest."""
    variants: tuple[Reference, ...] = ()
    """All variants and mutants of the specification that the manifest judges: they are pinned too."""
    readings: tuple[Reference, ...] = ()
    """All readings of the manifest's arguments: they are pinned too."""

    flipped: str = ""
    """The id of a pin whose digest a self-test takes for another one: the comparison must tell."""

    @property
    def claims(self) -> tuple[str, ...]:
        """The ids that a comparison answers: each pin of the protocol and of the readings; of its variants,
        one for all.
        """
        own = [pin.id for pin in self.compared if not pin.of_variant]
        own += [] if self.of_itself else [VARIANTS]
        return tuple(dict.fromkeys((*own, *self.expect.refuted)))

    @property
    def compared(self) -> tuple[Pin, ...]:
        """The pins that are looked at: all, or only those of the protocol itself."""
        own = (pin for pin in self.pinned if pin.of_protocol or not self.of_itself)
        wrong = {"digest": "0" * 16}
        return tuple(pin.model_copy(update=wrong) if pin.id == self.flipped else pin for pin in own)

    @property
    def of_itself(self) -> bool:
        """Is it compared without its variants: in a self-test, or a variant with the pins of its base?"""
        return bool(self.flipped) or self.protocol in self.variants

    def compares(self, protocol: str) -> bool:
        """Does it hold only if all pins are those of ``protocol``?"""
        return self.protocol == protocol and self.expect == Expectation(every=Expected.HOLDS)


AnyEntry = (
    InstanceEntry
    | ProofEntry
    | InterleaveEntry
    | ConformEntry
    | ArgumentEntry
    | PinsEntry
    | FramesEntry
    | StrengthEntry
    | MutantEntry
    | GeneratedMutants
    | ImplementationMutants
)


def is_on_spark(entry: AnyEntry) -> bool:
    """Whether the entry's work is dealt out as Spark tasks."""
    if isinstance(entry, InterleaveEntry):
        return entry.on_spark
    return isinstance(entry, GeneratedMutants | ImplementationMutants) and entry.distributed


class Manifest(Strict):
    """Everything about one protocol."""

    name: Name
    protocol: Reference
    properties: dict[Kind, tuple[str, ...]] = Field(min_length=1)
    """Pinned property ids by kind."""
    wrong_marks: tuple[str, ...] = ()
    """Claims whose marks as frame conditions a self-test takes for their opposite."""
    instance: tuple[InstanceEntry, ...] = ()
    proof: tuple[ProofEntry, ...] = ()
    interleave: tuple[InterleaveEntry, ...] = ()
    conform: tuple[ConformEntry, ...] = ()
    argument: tuple[ArgumentEntry, ...] = ()
    pins: tuple[PinsEntry, ...] = ()
    frames: tuple[FramesEntry, ...] = ()
    strength: tuple[StrengthEntry, ...] = ()
    mutant: tuple[MutantEntry, ...] = ()
    generated: tuple[GeneratedMutants, ...] = ()
    implementation: tuple[ImplementationMutants, ...] = ()

    _path: Path | None = PrivateAttr(None)
    _never_pinned: bool = PrivateAttr(default=False)
    _states_claims: bool = PrivateAttr(default=True)

    @property
    def path(self) -> Path | None:
        """The file that it was read from, if any."""
        return self._path

    @property
    def states_claims(self) -> bool:
        """Does the file or its lock say the ids of the claims, or are they those that the class has now?"""
        return self._states_claims

    def never_pinned(self, entry: AnyEntry) -> bool:
        """Is the manifest new, so that counts of the entry, and what it does not exercise, are unknown?"""
        if not isinstance(entry, InstanceEntry | ProofEntry | InterleaveEntry):
            return False
        return self._never_pinned and not entry.counts

    def read_from(self, path: Path, *, never_pinned: bool, states_claims: bool) -> Self:
        """The same, which knows its file, and whether locks lie beside it."""
        same = self.model_copy()
        same._path, same._never_pinned, same._states_claims = path, never_pinned, states_claims  # noqa: SLF001
        return same

    def to_be_pinned(self) -> Self:
        """The same, as it is judged once it is pinned."""
        same = self.model_copy()
        same._never_pinned = False  # noqa: SLF001  of this class
        return same

    def entries(self) -> Iterator[AnyEntry]:
        """All entries, in the order in which they are judged."""
        yield from self.pins
        yield from self.frames
        yield from self.strength
        yield from self.argument
        yield from self.proof
        yield from self.instance
        yield from self.conform
        yield from self.interleave
        yield from self.mutant
        yield from self.generated
        yield from self.implementation

    @property
    def kinds(self) -> dict[str, Kind]:
        """The kind of each pinned property."""
        return {claim: kind for kind, claims in self.properties.items() for claim in claims}

    def kinds_of(self, entry: VariantEntry | MutantEntry) -> dict[str, Kind]:
        """The kind of each property of an entry's protocol: the pinned ones, and what a variant adds."""
        return self.kinds | {claim: kind for kind, claims in entry.adds.items() for claim in claims}

    def variants(self) -> tuple[str, ...]:
        """References of all variants and mutants of the protocol that some entry judges, in order of name."""
        judged: tuple[InstanceEntry | ProofEntry, ...] = (*self.instance, *self.proof)
        hosts = {entry.name for entry in judged}
        found = {entry.protocol for entry in (*judged, *self.pins)}
        found |= {mutant.ref for mutant in self.mutant if mutant.instance in hosts}
        return tuple(sorted(found - {self.protocol}))

    def readings(self) -> tuple[str, ...]:
        """References of the readings of all arguments, in order of name."""
        return tuple(sorted({reading for entry in self.argument for reading in entry.reads}))

    def claims_of(self, entry: VariantEntry, kinds: Iterable[Kind]) -> tuple[str, ...]:
        """The pinned properties of the given kinds that ``entry`` has to decide."""
        allowed = set(kinds) if entry.kinds is None else set(kinds) & set(entry.kinds)
        known = self.kinds_of(entry)
        chosen = tuple(known) if entry.claims is None else entry.claims
        left_out = set(entry.skip)
        if isinstance(entry, ProofEntry):
            left_out |= {*entry.fails, *(c for c, k in known.items() if k is Kind.LEADS_TO)}
            left_out -= set(entry.liveness)
        return tuple(claim for claim in chosen if known[claim] in allowed and claim not in left_out)
