"""Does a claim of ``module:Class`` hold? Nothing is pinned, and nothing is written.

What is not exercised is a remark: a question is about claims.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tidemark.checks.inputs.manifests import instance_within
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode, most_severe
from tidemark.checks.verdicts.progress import silent
from tidemark.checks.verdicts.verdict import COVERAGE, Aspect, Outcome, Verdict
from tidemark.models.cores import cores
from tidemark.models.instance import Bound, Instance
from tidemark.spec.language.protocol import Protocol, resolve
from tidemark.spec.language.spec import Property

Asked = type[Protocol] | str
"""A protocol: its class, or ``module:Class``."""

_STATUS = {
    Outcome.PROVED: ExitCode.AS_EXPECTED,
    Outcome.HOLDS: ExitCode.AS_EXPECTED,
    Outcome.REFUTED: ExitCode.UNEXPECTED_REFUTATION,
    Outcome.INCONCLUSIVE: ExitCode.INCONCLUSIVE,
}


@dataclass(frozen=True)
class Answer:
    """What a question has found: a verdict on each claim that was asked about."""

    protocol: str
    bounds: str
    """Over what it speaks, in words."""
    verdicts: tuple[Verdict, ...]
    remarks: tuple[str, ...] = ()
    """What was not exercised."""

    @property
    def ok(self) -> bool:
        """Does every claim hold, or is it proved?"""
        return self.exit_code is ExitCode.AS_EXPECTED

    @property
    def exit_code(self) -> ExitCode:
        """0: all hold or are proved; 1: one is refuted; 3: one is not decided."""
        return most_severe(_STATUS[verdict.outcome] for verdict in self.verdicts)

    def __getitem__(self, claim: str) -> Verdict:
        """The verdict on a claim, by its id or the name of its method. Raises KeyError."""
        for verdict in self.verdicts:
            if claim in (verdict.subject.property_id, named(verdict)):
                return verdict
        raise KeyError(claim)

    def trace(self, claim: str) -> list[dict[str, Any]]:
        """The run that refutes a claim, a row a state: ``step``, ``action``, and each variable (a map as a
        tuple in the order of its keys). Empty if the claim is not refuted. Raises KeyError.
        """
        shown = self[claim].counterexample
        return [] if shown is None else rows(shown)


def rows(run: Counterexample) -> list[dict[str, Any]]:
    """The states of a run, each with the step that led to it."""
    labels = ["", *(step.label for step in run.steps)]
    states = zip(labels, run.states(), strict=True)
    return [{"step": number, "action": label, **state} for number, (label, state) in enumerate(states)]


def named(verdict: Verdict) -> str:
    """The claim of a verdict by the name of its method."""
    return verdict.subject.property_id.partition(".")[2]


def reference_of(protocol: Asked) -> str:
    """``module:Class``. Raises ReferenceNotFoundError if it is no protocol that can be found by this."""
    found = protocol if isinstance(protocol, str) else protocol.reference()
    return resolve(found).reference() if found.startswith("__main__:") else found


def asked_about(protocol: str, claims: Sequence[str], known: Sequence[Property]) -> list[Property]:
    """The claims of these ids or names; all if none is named. Raises BadInputError for an unknown one, and if
    there is none.
    """
    names = {name: prop for prop in known for name in (prop.id, prop.id.partition(".")[2])}
    if not known:
        raise BadInputError(
            f"{protocol} has no invariant to prove, nor another claim that this command decides",
            remedy="write one: a method with the decorator @invariant",
        )
    for claim in claims:
        if claim not in names:
            raise BadInputError(f"{protocol} has no claim {claim!r}", remedy=known_names(claim, names))
    return [names[claim] for claim in dict.fromkeys(claims)] if claims else list(known)


def explore(
    protocol: Asked,
    *,
    claims: Sequence[str] = (),
    bounds: Mapping[str, Bound] | None = None,
    constants: Mapping[str, Any] | None = None,
    first: bool | None = None,
    seconds: float | None = None,
) -> Answer:
    """Search a bounded instance of a protocol exhaustively.

    Args:
        protocol: the class, or ``module:Class``.
        claims: names or ids; all if none is given.
        bounds: by type; small ones for those that are not given.
        constants: values of constants, and of options that are to be others.
        first: end with the first refutation; by default if one claim is asked about.
        seconds: end after so many.

    Raises:
        BadInputError: an unknown claim, bound or constant, or one without a value.
        SpecError: an error of the protocol, for example a step that makes a number negative.
    """
    instance, _ = instance_within(reference_of(protocol), bounds or {}, constants or {})
    return explored(instance, claims=claims, first=first, seconds=seconds)


def explored(
    instance: Instance,
    *,
    claims: Sequence[str] = (),
    first: bool | None = None,
    seconds: float | None = None,
    memory: int | None = None,
    workers: int | None = None,
) -> Answer:
    """The same, of an instance. ``memory``: bytes; ``workers``: threads, all cores if None."""
    from tidemark.checks.explore import judge
    from tidemark.models.native.search.breadth_first import SearchLimits

    chosen = asked_about(instance.protocol, claims, instance.spec.properties)
    wanted = [prop.id for prop in chosen]
    ends = len(claims) == 1 if first is None else first
    limits = SearchLimits(memory=memory, seconds=seconds, stop_on=frozenset(wanted if ends else ()))
    found = judge.explore(instance, properties=wanted, progress=silent, limits=limits, workers=workers)
    idle = [
        verdict
        for verdict in found
        if verdict.subject.aspect is Aspect.VACUITY and not (claims and verdict.subject.property_id in wanted)
    ]
    remarks = [one.reason for one in idle if one.outcome is Outcome.REFUTED]
    remarks = [text for text in remarks if not any(text != other and text in other for other in remarks)]
    remarks += [note for one in idle if one.subject.property_id == COVERAGE for note in one.notes]
    answers = [one for one in found if one not in idle]
    return Answer(instance.protocol, instance.bounds_text(), tuple(answers or idle), tuple(remarks))


def prove(
    protocol: Asked,
    *,
    claims: Sequence[str] = (),
    constants: Mapping[str, Any] | None = None,
    seconds: float = 20.0,
    seed: int = 0,
    jobs: int | None = None,
) -> Answer:
    """Prove claims of a protocol for any size; liveness that has a ``@rank`` too.

    Args:
        protocol: the class, or ``module:Class``.
        claims: names or ids; all if none is given.
        constants: values of options that are to be others.
        seconds: limit of one query of the solver.
        seed: of the solver.
        jobs: processes; all cores if None.

    Raises:
        BadInputError: an unknown claim or constant.
        SpecError: an error of the protocol, for example a step that makes a number negative.
    """
    from tidemark.checks.prove.judge import JUDGE
    from tidemark.checks.prove.proof import size_text
    from tidemark.checks.verdicts.judge import Context
    from tidemark.models.manifest import Expectation, Expected, Kind, Manifest, ProofEntry
    from tidemark.models.symbolic.subject import ProofSubject
    from tidemark.spec.language.protocol import ranked_claims

    reference = reference_of(protocol)
    known = resolve(reference).trace()
    subject = ProofSubject(reference, constants or {}, liveness=ranked_claims(resolve(reference)))
    for name in constants or {}:
        if name not in (names := [variable.name for variable in known.constants]):
            raise BadInputError(f"{reference} has no constant {name!r}", remedy=known_names(name, names))
    provable = list(known.of_kind("invariant", "transition_invariant", "lemma"))
    provable += map(known.property, subject.liveness)
    entry = ProofEntry(
        name="alone",
        protocol=reference,
        constants=dict(constants or {}),
        timeout_s=seconds,
        expect=Expectation(every=Expected.PROVED),
        claims=tuple(prop.id for prop in asked_about(reference, claims, provable)),
        liveness=subject.liveness,
        finitely=subject.finitely,
    )
    kinds = {
        Kind(kind): tuple(prop.id for prop in known.properties if prop.kind == kind)
        for kind in dict.fromkeys(prop.kind for prop in known.properties)
    }
    manifest = Manifest(name="alone", protocol=reference, properties=kinds, proof=(entry,))
    found = JUDGE.run(entry, Context(manifest=manifest, seed=seed, workers=jobs or cores()))
    answers = tuple(one for one in found if one.subject.aspect is Aspect.PROPERTY)
    others = [one for one in found if one.subject.aspect is not Aspect.PROPERTY]
    remarks = tuple(one.reason for one in others if one.outcome is not Outcome.HOLDS)
    return Answer(reference, size_text(known), answers, remarks)
