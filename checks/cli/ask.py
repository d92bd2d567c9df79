"""Questions without a manifest: ``explore``, ``prove`` and ``diff`` of ``module:Class``."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tidemark.checks.inputs.manifests import bounds_of, chosen_instance, constants_of, loaded
from tidemark.checks.questions.ask import Answer, explored
from tidemark.checks.questions.ask import prove as prove_claims
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.report.sources import claim_sources
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.verdict import RUN_STEPS, Outcome, Verdict


def explore(
    only: str,
    *,
    claims: Sequence[str],
    bounds: Sequence[str],
    constants: Sequence[str],
    first: bool | None,
    seconds: float | None,
    memory: int | None,
    workers: int | None,
    manifests: Sequence[Path],
    as_json: bool,
) -> int:
    """Search ``module:Class``, or an instance of a manifest; the exit status is that of the answer."""
    if manifests and ":" in only:
        loaded(manifests)  # the modules beside them can be imported now
    instance = chosen_instance(
        only, bounds=bounds, constants=constants, manifests=manifests, say=_say if as_json else print
    )
    answer = explored(instance, claims=claims, first=first, seconds=seconds, memory=memory, workers=workers)
    return shown(answer, as_json=as_json)


def prove(
    only: str,
    *,
    claims: Sequence[str],
    constants: Sequence[str],
    seconds: float,
    seed: int,
    jobs: int | None,
    as_json: bool,
) -> int:
    """Prove the claims of ``module:Class``: one line a claim, the step where one fails; the exit status."""
    answer = prove_claims(
        only, claims=claims, constants=constants_of(constants), seconds=seconds, seed=seed, jobs=jobs
    )
    status = shown(answer, as_json=as_json)
    if answer.exit_code is ExitCode.INCONCLUSIVE and not as_json:
        print(f"lemmas that are missing:  tidemark suggest {only}")
    return status


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def shown(answer: Answer, *, as_json: bool) -> int:
    """Print an answer, the refuted claims last, each with its run; its exit status."""
    if as_json:
        verdicts = [verdict.model_dump(mode="json", exclude={"replay"}) for verdict in answer.verdicts]
        said = {"protocol": answer.protocol, "bounds": answer.bounds, "remarks": answer.remarks}
        sys.stdout.write(json.dumps({**said, "verdicts": verdicts}, indent=1) + "\n")
        return answer.exit_code.value
    left = [one for one in answer.verdicts if one.outcome is Outcome.INCONCLUSIVE and not one.notes]
    alike = len({one.reason for one in left}) == 1 < len(left)
    for verdict in sorted(answer.verdicts, key=lambda one: one.outcome is Outcome.REFUTED):
        if not (alike and verdict in left):
            print("\n".join(verdict_lines(verdict, protocol=answer.protocol)))
    if alike:
        print(f"  {len(left)} claims are not decided: {left[0].reason}")
    for remark in answer.remarks:
        print(f"  note: {remark}")
    decided = [one for one in answer.verdicts if one.outcome in (Outcome.HOLDS, Outcome.PROVED)]
    words = "are proved for" if answer.verdicts[0].subject.judge == "prove" else "hold within"
    print(f"{len(decided)} of {len(answer.verdicts)} claims {words} {answer.bounds}")
    return answer.exit_code.value


def verdict_lines(verdict: Verdict, *, protocol: str) -> Iterator[str]:
    """A verdict in lines: the outcome, the run that refutes the claim, or why it is not decided."""
    claim = verdict.subject.property_id
    words = {
        Outcome.HOLDS: f"{verdict.counts.get('distinct', 0):,} states" * ("distinct" in verdict.counts),
        Outcome.PROVED: "; ".join(verdict.notes),
    }
    text = words.get(verdict.outcome) or verdict.reason or verdict.bounds
    if verdict.outcome is Outcome.REFUTED and RUN_STEPS in verdict.counts:
        text = f"in {verdict.counts[RUN_STEPS]} steps, within {verdict.bounds}"
    yield f"  {claim}: {verdict.outcome.value}: {text}"
    if verdict.counterexample is not None:
        shown = trace_text(verdict.counterexample, sources=claim_sources(claim, protocol=protocol))
        yield from (f"    {line}" for line in shown.splitlines())
    for note in verdict.notes if verdict.outcome is Outcome.INCONCLUSIVE else ():
        yield f"    note: {note}"


def diff(
    base: str,
    variant: str,
    *,
    claims: Sequence[str],
    bounds: Sequence[str],
    constants: Sequence[str],
    seconds: float,
) -> int:
    """Print what changes from one protocol to the other; 0: nothing, 1: something, 3: the smallest size takes
    too long.
    """
    from tidemark.checks.questions.differences import Round, changed, common, differences

    rounds, printed = list[Round](), set[str]()
    found = differences(
        (base, variant), claims, bounds=bounds_of(bounds), constants=constants_of(constants), seconds=seconds
    )
    for pair in found:
        rounds.append(pair)
        states = " and ".join(f"{one.verdicts[0].counts.get('distinct', 0):,}" for one in pair)
        new = [one for one in changed(rounds) if one.claim not in printed and one.verdict.counterexample]
        print(f"{pair[0].bounds}: {states} states, {len(new)} more claims change", flush=True)
        for one in new:
            printed.add(one.claim)
            print(f"{one.claim}: holds of {one.holds}, is refuted of {one.refuted}")
            print("\n".join(verdict_lines(one.verdict, protocol=one.refuted)))
    final = changed(rounds)
    for one in final:
        if one.claim not in printed:
            print(f"{one.claim}: reached by {one.holds}, not by {one.refuted}, within {one.verdict.bounds}")
    both = sorted(printed - {one.claim for one in final})
    shared, single = common(base, variant)
    names = ", ".join(one.claim for one in final) or "none"
    print(f"{len(final)} of {len(claims or shared)} claims change: {names}")
    for text, others in (("refuted of both within larger bounds", both), ("of one protocol only", single)):
        if others:
            print(f"{text}: {', '.join(others)}")
    if not final and any(one.exit_code is ExitCode.INCONCLUSIVE for one in rounds[0]):
        return ExitCode.INCONCLUSIVE.value
    return (ExitCode.UNEXPECTED_REFUTATION if final else ExitCode.AS_EXPECTED).value
