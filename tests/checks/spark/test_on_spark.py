"""What Spark itself sees of a search: jobs, stages, lost shuffle files; the history; proofs and mutants."""

import dataclasses
import json
from pathlib import Path

import pytest

from tests.checks.spark.opponents import GRID, TWO_PHASE, distributed, native_summary, summary
from tests.checks.spark.saboteurs import THIEF, jobs_of, stages_of
from tidemark.checks.cli.app import run
from tidemark.checks.mutation.assess import MutantResult
from tidemark.checks.mutation.judge import mutate
from tidemark.checks.spark.judge import distribute
from tidemark.checks.spark.planning.cost import outlook
from tidemark.checks.spark.planning.history import RUNS, History, query
from tidemark.checks.spark.search.breadth_first import RoundLimits
from tidemark.checks.spark.search.runners import OnSpark
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.instance import Instance
from tidemark.models.mutation.generated import mutants_of
from tidemark.spec.language.protocol import resolve


@pytest.mark.spark
def test_a_lost_shuffle_file_changes_nothing(spark, tmp_path):
    build = Path(spark.conf.get("spark.local.dir")).parent
    instance = dataclasses.replace(TWO_PHASE, name=str(build))
    (build / "stolen.txt").unlink(missing_ok=True)
    found = distributed(
        tmp_path / "run", instance, partitions=7, factory=THIEF, spark=OnSpark(spark), handover=200
    )
    assert int((build / "stolen.txt").read_text()) > 0
    assert summary(found) == native_summary(TWO_PHASE)


STAGES = (
    "expand the states of depth 5",
    "absorb and expand the states of depth 6",
    "absorb and expand the states of depth 12",
    "absorb the states of depth 13",
)


@pytest.mark.spark
def test_jobs_and_stages_have_readable_names(spark, tmp_path):
    named = dataclasses.replace(TWO_PHASE, name="named")
    distributed(tmp_path / "run", named, spark=OnSpark(spark), handover=200)
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    descriptions = {str(jobs.apply(n).description()) for n in range(jobs.size())}
    names = {stage.name() for stage in stages_of(spark.sparkContext)}
    assert any(text.startswith("Some(named: depth 6 to 13, from 216 states") for text in descriptions)
    assert {f"named: {text}" for text in STAGES} <= names


@pytest.mark.spark
def test_the_history_is_a_table_with_a_row_for_each_round(spark, tmp_path):
    folder = tmp_path / "history"
    for partitions in (1, 2):
        distribute(
            GRID,
            spark=spark,
            workdir=tmp_path / str(partitions),
            partitions=partitions,
            limits=RoundLimits(handover=10**9),
            history=folder,
        )
    rows = query(spark, folder, "SELECT * FROM rounds WHERE partitions = 2 ORDER BY depth").collect()
    expected = native_summary(GRID)
    assert [row.depth for row in rows] == list(range(1, 17))
    assert rows[-1].distinct == expected["distinct"]
    assert 1 + sum(row.generated for row in rows) == expected["generated"]
    assert 1 + sum(row.frontier for row in rows) == expected["distinct"]
    assert sum(row.expanded for row in rows) == expected["distinct"]
    assert not any(row.on_spark for row in rows)
    found = [(row.instance, row.rounds, row.distinct) for row in query(spark, folder, RUNS).collect()]
    assert found == [("grid", 16, 84)] * 2
    with pytest.raises(BadInputError, match="Spark refuses the query") as caught:
        query(spark, folder, "SELECT colour FROM rounds")
    assert "sent_bytes" in caught.value.remedy


@pytest.mark.spark
def test_no_history_is_bad_input(spark, tmp_path):
    with pytest.raises(BadInputError, match="there is no history"):
        query(spark, tmp_path)


def test_a_history_is_whole_after_each_round(tmp_path):
    common = {"run": "r", "protocol": "p", "instance": "i", "master": "local", "cores": 2, "partitions": 2}
    history = History(tmp_path, words=1, **common)
    for depth in range(3):
        values = {"depth": depth, "expanded": 1, "frontier": 1, "distinct": depth, "generated": 1}
        history.add(**values, sent_bytes=8, seconds=0.5, on_spark=True)
        assert [path.name for path in tmp_path.iterdir()] == [history.path.name]


def test_the_outlook_follows_a_bell_curve():
    levels = [round(1000 * 2.718 ** (-((depth - 20) ** 2) / 40)) for depth in range(60)]
    levels = levels[: next(depth for depth in range(20, 60) if levels[depth] == 0)]
    seen = 18
    found = outlook(levels[4:seen])
    assert found is not None
    assert abs(found.rounds - len(levels[seen:])) <= 2
    assert 0.7 < found.states / sum(levels[seen:]) < 1.3


@pytest.mark.parametrize("levels", [[], [5, 9, 17], [1, 2, 4, 8, 16, 32, 64, 128], [0, 0, 0, 0, 0, 0, 0]])
def test_no_outlook_without_a_bend(levels):
    assert outlook(levels) is None


LOCK = "tests.protocols_proof.locks:TicketLock"
THREE_MANAGERS = Instance("tests.protocols.small:TwoPhase", {"Manager": 3}, name="two-phase")


def manifest(folder):
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
    command = ["prove", "tests.protocols_proof.traps:Cycle", "--k-induction", "3", "--spark"]
    assert run(command) == ExitCode.BAD_INPUT
    assert "these run in one process" in capsys.readouterr().err


def fate(result: MutantResult):
    return result.id, result.fate, result.killer, result.distinct


@pytest.mark.spark
def test_mutants_on_spark_meet_the_same_fate(spark):
    ids = tuple(mutant.id for mutant in mutants_of(THREE_MANAGERS.protocol))[:6]
    before = len(jobs_of(spark.sparkContext))
    there = mutate(THREE_MANAGERS, mutants=ids, spark=spark)
    here = mutate(THREE_MANAGERS, mutants=ids)
    assert [fate(result) for result in there] == [fate(result) for result in here]
    assert [result.id for result in there] == list(ids)
    assert jobs_of(spark.sparkContext)[before:] == ["mutants in two-phase: 4 parts"]
