"""The seed's example is found as it is told; forms with ticks for ever are not cut by their bounds."""

import pytest

from tidemark.checks.explore.judge import explore
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.instance import Instance


def test_event_2_commits_before_event_1():
    """Seed 002: both have timestamps, the later one is committed and reported, then the earlier one."""
    two = Instance(
        "tidemark.models.protocols.proxy.mutants.specification:EnqueueUnlocked",
        {"Task": 2, "Channel": 1, "Ts": 3},
        {"uses": [[True], [True]], "interval": 1},
    )
    found = explore(two, properties=["proxy.min_ts_stays_above_its_report"])
    verdict = next(v for v in found if v.subject.property_id == "proxy.min_ts_stays_above_its_report")
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    steps = [step.action for step in verdict.counterexample.steps]
    assert steps.count("stamp") == steps.count("commit") == 2
    first, second = (number for number, name in enumerate(steps) if name == "commit")
    last_stamp = max(number for number, name in enumerate(steps) if name == "stamp")
    between = steps[first:second]
    assert last_stamp < first
    assert between.index("take_snapshot") < between.index("publish") < between.index("report")
    assert second == len(steps) - 1


@pytest.mark.parametrize(
    ("protocol", "bounds", "constants"),
    [
        (
            "tidemark.spec.proxy.variants.live:TicksForever",
            {"Task": 2, "Channel": 1, "Ts": 5},
            {"uses": [[True], [True]], "interval": 1},
        ),
        (
            "tidemark.spec.ddl.variants.live:TicksForever",
            {"Task": 2, "Job": 1, "Ts": 5},
            {"silent": [False, True]},
        ),
    ],
)
def test_ticks_for_ever_are_not_cut_by_the_bound_of_timestamps(protocol, bounds, constants):
    """One timestamp more gives not one state more."""
    sizes = []
    for more in (0, 1):
        instance = Instance(protocol, {**bounds, "Ts": bounds["Ts"] + more}, constants)
        claim = next(p.id for p in instance.spec.properties if p.kind == "invariant")
        sizes.append(explore(instance, properties=[claim])[0].counts["distinct"])
    assert sizes[0] == sizes[1] > 10_000
