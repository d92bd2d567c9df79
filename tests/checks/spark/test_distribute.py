"""The judge ``distribute``: verdicts of a search on Spark, equal to the native engine's for any number of
partitions.
"""

import dataclasses

import pytest

from tests.checks.spark.opponents import GRID, LAMPS, TWO_PHASE, distributed, make, native_summary, summary
from tests.manifests import manifests
from tidemark.checks.explore.replay import parse_token, replay
from tidemark.checks.spark.judge import JUDGE, distribute
from tidemark.checks.spark.search.breadth_first import TOGETHER, RoundLimits, Search
from tidemark.checks.spark.search.runners import OnSpark
from tidemark.checks.spark.states.level_log import CorruptFileError
from tidemark.checks.verdicts.errors import BadInputError, StoppedError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Aspect, Outcome

pytestmark = pytest.mark.spark

EVERYTHING_ON_SPARK = RoundLimits(handover=0)
LARGE_LEVELS = RoundLimits(handover=200)


@pytest.mark.parametrize("partitions", [1, 2, 3, 7])
def test_counts_do_not_depend_on_partitions(spark, tmp_path, partitions):
    """Large levels run on Spark, small ones in the driver."""
    found = distributed(
        tmp_path / "run", TWO_PHASE, partitions=partitions, spark=OnSpark(spark), handover=200
    )
    assert summary(found) == native_summary(TWO_PHASE)
    first = next(depth for depth, size in enumerate(found.levels) if size >= 200)
    # One job does eight rounds, whatever becomes of the levels.
    seen = [done.on_spark for done in found.rounds]
    assert seen == [first <= depth < first + TOGETHER for depth in range(len(found.levels))]


@pytest.mark.parametrize("together", [1, 3])
def test_counts_do_not_depend_on_the_rounds_of_a_job(spark, tmp_path, together):
    directory = make(tmp_path / "run", TWO_PHASE, partitions=3)
    limits = RoundLimits(handover=200, together=together)
    found = Search(directory, spark=OnSpark(spark), limits=limits).run()
    assert summary(found) == native_summary(TWO_PHASE)
    assert sum(done.on_spark for done in found.rounds) == {1: 4, 3: 6}[together]
    assert directory.complete_rounds() == len(found.levels) + 1


def by_id(verdicts):
    return {verdict.subject.property_id: verdict for verdict in verdicts}


@pytest.fixture(scope="module")
def grid_verdicts(spark, tmp_path_factory):
    """All rounds on Spark, also the first and the last ones."""
    folder = tmp_path_factory.mktemp("grid") / "run"
    return by_id(distribute(GRID, spark=spark, workdir=folder, limits=EVERYTHING_ON_SPARK))


def steps_of(verdict):
    """The count of a shortest run's steps, of a verdict that has one."""
    return {"counterexample_steps": len(verdict.counterexample.steps)} if verdict.counterexample else {}


def test_verdicts_of_the_grid(grid_verdicts):
    outcomes = {name.partition(".")[2]: verdict.outcome for name, verdict in grid_verdicts.items()}
    assert outcomes == {
        "low": Outcome.HOLDS,
        "not_far": Outcome.REFUTED,
        "never_left": Outcome.REFUTED,
        "never_down": Outcome.HOLDS,
        "jumps_from_the_top": Outcome.HOLDS,
        "climbs_above": Outcome.REFUTED,
    }
    for verdict in grid_verdicts.values():
        assert verdict.counts == {
            "distinct": 84,
            "generated": native_summary(GRID)["generated"],
            "depth": 16,
            "outside": 12,
            **steps_of(verdict),
        }
        assert "Place 6" in verdict.bounds
        assert "12 steps leave the bounds" in verdict.bounds
    assert grid_verdicts["grid.climbs_above"].subject.aspect is Aspect.VACUITY
    assert "never reached" in grid_verdicts["grid.climbs_above"].reason
    assert grid_verdicts["grid.low"].rates["rounds_on_spark"] == 16


def test_counterexamples_are_shortest_and_replay(grid_verdicts, monkeypatch):
    lengths = {"grid.not_far": 5, "grid.never_left": 4}
    monkeypatch.setattr("tidemark.checks.explore.replay._instance", lambda name, manifests: GRID)
    for name, length in lengths.items():
        verdict = grid_verdicts[name]
        assert len(verdict.counterexample.steps) == length
        shown, still_refuted = replay(parse_token(verdict.replay.removeprefix("tidemark replay ")), [])
        assert still_refuted
        assert shown.states() == verdict.counterexample.states()
    last = grid_verdicts["grid.never_left"].counterexample.steps[-1]
    assert last.action == "jump"
    assert "x" in grid_verdicts["grid.never_left"].counterexample.failing


