"""Mutants as tasks of a Spark session: the fates are those of one machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.checks.mutation.implementation import command
from tidemark.checks.mutation.implementation.command import Chosen
from tidemark.checks.mutation.implementation.fate import Fate, Trial
from tidemark.checks.mutation.implementation.judge import Plan
from tidemark.checks.mutation.implementation.trial import DYING, UNCHANGED
from tidemark.models.manifest import load
from tidemark.models.rooms import ROOT

HOST = "tso-impl-takeover"
MUTANTS = (
    "tso/oracle.py:TimestampOracle.__init__/plus-one@1",
    "tso/oracle.py:TimestampOracle._first/condition-negated@1",
    "tso/oracle.py:TimestampOracle.generate/condition-negated@1",
)


def known(trials: list[Trial]) -> dict[str, tuple[Fate, str, str]]:
    return {trial.id: (trial.fate, trial.host, trial.claim) for trial in trials}


@pytest.mark.spark
def test_fates_on_spark_are_those_of_one_machine(spark, tmp_path: Path):
    manifest = load(ROOT / "models" / "protocols" / "tso" / "manifest.toml")
    entry = next(one for one in manifest.implementation if one.name == "tso-impl-places-sample")
    plan = Plan.of(entry, manifest)
    hosts = tuple(host for host in plan.hosts if host.name == HOST)
    orders = [(name, hosts) for name in (*MUTANTS, UNCHANGED, DYING)]

    def tried(master: str | None) -> dict[str, tuple[Fate, str, str]]:
        options = Chosen(entry="", only="", listed=False, last=False, build=tmp_path, jobs=2, master=master)
        return known(list(command._trials(plan, orders, {}, options)))

    there = tried(spark.sparkContext.master)
    assert there == tried(None)
    fates = {fate for fate, _, _ in there.values()}
    assert {Fate.KILLED, Fate.SURVIVED, Fate.BROKEN} <= fates
    assert there[UNCHANGED][0] is Fate.SURVIVED
    assert there[DYING][0] is Fate.BROKEN
