"""Each kind of fault of the flush programs happens, and matters: a planted bug shows with it only.

The correct implementation holds with the same budget: `models/protocols/flush/manifest.toml` has those
programs.
"""

from typing import Any

import pytest

from tidemark.checks.interleave import Exploration, Options, Reduction, Status, explore
from tidemark.impl.datacoord.coordinator import Coordinator
from tidemark.impl.ports import ObjectStore
from tidemark.impl.types import ChannelName, RecoveryAnswer
from tidemark.models.protocols.flush.ports import LocalObjects
from tidemark.models.protocols.flush.program import FlushProgram, FlushScenario, flush
from tidemark.models.refinement.scenario import program
from tidemark.models.simulation import ProgramRef
from tidemark.models.simulation.world.process import Process

HERE = "tests.models.protocols.test_flush_faults:"
MUTANTS = "tidemark.models.protocols.flush.mutants.implementation:"
FLUSH = "tidemark.models.protocols.flush.program:flush"
ONE_SYNC: dict[str, Any] = {"rows": (1,), "sync_each_row": True}


class _NoSync(LocalObjects):
    async def sync(self) -> None:
        """Take as long, and leave what was written where a crash may lose it."""
        await self._process.point("write")


class NotSynced(FlushProgram):
    """The binlogs on the node's disk are not forced to it."""

    def objects(self, process: Process) -> ObjectStore:
        return _NoSync(process)


not_synced = program(NotSynced, FlushScenario)


class _AnswersAtOnce(FlushProgram):
    """The coordinator answers a client that repeats its call, though the flush goes on."""

    async def _flush(self, service: Any, flush_ts: int) -> None:
        if flush_ts not in self._asked:
            await super()._flush(service, flush_ts)


answers_at_once = program(_AnswersAtOnce, FlushScenario)


class _CountsEachQuestion(Coordinator):
    """Each question of a recovering node begins a new term."""

    async def recover_channel(self, channel: ChannelName, node_id: str, session: int = 0) -> RecoveryAnswer:
        del session
        return await super().recover_channel(channel, node_id)


class CountsEachQuestion(FlushProgram):
    coordinator_class = _CountsEachQuestion


counts_each_question = program(CountsEachQuestion, FlushScenario)


CASES = [
    ({"torn_writes": 1}, MUTANTS, "upload_error_is_swallowed", ONE_SYNC, "binlogs_are_stored"),
    ({"storage_failures": 1}, MUTANTS, "upload_error_is_swallowed", ONE_SYNC, "binlogs_are_stored"),
    ({"duplicates": 1}, MUTANTS, "repeated_save_appends", ONE_SYNC, "flush.stored_once"),
    ({"moves": 1, "repetitions": 1}, MUTANTS, "refusal_is_success_walked", ONE_SYNC, "flush.nothing_lost"),
    (
        {"delays": 1, "repetitions": 1},
        HERE,
        "answers_at_once",
        {"rows": (0,), "flushes": (1,), "remote_client": True},
        "told_means_durable",
    ),
]


def search(target: str, scenario: dict[str, Any]) -> Exploration:
    return explore(ProgramRef.of(target, **scenario), Options(reduction=Reduction.STATES, audit=20))


@pytest.mark.parametrize(("faults", "module", "bug", "scenario", "claim"), CASES)
def test_a_bug_that_shows_with_a_fault_only(faults, module, bug, scenario, claim):
    calm = search(f"{module}{bug}", scenario)
    assert (calm.status, calm.violations) == (Status.EXHAUSTED, {})
    stormy = search(f"{module}{bug}", {**scenario, **faults})
    assert {violation.claim for violation in stormy.violations} == {claim}


def test_a_copy_of_its_question_does_not_fence_a_recovered_node():
    """Nothing wrong is stored either way; but a node that is refused for ever makes nothing durable."""
    crash = {**ONE_SYNC, "crashes": 1}
    wanted = search(FLUSH, crash).finals
    assert search(FLUSH, {**crash, "duplicates": 1}).finals == wanted
    assert search(f"{HERE}counts_each_question", crash).finals == wanted
    fenced = search(f"{HERE}counts_each_question", {**crash, "duplicates": 1})
    assert fenced.violations == {}
    assert fenced.finals > wanted


def test_an_upload_that_is_not_synced_is_seen_without_a_crash():
    """What counts as uploaded before the disk was forced follows the wrong event."""
    found = search(f"{HERE}not_synced", {**ONE_SYNC, "local_storage": True})
    assert found.status is Status.REFUTED
    assert {violation.claim for violation in found.violations} == {"refinement"}


def walks(program: ProgramRef) -> list[tuple[str, ...]]:
    """Some random executions, by the labels of their steps."""
    from tidemark.checks.interleave import RandomWalk
    from tidemark.checks.interleave.executions.run import run_once
    from tidemark.models.simulation import Interner

    walk = RandomWalk(seed=5, executions=50)
    found = []
    while walk.new_execution():
        run = run_once(program.load(), walk, interner=Interner(), steps=200)
        found.append(tuple(step.label for step in run.trace))
    return found


def test_a_coordinator_is_asked_twice_by_a_copy():
    """The copy of a save may come before the save, and after the answer to it; it is recorded once."""
    program = ProgramRef.of(FLUSH, **ONE_SYNC, duplicates=1)
    orders = set()
    for walk in walks(program):
        saves = [label for label in walk if "coordinator.save_binlog_paths" in label]
        orders.add(tuple(label.split()[0] + (" again" if label.endswith("again") else "") for label in saves))
    assert ("duplicate", "deliver again", "deliver", "reply") in orders
    assert ("duplicate", "deliver", "reply", "deliver again") in orders


def test_the_budget_of_a_program_is_what_happens_in_it():
    """`covered` names the faults that happened, `faults` those that may; without a budget there are none."""
    program = flush(**ONE_SYNC, crashes=1, torn_writes=1)
    assert program.faults == {"fault.crashes", "fault.torn_writes"}
    assert flush(**ONE_SYNC).faults == frozenset()
    assert {"fault.crashes"} == {
        name for name in search(FLUSH, {**ONE_SYNC, "crashes": 1}).covered if name.startswith("fault.")
    }
