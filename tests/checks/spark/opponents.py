"""The counts of a search by three engines, in one form."""

from pathlib import Path
from typing import Any

from tidemark.checks.spark.search.breadth_first import Result, RoundLimits, Search
from tidemark.checks.spark.search.native_kernel import FACTORY as NATIVE
from tidemark.checks.spark.search.run_directory import RunDirectory
from tidemark.checks.spark.search.runners import Runner
from tidemark.models.instance import Instance
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import search as native_search

GRID = Instance("tests.checks.spark.protocols:Grid", {"Place": 6}, name="grid")
LAMPS = Instance("tests.checks.spark.protocols:Lamps", {"Lamp": 4, "Colour": 255}, name="lamps")
WIDE_LAMPS = Instance("tests.checks.spark.protocols:Lamps", {"Lamp": 5, "Colour": 2**14}, name="wide-lamps")
SIX_MANAGERS = Instance("tests.protocols.small:TwoPhase", {"Manager": 6}, name="six-managers")
TWO_PHASE = Instance("tests.protocols.small:TwoPhase", {"Manager": 4}, name="two-phase")


def make(folder: Path, instance: Instance, *, partitions: int = 2, factory: str = NATIVE) -> RunDirectory:
    return RunDirectory.create(folder, instance, factory=factory, partitions=partitions)


def distributed(
    folder: Path,
    instance: Instance,
    *,
    partitions: int = 2,
    factory: str = NATIVE,
    spark: Runner | None = None,
    handover: int = 0,
) -> Result:
    directory = make(folder, instance, partitions=partitions, factory=factory)
    return Search(directory, spark=spark, limits=RoundLimits(handover=handover)).run()


def summary(result: Result) -> dict[str, Any]:
    """All that must not depend on partitions or on the engine."""
    return {
        "distinct": result.distinct,
        "generated": result.levels[0] + result.generated,
        "depth": len(result.levels),
        "by_action": result.steps.generated,
        "outside": result.steps.out_of_bounds,
        "deadlocks": result.steps.deadlocks,
        "broken": {name: depth for name, (depth, _) in result.violations.items()},
        "events": set(result.events),
    }


def native_summary(instance: Instance) -> dict[str, Any]:
    kernel = compile_kernel(instance)
    result = native_search(kernel)
    hits = {claim.id: result.hit(claim) for claim in (*kernel.state_claims, *kernel.step_claims)}
    depths = {
        claim.id: next(d for d, end in enumerate(result.totals.levels[1:]) if hits[claim.id].state < end)  # type: ignore[union-attr]
        for claim in kernel.state_claims
        if hits[claim.id]
    }
    return {
        "distinct": result.distinct,
        "generated": result.generated,
        "depth": result.depth,
        "by_action": result.totals.generated.tolist(),
        "outside": result.totals.out_of_bounds.tolist(),
        "deadlocks": result.totals.deadlocks,
        "broken": depths,
        "events": {claim.id for claim in kernel.step_claims if hits[claim.id]},
    }
