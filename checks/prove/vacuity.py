"""Does the proof speak about anything? Assumptions that contradict each other prove everything."""

from __future__ import annotations

import time
from dataclasses import dataclass

from tidemark.checks.prove.prover import LARGER, SIZE, SMALLER, Prover
from tidemark.checks.prove.run import Proof
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import COVERAGE, Aspect, Verdict, holds, inconclusive
from tidemark.models.manifest import ProofEntry
from tidemark.models.symbolic.hints import SmallModel

SIZES = (*SMALLER, SIZE, *LARGER)


@dataclass(frozen=True)
class Shown:
    """One thing that must be possible, with the state (and step) that shows it; None if none was found."""

    what: str
    model: SmallModel | None


def possibilities(prover: Prover) -> list[Shown]:
    """An initial state; and for each action a state, in which all invariants hold, from which it can be
    taken.
    """
    found = [Shown("an initial state that satisfies the assumptions", _first(prover, None))]
    words = "a step {} from a state in which all invariants hold"
    found.extend(
        Shown(words.format(action.name), _first(prover, action.name)) for action in prover.spec.actions
    )
    return found


def _first(prover: Prover, action: str | None) -> SmallModel | None:
    for size in SIZES:
        hints = prover.hints(size)
        if hints is None:
            continue
        model = hints.an_initial_state() if action is None else hints.a_step_of(action)
        if model is not None:
            return model
    return None


def vacuity(entry: ProofEntry, context: Context, proof: Proof, *, judge: str) -> list[Verdict]:
    """One verdict: the hypotheses of the proof can be true, for every action."""
    begin = time.perf_counter()
    shown = possibilities(Prover(proof.subject))
    subject = context.subject(entry, judge, COVERAGE, Aspect.VACUITY)
    seconds = time.perf_counter() - begin
    replay = check_command(judge, entry.name)
    missing = [item.what for item in shown if item.model is None]
    counts = {"queries": len(shown) - len(missing)}
    figures = proof.statistics()
    rates = {"wall_s": figures.wall_s, "slowest_s": figures.slowest_s, "workers": float(figures.workers)}
    if missing:
        largest = f"sorts of up to {max(e for e, _ in SIZES)} elements, keys up to {max(g for _, g in SIZES)}"
        reason = f"not found with {largest}: {'; '.join(missing)}; a proof about it says nothing"
        return [inconclusive(subject, reason=reason, counts=counts, seconds=seconds, replay=replay)]
    instances = {item.model.instance.bounds_text() for item in shown if item.model is not None}
    bounds = f"a state for each of {len(shown)} hypotheses, within {max(instances, key=len)}"
    return [
        holds(
            subject,
            counts=counts,
            bounds=bounds,
            seconds=seconds,
            replay=replay,
            notes=(figures.text(),),
            rates=rates,
        )
    ]