def test_the_counterexample_does_not_depend_on_partitions_or_spark(spark, tmp_path):
    runs = [
        by_id(distribute(LAMPS, spark=spark, workdir=tmp_path / str(n), partitions=n, limits=limits))
        for n, limits in ((1, RoundLimits(handover=10**9)), (3, RoundLimits(handover=40)))
    ]
    one, other = (run["lamps.one_is_dark"].counterexample for run in runs)
    assert one == other
    assert len(one.steps) == native_summary(LAMPS)["broken"]["lamps.one_is_dark"]


def test_stop_and_resume_on_spark(spark, tmp_path):
    seen = []

    def stop(done, *, total=None, unit="", note=""):
        seen.append(note)
        if note.startswith("depth 7"):
            raise KeyboardInterrupt

    with pytest.raises(StoppedError) as stopped:
        distribute(TWO_PHASE, spark=spark, workdir=tmp_path / "run", limits=LARGE_LEVELS, progress=stop)
    assert stopped.value.saved == tmp_path / "run"
    assert "One core is faster" in seen[0]
    assert "1,568 states" in seen[0]
    assert "states/s" in seen[-1]
    with pytest.raises(BadInputError, match="holds a run already"):
        distribute(TWO_PHASE, spark=spark, workdir=tmp_path / "run", limits=LARGE_LEVELS)
    resumed = distribute(TWO_PHASE, spark=spark, workdir=tmp_path / "run", limits=LARGE_LEVELS, resume=True)
    native = native_summary(TWO_PHASE)
    for verdict in resumed:
        found = {name: verdict.counts[name] for name in ("distinct", "generated", "depth")}
        assert found == {name: native[name] for name in ("distinct", "generated", "depth")}


def test_resume_from_the_round_before_a_damaged_file(spark, tmp_path):
    whole = distribute(
        LAMPS, spark=spark, workdir=tmp_path / "run", partitions=2, limits=RoundLimits(handover=10**9)
    )
    path = tmp_path / "run" / "part-00001" / "level-000004.bin"
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(CorruptFileError, match="level-000004") as caught:
        distribute(LAMPS, spark=spark, workdir=tmp_path / "run", resume=True)
    assert "resume from round 3" in caught.value.remedy
    again = distribute(
        LAMPS, spark=spark, workdir=tmp_path / "run", resume=3, limits=RoundLimits(handover=40)
    )
    assert [verdict.counts for verdict in again] == [verdict.counts for verdict in whole]


def test_a_file_that_a_task_finds_damaged_is_named(spark, tmp_path):
    def damage(done, *, total=None, unit="", note=""):
        if note.startswith("depth 4,"):
            path = tmp_path / "run" / "part-00001" / "level-000004.bin"
            path.write_bytes(path.read_bytes()[:-3])

    with pytest.raises(CorruptFileError, match="level-000004") as caught:
        distribute(
            LAMPS,
            spark=spark,
            workdir=tmp_path / "run",
            partitions=2,
            limits=RoundLimits(handover=30, together=1),
            progress=damage,
        )
    assert "resume from round 3" in caught.value.remedy


def test_an_instance_that_is_too_wide_is_bad_input(spark, tmp_path):
    wide = dataclasses.replace(LAMPS, bounds={"Lamp": 2000, "Colour": 2**19})
    with pytest.raises(BadInputError, match="words"):
        distribute(wide, spark=spark, workdir=tmp_path / "run")


def test_the_judge_keeps_the_rounds_of_a_stopped_search_until_it_is_done(spark, tmp_path):
    manifest = manifests()["flush"]
    entry = next(entry for entry in manifest.instance if entry.name == "tiny")
    shown = []

    def stop(done, *, total=None, unit="", note=""):
        if note.startswith("depth 9,"):
            raise KeyboardInterrupt

    def watch(done, *, total=None, unit="", note=""):
        shown.append(note)

    context = Context(manifest=manifest, progress=stop, build=tmp_path)
    rounds = tmp_path / "distribute" / "tiny"
    with pytest.raises(StoppedError) as stopped:
        JUDGE.run(entry, context)
    assert stopped.value.saved == rounds
    assert rounds.exists()
    resumed = dataclasses.replace(JUDGE, resume=True)
    found = resumed.run(entry, dataclasses.replace(context, progress=watch))
    assert shown[1].startswith("depth 10,")
    seen = {name: found[0].counts[name] for name in ("distinct", "generated", "depth")}
    assert seen == {name: entry.counts[name] for name in ("distinct", "generated", "depth")}
    assert not rounds.exists()
    assert len(list((tmp_path / "history").glob("*.parquet"))) == 2
