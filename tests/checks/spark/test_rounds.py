"""The distributed search without Spark: the same functions of files, in one process."""

import dataclasses

import numpy as np
import pytest

from tests.checks.spark.opponents import (
    GRID,
    LAMPS,
    TWO_PHASE,
    WIDE_LAMPS,
    distributed,
    make,
    native_summary,
    summary,
)
from tests.checks.spark.saboteurs import IN_SMALL_BLOCKS
from tidemark.checks.spark.search import rounds
from tidemark.checks.spark.search.breadth_first import RoundLimits, Search
from tidemark.checks.spark.search.verdicts import Judged
from tidemark.checks.spark.states import level_log
from tidemark.checks.spark.states.visited_cache import VisitedCache
from tidemark.checks.verdicts.verdict import Outcome, Subject
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.search import Search as PlainSearch
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import search


@pytest.mark.parametrize("partitions", [1, 2, 3, 7])
@pytest.mark.parametrize("instance", [GRID, LAMPS, WIDE_LAMPS, TWO_PHASE], ids=lambda i: i.name)
def test_counts_are_the_native_engine_s_for_any_number_of_partitions(tmp_path, instance, partitions):
    assert summary(distributed(tmp_path / "run", instance, partitions=partitions)) == native_summary(instance)


def test_known_answers_of_the_grid(tmp_path):
    result = distributed(tmp_path / "run", GRID, partitions=3)
    assert {name: depth for name, (depth, _) in result.violations.items()} == {"grid.not_far": 5}
    assert result.events == {"grid.never_left": 3, "grid.jumps_from_the_top": 8}
    # 7 x 6 places, before and after the jump; each of the 6 rows leaves the bounds once before and once
    # after.
    assert result.distinct == 84
    assert sum(result.steps.out_of_bounds) == 12


def test_the_first_state_is_judged_too(tmp_path):
    """By each of the engines."""
    instance = Instance("tests.protocols.mazes:BornBroken", {"Hour": 3})
    (claim,) = instance.spec.of_kind("invariant")
    depth, _ = distributed(tmp_path / "run", instance).violations[claim.id]
    assert depth == 0
    hit = search(compile_kernel(instance)).hit(claim)
    assert hit is not None
    assert hit.state == 0
    assert claim.id in PlainSearch(Interpreter(instance)).run().found


def test_a_search_that_was_stopped_decides_what_it_has_refuted_only(tmp_path):
    running = Search(make(tmp_path / "run", GRID), limits=RoundLimits(max_depth=6))
    result = running.run()
    assert result.stopped

    def subject(prop, aspect):
        return Subject(
            protocol="grid", property_id=prop.id, judge="distribute", instance="grid", aspect=aspect
        )

    judged = Judged(running, result, Interpreter(GRID), subject, "")
    found = {prop.id: judged.verdict(prop) for prop in GRID.spec.properties}
    assert found["grid.not_far"].outcome is Outcome.REFUTED
    for name in ("grid.low", "grid.never_down", "grid.climbs_above", "grid.jumps_from_the_top"):
        assert found[name].outcome is Outcome.INCONCLUSIVE
        assert "depth 6, the limit" in found[name].reason


def test_levels_are_disjoint_and_complete(tmp_path):
    directory = make(tmp_path / "run", TWO_PHASE, partitions=3)
    result = Search(directory).run()
    store = directory.store
    whole = [store.open(s.path, p)[1] for p in range(3) for s in store.spans(p) if s.first == s.last]
    states = {tuple(row) for block in whole for row in block.tolist()}
    assert len(states) == sum(len(block) for block in whole) == result.distinct


def content(store, number, partition):
    """Of a level log, without the number of states sent, which depends on what the sender remembered."""
    header, block = level_log.read(store.log_path(number, partition))
    del header.facts["steps"]["sent"]
    return header, block.tolist()


def test_a_round_that_runs_twice_writes_the_same(tmp_path):
    directory = make(tmp_path / "run", TWO_PHASE, partitions=2)
    result = Search(directory).run()
    store, number = directory.store, 6
    assert result.levels[number] > 100
    plan = dataclasses.replace(directory.plan, number=number)
    before = [content(store, number, p) for p in range(2)]
    packets = [packet for p in range(2) for packet in rounds.expand(plan, p)]
    for partition in range(2):
        mine = [packet for owner, packet in reversed(packets) if owner == partition]
        rounds.absorb(plan, partition, mine)
        once = store.log_path(number, partition).read_bytes()
        rounds.absorb(plan, partition, mine)
        assert store.log_path(number, partition).read_bytes() == once
    assert [content(store, number, p) for p in range(2)] == before


def test_states_of_earlier_rounds_are_sent_once(tmp_path):
    found = distributed(tmp_path / "run", TWO_PHASE, partitions=1)
    assert found.steps.sent < sum(found.steps.generated) / 2
    assert found.steps.sent == found.distinct - 1  # all but the initial state


def test_lost_or_doubled_packets_are_noticed(tmp_path):
    directory = make(tmp_path / "run", GRID, partitions=2)
    plan = dataclasses.replace(directory.plan, number=1)
    packets = [packet for p in range(2) for owner, packet in rounds.expand(plan, p) if owner == 0]
    with pytest.raises(RuntimeError, match="packets were lost"):
        rounds.absorb(plan, 0, packets[:-1])
    with pytest.raises(RuntimeError, match="got them twice"):
        rounds.absorb(plan, 0, [*packets, packets[-1]])


def test_merged_runs_are_only_a_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(VisitedCache, "given_up", True)  # else nothing is merged
    directory = make(tmp_path / "run", LAMPS, partitions=2)
    store, states, number = directory.store, 0, 0
    merged = 0
    while True:
        size = directory.facts(number).states
        if not size:
            break
        states, number = states + size, number + 1
        Search(directory)._local.round(dataclasses.replace(directory.plan, number=number), note="")
        extra = [s.path for p in range(2) for s in store.spans(p) if s.first != s.last]
        merged += len(extra)
        for path in extra[::2]:
            path.unlink()
    assert merged > 0
    assert states == native_summary(LAMPS)["distinct"]


def test_a_gap_in_the_logs_is_an_error_and_never_fewer_states(tmp_path):
    directory = make(tmp_path / "run", LAMPS, partitions=1)
    Search(directory).run()
    for span in directory.store.spans(0):
        if span.first <= 2 <= span.last:
            span.path.unlink()
    with pytest.raises(FileNotFoundError, match="gap"):
        directory.store.new_states(np.zeros((1, directory.store.words), np.uint64), 0, before=4)


def test_all_packets_of_a_sender_count(tmp_path, monkeypatch):
    """A round that is too large for one packet has several of each sender."""
    monkeypatch.setattr(rounds, "_SEND", 1)
    directory = make(tmp_path / "run", TWO_PHASE, partitions=2, factory=IN_SMALL_BLOCKS)
    found = Search(directory).run()
    widest = dataclasses.replace(directory.plan, number=found.levels.index(max(found.levels)) + 1)
    assert max(sequence for _, (_, sequence, _) in rounds.expand(widest, 0)) > 1
    assert summary(found) == native_summary(TWO_PHASE)


WRAPS = Instance("tests.protocols.mazes:Wraps", {"Hour": 3, "Slot": 0}, name="wraps")


def test_the_steps_from_the_deepest_states_are_judged(tmp_path):
    """They lead to known states only: the last round finds no state, and a broken claim."""
    result = distributed(tmp_path / "run", WRAPS)
    assert len(result.levels) == 4
    assert result.events == {"wraps.hours_never_go_back": 3}
    assert summary(result) == native_summary(WRAPS)
