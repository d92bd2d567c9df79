"""``tidemark simulate``: random walks through an instance of a manifest, or a protocol."""

from collections.abc import Sequence
from pathlib import Path

from tidemark.checks.explore.simulate import simulate
from tidemark.checks.inputs.manifests import chosen_instance
from tidemark.checks.questions.ask import asked_about
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.report.sources import claim_sources
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.progress import silent
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.native.simulate import Budget, Sample


def command(
    instance: str,
    *,
    claims: Sequence[str],
    bounds: Sequence[str],
    constants: Sequence[str],
    visits: int,
    depth: int,
    seconds: float | None,
    first: bool,
    seed: int,
    manifests: Sequence[Path],
) -> int:
    """``tidemark simulate``: print what the walks saw of a manifest instance or a protocol; the exit status.

    A refutation is never green, and neither is its absence. Raises BadInputError for an unknown instance,
    claim, bound or constant.
    """
    chosen = chosen_instance(instance, bounds=bounds, constants=constants, manifests=manifests, say=print)
    wanted = [prop.id for prop in asked_about(instance, claims, chosen.spec.properties)]
    budget = Budget(visits=visits, depth=depth, seconds=seconds, first=first)
    sample, found = simulate(chosen, properties=wanted, budget=budget, seed=seed, progress=silent)
    print(f"{instance}: {chosen.bounds_text()}; seed {seed}")
    print(
        f"{sample.walks:,} walks, {sample.visits:,} visits, longest {sample.longest} steps, "
        f"{sample.visits / max(sample.seconds, 1e-9):,.0f} visits/s"
    )
    print("\n".join(coverage_lines(sample)))
    for verdict in found:
        print(f"{verdict.outcome.value:>13}  {verdict.subject.property_id}")
    for verdict in found:
        if verdict.outcome is Outcome.REFUTED and verdict.counterexample is not None:
            print(f"\n{verdict.subject.property_id}: {'; '.join(verdict.notes)}")
            sources = claim_sources(verdict.subject.property_id, protocol=chosen.protocol)
            print(trace_text(verdict.counterexample, sources=sources))
            if ":" not in instance:  # a token names an instance of a manifest
                print(f"replay: {verdict.replay}")
    refutation = any(verdict.outcome is Outcome.REFUTED for verdict in found)
    return (ExitCode.UNEXPECTED_REFUTATION if refutation else ExitCode.INCONCLUSIVE).value


def coverage_lines(sample: Sample) -> list[str]:
    """How often each action was taken, and was enabled in a visited state."""
    width = max(map(len, sample.taken), default=0)
    return [
        f"{action:<{width}}  taken {sample.taken[action]:>10,}  enabled {sample.enabled[action]:>12,}"
        + ("  never" if action in sample.silent else "")
        for action in sample.taken
    ]
