"""``tidemark simulate``: random walks through an instance of a manifest."""

from collections.abc import Sequence
from pathlib import Path

from tidemark.checks.explore.simulate import simulate
from tidemark.checks.inputs.manifests import manifests as read
from tidemark.checks.report.forms.trace_text import trace_text
from tidemark.checks.report.sources import claim_sources
from tidemark.checks.verdicts.errors import BadInputError, known_names
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.progress import Progress, silent
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.manifest import instance_of
from tidemark.models.manifest.about import about
from tidemark.models.native.simulate import Budget, Sample


def command(
    name: str, *, budget: Budget, seed: int, manifests: Sequence[Path] = (), progress: Progress = silent
) -> int:
    """``tidemark simulate``: print what the walks saw of a manifest instance; the exit status.

    A refutation is never green, and neither is its absence. Raises BadInputError for an unknown instance.
    """
    known = {entry.name: (manifest, entry) for manifest in read(manifests) for entry in manifest.instance}
    if name not in known:
        raise BadInputError(
            f"no instance {name!r} in the manifest", remedy=known_names(name, known, lists="tidemark show")
        )
    manifest, entry = known[name]
    print(about([(manifest, name)]))
    instance = instance_of(entry)
    sample, found = simulate(instance, protocol=manifest.name, budget=budget, seed=seed, progress=progress)
    print(f"{name}: {instance.bounds_text()}; seed {seed}")
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
            sources = claim_sources(verdict.subject.property_id, protocol=instance.protocol)
            print(trace_text(verdict.counterexample, sources=sources))
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
