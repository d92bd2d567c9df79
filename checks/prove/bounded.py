"""Runs of bounded length over any number of elements, and induction over several steps."""

import time
from collections.abc import Callable, Sequence

from tidemark.checks.prove.bmc import FoundRun, find_runs
from tidemark.checks.prove.proof import Proof, size_text
from tidemark.checks.verdicts.verdict import Subject, Verdict, holds, inconclusive, proved, refuted
from tidemark.models.symbolic.errors import UnprovableError
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.models.symbolic.unroll import broken_within, k_inductive
from tidemark.spec.language.spec import Property, Spec

INDUCTIVE = ("invariant", "lemma")
"""Kinds of claim to which induction over several steps applies."""

Name = Callable[[Property], Subject]
"""What the verdict about a claim is about."""


def bounded(
    subject: ProofSubject,
    claims: Sequence[Property],
    name: Name,
    *,
    depth: int,
    seconds: float,
    seed: int = 0,
    replay: str = "",
) -> list[Verdict]:
    """Bounded model checking: can a run of at most ``depth`` steps, of any size, break a claim?

    ``seconds`` is the limit for one length of the run. A run that exists is shown on a small instance.
    """
    return [
        _bounded(subject, prop, name(prop), depth=depth, seconds=seconds, seed=seed, replay=replay)
        for prop in claims
    ]


def _bounded(
    subject: ProofSubject,
    prop: Property,
    about: Subject,
    *,
    depth: int,
    seconds: float,
    seed: int,
    replay: str,
) -> Verdict:
    begin = time.perf_counter()
    bounds = f"runs of at most {depth} steps, {size_text(subject.spec)}"
    try:
        reply, reached = broken_within(subject.spec, prop, depth=depth, seconds=seconds, seed=seed)
    except UnprovableError as error:
        return inconclusive(about, reason=str(error), bounds=bounds, replay=replay)
    counts = {"queries": reached + (prop.kind != "transition_invariant")}
    spent = time.perf_counter() - begin
    if reply == "no" and counts["queries"]:
        return holds(about, counts=counts, bounds=bounds, seconds=spent, replay=replay)
    run = find_runs(subject, [prop], depth=depth, seconds=seconds).get(prop.id)
    spent = time.perf_counter() - begin
    if run is not None:
        return _refuted(about, run, counts=counts, seconds=spent, replay=replay)
    reason = (
        f"a run of {reached} steps breaks it, but no small instance shows one"
        if reply == "yes"
        else f"the solver found no answer in {seconds:g} s for runs of {reached} steps"
    )
    return inconclusive(about, reason=reason, counts=counts, bounds=bounds, seconds=spent, replay=replay)


def _refuted(
    about: Subject, run: FoundRun, *, counts: dict[str, int], seconds: float, replay: str
) -> Verdict:
    return refuted(
        about,
        counts={**counts, "queries": max(1, counts["queries"])},
        counterexample=run.counterexample,
        bounds=f"a run of {run.depth} steps within {run.instance.bounds_text()}",
        replay=replay,
        seconds=seconds,
        notes=run.notes,
    )


def by_k_induction(
    proof: Proof,
    claims: Sequence[Property],
    name: Name,
    *,
    k: int,
    seconds: float,
    seed: int = 0,
    replay: str = "",
) -> list[Verdict]:
    """Induction over ``k`` steps for claims that induction over one step leaves open.

    What the proof has shown is assumed of every state. ``seconds`` is the limit of one query.
    """
    open_claims = {outcome.obligation.claim for outcome in proof.open()}
    known = [prop for prop in proof.spec.of_kind("invariant", "lemma") if prop.id not in open_claims]
    untyped = sorted(claim for claim in open_claims if claim.startswith("type:"))
    found = []
    for prop in claims:
        begin = time.perf_counter()
        reason = f"needs {', '.join(untyped)}, which is not proved" if untyped else ""
        if prop.kind not in INDUCTIVE:
            reason = f"k-induction is for invariants, not for a {prop.kind}"
        reason = reason or _why_not(proof.spec, prop, known, k=k, seconds=seconds, seed=seed)
        spent = time.perf_counter() - begin
        about = name(prop)
        if reason:
            found.append(inconclusive(about, reason=reason, seconds=spent, replay=replay))
            continue
        notes = (f"by induction over {k} steps, for {size_text(proof.spec)}",)
        counts = {"obligations": k + 1}
        found.append(proved(about, counts=counts, seconds=spent, replay=replay, notes=notes))
    return found


def _why_not(
    spec: Spec, prop: Property, known: Sequence[Property], *, k: int, seconds: float, seed: int
) -> str:
    """Why k-induction does not prove a claim; empty if it does."""
    try:
        reply = k_inductive(spec, prop, k=k, known=known, seconds=seconds, seed=seed)
    except UnprovableError as error:
        return str(error)
    no_answer = f"the solver found no answer in {seconds:g} s"
    return {"yes": "", "no": f"not inductive over {k} steps", "unknown": no_answer}[reply]
