"""The decisive queries of a proof, answered by another solver: one solver alone may be wrong."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

from tidemark.checks.prove.proof import subject_of
from tidemark.checks.prove.prover import FIRST_S, Prover
from tidemark.checks.verdicts.commands import check_command
from tidemark.checks.verdicts.errors import missing_package
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import SECOND_OPINION, Aspect, Verdict, holds, inconclusive, refuted
from tidemark.models.manifest import ProofEntry
from tidemark.models.symbolic.second import Compared, Opinion, compare, decisive
from tidemark.models.symbolic.solve import Query
from tidemark.models.symbolic.subject import ProofSubject

NOTED = 5
"""Queries without a second answer that a verdict names."""

Told = Callable[[int, int, str], None]


def compared(
    subject: ProofSubject,
    *,
    timeout_s: float = FIRST_S,
    unproved: frozenset[str] = frozenset(),
    seed: int = 0,
    told: Told = lambda *_: None,
) -> list[Compared]:
    """Every query that decided a conjunct of an obligation, with the answers of both solvers.

    The obligations are attempted as a proof attempts them: what the first pass leaves open gets its full
    limit, ``timeout_s``, and what is proved is proved without the claims that are not (``unproved``). What
    the first solver leaves open is not asked. Raises MissingToolError without cvc5; SpecError.
    """
    asked: list[Query] = []
    prover = Prover(subject, seed, asked.append)
    found: list[Compared] = []
    for number, obligation in enumerate(prover.obligations):
        told(number, len(prover.obligations), obligation.name)
        without = unproved if obligation.claim not in unproved else frozenset()
        for limit in (min(timeout_s, FIRST_S), timeout_s):
            asked.clear()
            outcome = prover.attempt(obligation, timeout_s=limit, without=without)
            if outcome.answer.status != "unknown" or outcome.model is not None:
                break
        try:
            found += [compare(query) for query in decisive(asked)]
        except ModuleNotFoundError as error:
            raise missing_package("the second opinion", error) from error
    return found


def second_opinion(
    entry: ProofEntry, context: Context, *, judge: str, unproved: frozenset[str] = frozenset()
) -> Verdict:
    """One verdict: the solvers do not contradict each other, and agree on as many queries as is pinned.

    ``unproved``: claims that the proof does not prove.
    """
    begin = time.perf_counter()
    found = compared(
        subject_of(entry),
        timeout_s=entry.timeout_s,
        unproved=unproved,
        seed=context.seed,
        told=lambda done, total, name: context.progress(
            done, total=total, unit="obligations", note=f"second opinion on {name}"
        ),
    )
    subject = context.subject(entry, judge, SECOND_OPINION, Aspect.PIN)
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
    notes = tuple(
        f"{item.query.obligation}: cvc5 says {item.other}"
        for item in found
        if item.opinion is Opinion.UNKNOWN
    )[:NOTED]
    return holds(subject, counts=counts, bounds=bounds, seconds=seconds, replay=replay, notes=notes)
