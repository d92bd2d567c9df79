"""The oracle program: every reduction comes to the same end, and what bounds it is said when it is wrong."""

import pytest

from tidemark.checks.interleave import Options, Reduction, Status, explore
from tidemark.models.protocols.tso.program.scenario import OracleScenario
from tidemark.models.simulation import ProgramRef

TAKEOVER = {"clocks": (((5,),), ((0, 5),)), "calls": ((0, 1), (1, 1)), "crashes": 1}
STEP_DOWN = {"clocks": (((1,), (4,)),), "calls": ((0, 1),), "step_downs": 1, "updates": 1}


@pytest.mark.parametrize("scenario", [TAKEOVER, STEP_DOWN], ids=["takeover", "step-down"])
def test_reductions_agree_on_the_final_states(scenario):
    program = ProgramRef.of("tidemark.models.protocols.tso.program:oracle", **scenario)
    found = {way: explore(program, Options(reduction=way)) for way in Reduction if way is not Reduction.NONE}
    assert {result.status for result in found.values()} == {Status.EXHAUSTED}
    assert len({result.finals_digest() for result in found.values()}) == 1
    assert len({frozenset(result.covered) for result in found.values()}) == 1
    assert len(next(iter(found.values())).finals) > 5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"clocks": (((0,),),) * 4}, "4 clocks; there are at most 3 servers"),
        ({"clocks": (((0,), (0,)),), "max_logical": 3}, "max_logical 3 must divide 262144"),
        ({"clocks": (((0,), (0,)),), "millisecond": 7}, "millisecond 7 must divide 1000000"),
    ],
)
def test_sizes_that_the_implementation_does_not_have_are_refused(given, words):
    with pytest.raises(ValueError, match=words):
        OracleScenario(calls=(), **given)


def test_there_is_room_for_every_time_that_can_be_saved():
    scenario = OracleScenario(clocks=(((1,), (1, 4)), ((0,), (0,))), calls=(), updates=2, interval=3)
    assert scenario.last_time == 4 + 2 + 3 + 1 + 2 + 3
