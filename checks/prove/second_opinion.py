"""The decisive queries of a proof, answered by another solver: one solver alone may be wrong."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from tidemark.checks.prove.prover import FIRST_S, Prover
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import missing_package
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Aspect, Verdict, holds, inconclusive, refuted
from tidemark.models.manifest import ProofEntry
from tidemark.models.symbolic.second import Compared, Opinion, compare, decisive
from tidemark.models.symbolic.solve import Query
from tidemark.models.symbolic.subject import ProofSubject

CLAIM = "second-opinion"
"""Claim id of the comparison of the two solvers."""

Told = Callable[[int, int, str], None]


def compared(subject: ProofSubject, *, seed: int = 0, told: Told = lambda *_: None) -> list[Compared]:
    """Every query that decided a conjunct of an obligation, with the answers of both solvers.

    What the first solver leaves open is not asked. Raises MissingToolError without cvc5; SpecError.
    """
    asked: list[Query] = []
    prover = Prover(subject, seed, asked.append)
    found: list[Compared] = []
    for number, obligation in enumerate(prover.obligations):
        told(number, len(prover.obligations), obligation.name)
        asked.clear()
        prover.attempt(obligation, timeout_s=FIRST_S)
        try:
            found += [compare(query) for query in decisive(asked)]
        except ModuleNotFoundError as error:
            raise missing_package("the second opinion", error.name) from error
    return found


def second_opinion(entry: ProofEntry, context: Context, *, judge: str) -> Verdict:
    """One verdict: the solvers do not contradict each other."""
    begin = time.perf_counter()
    found = compared(
        ProofSubject(entry.protocol),
        seed=context.seed,
        told=lambda done, total, name: context.progress(
            done, total=total, unit="obligations", note=f"second opinion on {name}"
        ),
    )
    subject = context.subject(entry, judge, CLAIM, Aspect.PIN)
    by = Counter(item.opinion for item in found)
    counts = {"queries": len(found), "agreed": by[Opinion.AGREES], "unanswered": by[Opinion.UNKNOWN]}
    seconds, replay = time.perf_counter() - begin, check_command(judge, entry.name)
    wrong = [item for item in found if item.opinion is Opinion.CONTRADICTS]
    if wrong:
        first = wrong[0]
        reason = (
            f"{len(wrong)} contradictions; {first.query.obligation}: {first.query.piece} is "
            f"{first.query.result} for Z3 and {first.other} for cvc5"
        )
        return refuted(
            subject, counts=counts, counterexample=None, reason=reason, seconds=seconds, replay=replay
        )
    if not by[Opinion.AGREES]:
        why = found[0].other if found else "no query decided anything"
        reason = f"cvc5 answers none of {len(found)} queries: {why}"
        return inconclusive(subject, reason=reason, counts=counts, seconds=seconds, replay=replay)
    bounds = f"{by[Opinion.AGREES]} of {len(found)} queries answered by both solvers"
    return holds(subject, counts=counts, bounds=bounds, seconds=seconds, replay=replay)
