"""Random walks through a bounded instance: refutes and reaches, and otherwise says that it only sampled."""

from collections.abc import Sequence

from tidemark.checks.explore.replay import replay_command
from tidemark.checks.verdicts.progress import Progress, silent
from tidemark.checks.verdicts.trace import counterexample, failing_at_end
from tidemark.checks.verdicts.verdict import Aspect, Searched, Subject, Verdict, holds, inconclusive, refuted
from tidemark.models.instance import Instance
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.simulate import Budget, Sample
from tidemark.models.native.simulate import simulate as walk
from tidemark.spec.language.spec import Property

NAME = "simulate"
NOT_SHORTEST = "found by a random walk: a shorter run may exist"


def simulate(
    instance: Instance,
    *,
    properties: Sequence[str] | None = None,
    budget: Budget | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> tuple[Sample, list[Verdict]]:
    """The sample, and verdicts on the properties (all if None): refuted, reached, or inconclusive.

    Raises NativeError, BadInstance; KeyError for an unknown property.
    """
    chosen_budget = budget if budget is not None else Budget()

    def watch(visits: int, rate: float) -> None:
        progress(visits, total=chosen_budget.visits, unit="visits", note=f"{rate:,.0f}/s")

    sample = walk(compile_kernel(instance), budget=chosen_budget, seed=seed, watch=watch)
    spec = instance.spec
    chosen = spec.properties if properties is None else [spec.property(name) for name in properties]
    return sample, [_verdict(sample, chosen_budget, prop) for prop in chosen]


def _verdict(sample: Sample, budget: Budget, prop: Property) -> Verdict:
    instance = sample.kernel.instance
    reachable = prop.kind == "reachable"
    subject = Subject(
        protocol=instance.spec.name.lower(),
        property_id=prop.id,
        judge=NAME,
        instance=instance.name,
        aspect=Aspect.VACUITY if reachable else Aspect.PROPERTY,
    )
    searched: Searched = {
        "counts": {"executions": sample.walks, "visits": sample.visits},
        "bounds": instance.bounds_text(),
        "seconds": sample.seconds,
        "replay": f"tidemark simulate {instance.name} --visits {budget.visits} --depth {budget.depth} "
        f"--seed {sample.seed}",
    }
    rates = {"visits_per_second": sample.visits / max(sample.seconds, 1e-9)}
    run = sample.run(prop)
    if run is None:
        what = "walks do not decide liveness" if prop.kind == "leads_to" else "walks can only refute"
        reason = f"sampled: {sample.walks} walks of up to {sample.longest} steps; {what}"
        return inconclusive(subject, reason=reason, **searched)
    if reachable:
        return holds(subject, **searched, rates=rates, notes=(f"reached after {len(run.steps)} steps",))
    states, steps = run.states, run.steps
    failing = failing_at_end(sample.kernel.interpreter, prop, states)
    shown = counterexample(instance, states=states, steps=steps, failing=failing)
    searched["replay"] = replay_command(
        sample.kernel.interpreter,
        entry=instance.name,
        property_id=prop.id,
        initial=states[0],
        steps=steps,
    )
    return refuted(subject, counterexample=shown, **searched, rates=rates, notes=(NOT_SHORTEST,))
