"""Spark distributes exhaustive interleavings of the four invariants in the fast tier, each with its step."""

import subprocess
import sys
import time

import pytest

from tests.checks.interleave.cluster_driver import OPTIONS, PROGRAM, facts
from tests.manifests import manifests
from tests.processes import ends
from tidemark.checks.interleave import explore
from tidemark.checks.spark.session import executors, wait_for
from tidemark.models.manifest import Expectation, Expected, InterleaveEntry, Tier
from tidemark.models.manifest.reduction import ON_SPARK, Reduction
from tidemark.models.rooms import ROOT

INVARIANTS = {
    "tso.ordered": "tso.an_answer_after_an_update",
    "proxy.min_ts_never_goes_back": "proxy.the_least_passes_a_popped_task",
    "flush.checkpoint_before_earliest_unsynced": "flush.a_checkpoint_is_stored_below_an_unsynced_row",
    "flush.reset_only_by_greater_checkpoint": "flush.an_equal_checkpoint_resets_nothing",
}
"""An invariant, and the witness that a step of which it speaks happens."""


@pytest.mark.parametrize("claim", INVARIANTS)
def test_an_invariant_is_explored_on_spark_and_two_mutants_are_refuted_there(claim: str) -> None:
    found = {
        one.name: manifest
        for manifest in manifests().values()
        for one in manifest.interleave
        if one.tier is Tier.FAST and one.on_spark and {claim, INVARIANTS[claim]} <= {*one.claims}
    }
    assert found
    assert any(
        sum(mutant.instance == name and mutant.tier is Tier.FAST for mutant in manifest.mutant) >= 2
        for name, manifest in found.items()
    )


def test_a_third_of_the_executions_is_sparks() -> None:
    fast = [one for manifest in manifests().values() for one in manifest.interleave if one.tier is Tier.FAST]
    counts = [(one.on_spark, one.counts.get("executions", 0)) for one in fast]
    assert 3 * sum(count for on_spark, count in counts if on_spark) >= sum(count for _, count in counts)


@pytest.mark.parametrize(
    ("update", "on_spark"),
    [
        ({}, True),
        ({"counts": {"executions": ON_SPARK - 1}}, False),
        ({"counts": {}}, False),
        ({"distributed": False}, False),
        ({"counts": {}, "distributed": True}, True),
        ({"reduction": Reduction.STATES}, False),
        ({"reduction": Reduction.OPTIMAL}, False),
        ({"delays": 1}, False),
    ],
)
def test_large_searches_whose_counts_do_not_depend_on_the_cut_go_to_spark(
    update: dict[str, object], on_spark: bool
) -> None:
    entry = InterleaveEntry(
        name="x",
        about="x.",
        program="a.b:c",
        claims=("execution",),
        counts={"executions": ON_SPARK},
        expect=Expectation(every=Expected.HOLDS),
    )
    assert entry.model_copy(update=update).on_spark is on_spark


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("cluster")
def test_an_executor_killed_in_the_middle_of_a_round_changes_nothing(standalone, tmp_path):
    master, workers = standalone
    killed, rounds, result = None, 0, ""
    command = [sys.executable, "-m", "tests.checks.interleave.cluster_driver", master, str(tmp_path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout or ():
            rounds += line.startswith("round")
            result = line if line.startswith("result") else result
            if rounds == 3 and killed is None:
                time.sleep(0.1)
                both = wait_for(lambda: found if len(found := executors(workers)) == 2 else None)
                killed = both[0].pid
                both[0].kill()
    assert process.returncode == 0
    assert killed is not None
    assert ends(killed)
    assert rounds > 5, "the killed executor was missed by several rounds"
    assert result.strip() == f"result exhausted {facts(explore(PROGRAM, OPTIONS))}"
