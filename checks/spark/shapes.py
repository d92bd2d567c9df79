"""Work that needs no exchange between tasks: searches of many instances, swarms of random walks."""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tidemark.checks.spark.sweep import run_many
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.progress import silent
from tidemark.checks.verdicts.verdict import Outcome, Verdict, amended
from tidemark.models.instance import BadInstance, Instance
from tidemark.models.interpreted.interpreter import BelowZeroError
from tidemark.models.native.errors import NativeError
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import SearchLimits, search
from tidemark.models.native.simulate import Budget

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_HERE = "tidemark.checks.spark.shapes"


@dataclass(frozen=True, kw_only=True)
class Searched:
    """What the search of one instance of a sweep found. ``why``: why it is incomplete, or could not begin."""

    setting: str
    distinct: int = 0
    generated: int = 0
    depth: int = 0
    out_of_bounds: int = 0
    deadlocks: int = 0
    broken: tuple[str, ...] = ()
    """Ids of the claims that fail."""
    seconds: float = 0.0
    why: str = ""


def grid(instance: Instance, axes: Mapping[str, Sequence[Any]]) -> list[tuple[str, Instance]]:
    """The instance with every combination of values; an axis is a bound or a constant.

    Raises BadInputError for a name that is neither, or an axis without values.
    """
    for name, values in axes.items():
        if not values:
            raise BadInputError(f"no values for {name}", remedy="write NAME=1,2,3 or NAME=1..3")
        if name not in instance.bounds and name not in instance.constants:
            known = ", ".join(sorted((*instance.bounds, *instance.constants)))
            raise BadInputError(
                f"{name!r} is neither a bound nor a constant of {instance.name}",
                remedy=f"name one of {known}",
            )
    found = []
    for values in itertools.product(*axes.values()):
        chosen = dict(zip(axes, values, strict=True))
        bounds = {name: chosen.get(name, bound) for name, bound in instance.bounds.items()}
        constants = {name: chosen.get(name, value) for name, value in instance.constants.items()}
        text = ", ".join(f"{name}={value}" for name, value in chosen.items())
        found.append((text, replace(instance, bounds=bounds, constants=constants)))
    return found


def sweep(spark: SparkSession, instances: Sequence[tuple[str, Instance]], *, states: int) -> list[Searched]:
    """Search every instance with the compiled kernel, each in one task, up to so many states."""
    items = [(setting, instance, states) for setting, instance in instances]
    name = instances[0][1].name if instances else ""
    found: list[Searched] = run_many(
        spark, items, f"{_HERE}:search_one", name=f"sweep of {name}", unit="instances", progress=silent
    )
    return found


def search_one(item: tuple[str, Instance, int]) -> Searched:
    """One instance, on one core. An instance that cannot be built is a line of the table, not a crash."""
    setting, instance, states = item
    begin = time.perf_counter()
    try:
        kernel = compile_kernel(instance)
        result = search(kernel, limits=SearchLimits(states=states), workers=1)
    except (NativeError, BadInstance, BelowZeroError) as error:
        return Searched(setting=setting, why=str(error))
    claims = [*kernel.state_claims, *(c for c in kernel.step_claims if c.kind == "transition_invariant")]
    return Searched(
        setting=setting,
        distinct=result.distinct,
        generated=result.generated,
        depth=result.depth,
        out_of_bounds=int(result.totals.out_of_bounds.sum()),
        deadlocks=result.totals.deadlocks,
        broken=tuple(sorted(claim.id for claim in claims if result.hit(claim))),
        seconds=time.perf_counter() - begin,
        why=result.stopped,
    )


def swarm(spark: SparkSession, instance: Instance, *, tasks: int, budget: Budget, seed: int) -> list[Verdict]:
    """Random walks with the seeds ``seed`` .. ``seed + tasks - 1``, each in a task with the whole budget.

    One verdict a property: a refutation or a reached witness wins, with the shortest run; else it stays open.
    """
    items = [(instance, budget, seed + number) for number in range(tasks)]
    found: list[list[Verdict]] = run_many(
        spark, items, f"{_HERE}:walk_one", name=f"swarm in {instance.name}", unit="walks", progress=silent
    )
    return [_merged(several) for several in zip(*found, strict=True)]


def walk_one(item: tuple[Instance, Budget, int]) -> list[Verdict]:
    """The walks of one seed."""
    from tidemark.checks.explore.simulate import simulate

    instance, budget, seed = item
    return simulate(instance, budget=budget, seed=seed)[1]


def _merged(several: Sequence[Verdict]) -> Verdict:
    def rank(verdict: Verdict) -> tuple[int, int]:
        steps = verdict.counterexample.steps if verdict.counterexample is not None else ()
        return (verdict.outcome is Outcome.INCONCLUSIVE, len(steps))

    best = min(several, key=rank)
    counts = {name: sum(verdict.counts[name] for verdict in several) for name in best.counts}
    return amended(best, counts=counts, seconds=max(verdict.seconds for verdict in several))
