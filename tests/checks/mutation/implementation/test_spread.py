"""Mutants as tasks of a Spark session: the fates are those of one machine."""

import json
import sys
from pathlib import Path

import pytest

from tests.checks.mutation.implementation.cluster_driver import HOST, tried
from tests.processes import finished
from tidemark.checks.mutation.implementation.fate import Fate, Trial
from tidemark.checks.mutation.implementation.trial import DYING, UNCHANGED
from tidemark.models.rooms import ROOT

MUTANTS = (
    "tso/oracle.py:TimestampOracle.__init__/plus-one@1",
    "tso/oracle.py:TimestampOracle.start/max-to-min@1",
    "tso/oracle.py:TimestampOracle.generate/condition-negated@1",
)


def known(trials: list[Trial]) -> dict[str, tuple[Fate, str, str]]:
    return {trial.id: (trial.fate, trial.host, trial.claim) for trial in trials}


@pytest.mark.spark
def test_fates_on_spark_are_those_of_one_machine(spark, tmp_path: Path):
    names = (*MUTANTS, UNCHANGED, DYING)
    there = known(tried(names, master=spark.sparkContext.master, build=tmp_path))
    assert there == known(tried(names, master=None, build=tmp_path))
    fates = {fate for fate, _, _ in there.values()}
    assert {Fate.KILLED, Fate.SURVIVED, Fate.BROKEN} <= fates
    assert there[UNCHANGED][0] is Fate.SURVIVED
    assert there[DYING][0] is Fate.BROKEN


@pytest.mark.spark
@pytest.mark.slow
@pytest.mark.xdist_group("cluster")
def test_executors_of_a_cluster_try_mutants(standalone, tmp_path: Path):
    master, _ = standalone
    command = [sys.executable, "-m", f"{__package__}.cluster_driver", master, str(tmp_path)]
    done = finished([*command, MUTANTS[1], UNCHANGED, DYING], cwd=ROOT)
    assert done.returncode == 0, done.stderr
    found = {name: (Fate(fate), host) for name, (fate, host, _) in json.loads(done.stdout).items()}
    assert found == {
        MUTANTS[1]: (Fate.KILLED, HOST),
        UNCHANGED: (Fate.SURVIVED, ""),
        DYING: (Fate.BROKEN, ""),
    }
