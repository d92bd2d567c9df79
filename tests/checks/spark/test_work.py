"""Proof obligations and mutants as Spark tasks: the same answers as in one process."""

from __future__ import annotations

import json

import pytest

from tests.checks.spark.saboteurs import jobs_of
from tidemark.checks.cli.app import run
from tidemark.checks.mutation.assess import MutantResult
from tidemark.checks.mutation.judge import mutate
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.instance import Instance
from tidemark.models.mutation.generated import mutants_of
from tidemark.spec.language.protocol import resolve

LOCK = "tests.protocols_proof.locks:TicketLock"
TWO_PHASE = Instance("tests.protocols.small:TwoPhase", {"Manager": 3}, name="two-phase")


def manifest(folder):
    """One proof of a small protocol, all of whose claims are proved."""
    pinned: dict[str, list[str]] = {}
    for prop in resolve(LOCK).trace().properties:
        pinned.setdefault(prop.kind, []).append(prop.id)
    lines = [f"{kind} = {json.dumps(ids)}" for kind, ids in pinned.items()]
    path = folder / "locks.toml"
    head = ['name = "locks"', f'protocol = "{LOCK}"', "[properties]", *lines]
    entry = ["[proof.lock]", f'protocol = "{LOCK}"', 'expect = { every = "proved" }']
    entry.append("counts = { obligations = 19 }")
    path.write_text("\n".join([*head, *entry]))
    return path


def outcomes(folder):
    found = json.loads((folder / "verdicts.json").read_text())["judgements"]
    return [(item["property_id"], item["outcome"], item["counts"]) for item in found]


@pytest.mark.spark
@pytest.mark.proof
def test_the_command_proves_on_spark_what_it_proves_here(spark, tmp_path):
    command = ["prove", "--manifest", str(manifest(tmp_path))]
    assert run([*command, "--build", str(tmp_path / "here")]) == ExitCode.AS_EXPECTED
    before = len(jobs_of(spark.sparkContext))
    command += ["--spark", "--master", spark.sparkContext.master]
    assert run([*command, "--build", str(tmp_path / "there")]) == ExitCode.AS_EXPECTED
    assert outcomes(tmp_path / "there") == outcomes(tmp_path / "here")
    names = jobs_of(spark.sparkContext)[before:]
    assert names
    assert all(name.startswith(f"obligations of {LOCK}: ") for name in names)


def test_runs_of_several_steps_are_not_for_spark(capsys):
    command = ["prove", "tests.protocols_proof.odd:Cycle", "--k-induction", "3", "--spark"]
    assert run(command) == ExitCode.BAD_INPUT
    assert "these run in one process" in capsys.readouterr().err


def fate(result: MutantResult):
    return result.id, result.fate, result.killer, result.distinct


@pytest.mark.spark
def test_mutants_on_spark_meet_the_same_fate(spark):
    ids = tuple(mutant.id for mutant in mutants_of(TWO_PHASE.protocol))[:6]
    before = len(jobs_of(spark.sparkContext))
    there = mutate(TWO_PHASE, mutants=ids, spark=spark)
    here = mutate(TWO_PHASE, mutants=ids)
    assert [fate(result) for result in there] == [fate(result) for result in here]
    assert [result.id for result in there] == list(ids)
    assert jobs_of(spark.sparkContext)[before:] == ["mutants in two-phase: 4 parts"]
