"""The same search on Spark."""

import pytest

from tests.checks.interleave.test_subtrees import facts
from tidemark.checks.interleave import Options, explore
from tidemark.checks.interleave.spark import Spread, explore_on_spark
from tidemark.models.simulation import ProgramRef

PROGRAMS = "tests.checks.interleave.programs:"


@pytest.mark.spark
@pytest.mark.parametrize("spread", [Spread(parts=3, budget=5), Spread(parts=16, budget=40, partitions=5)])
def test_rounds_on_spark_give_what_one_core_gives(spark, spread):
    program = ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind="lastzero", size=4)
    rounds = []
    options = Options(classes=True)
    result = explore_on_spark(
        spark,
        program,
        options,
        spread=spread,
        tick=lambda done, _total: rounds.append((done.number, done.left)),
    )
    assert facts(result) == facts(explore(program, options))
    assert result.status.value == "exhausted"
    assert rounds[-1][1] == 0


@pytest.mark.spark
def test_violations_found_on_spark_are_those_of_one_core(spark):
    program = ProgramRef.of(f"{PROGRAMS}no_lost_update", size=3)
    result = explore_on_spark(spark, program, spread=Spread(parts=4, budget=3))
    alone = explore(program)
    assert facts(result) == facts(alone)
    assert result.first().token == alone.first().token


@pytest.mark.spark
def test_too_few_rounds_are_inconclusive(spark):
    program = ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind="lastzero", size=4)
    result = explore_on_spark(spark, program, spread=Spread(parts=2, budget=1, rounds=1))
    assert result.status.value == "inconclusive"
    assert "left out" in result.reason
