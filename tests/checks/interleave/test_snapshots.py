"""What a snapshot remembers of tasks that have not run is what it would find if it looked again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import pytest

from tidemark.checks.interleave import Options, RandomWalk, Reduction, explore
from tidemark.checks.interleave.audits import audit
from tidemark.checks.interleave.judge import program_of
from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.models.manifest import load, manifest_files
from tidemark.models.simulation import Execution, Process, Program, ProgramRef, Settings, World, snapshot
from tidemark.models.simulation.loop.lane import Lane, LaneTask

SMALL = ProgramRef.of(
    "tidemark.models.protocols.flush.program:flush", rows=(1,), sync_each_row=True, crashes=1
)

BROKEN = ProgramRef.of(
    "tidemark.models.protocols.flush.mutants.implementation:upload_error_is_swallowed",
    rows=(1,),
    sync_each_row=True,
    storage_failures=1,
)


CHANNELS = next(m for m in map(load, manifest_files()) if m.name == "flush")
LOCKED = program_of(next(e for e in CHANNELS.interleave if e.name == "channels-deadline"))
"""Its tasks wait inside of asynchronous generators."""


class SharedIterator(Program):
    """One task holds an iterator, and another one moves it."""

    settings = Settings()

    def build(self, world: World) -> None:
        async def main(process: Process) -> None:
            numbers = iter([1, 2, 3])

            async def hold(held: Iterator[int]) -> None:
                await process.point("hold")
                assert held is not None

            async def move() -> None:
                for _ in numbers:
                    await process.point("move")

            await asyncio.gather(hold(numbers), move())

        world.process("both", main)

    def declared(self) -> tuple[()]:
        return ()


SHARED = ProgramRef.of(f"{__name__}:SharedIterator")


@pytest.mark.parametrize("program", [SMALL, LOCKED, SHARED])
def test_what_is_remembered_is_what_would_be_found(
    program: ProgramRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, remembered = snapshot._lane_state, []

    def twice(lane: Lane, *, timed: bool) -> snapshot.Key:
        kept = lane.positions, [getattr(task, "position", None) for task in lane.tasks]
        remembered.append(any(kept[1]))
        found = real(lane, timed=timed)
        lane.positions = None
        for task in lane.tasks:
            assert isinstance(task, LaneTask)
            task.position = None
        assert real(lane, timed=timed) == found
        return found

    monkeypatch.setattr(snapshot, "_lane_state", twice)
    result = explore(program, Options(reduction=Reduction.STATES, audit=5))
    assert result.status.value == "exhausted"
    assert sum(remembered) > (100 if program is not SHARED else 0)


class Plain(RandomWalk, StateStrategy):
    """An audit that runs every execution, and looks at every state of it."""

    repeated = 0

    def __init__(self, *, executions: int, state_of: Callable[[Execution], bytes]) -> None:
        super().__init__(seed=audit._SEED, executions=executions)
        self.states: set[bytes] = set()
        self.looked = 0
        self._state_of = state_of

    def arrive(self, execution: Execution) -> bool:
        self.looked += 1
        self.states.add(self._state_of(execution))
        return True


@pytest.mark.parametrize("program", [SMALL, BROKEN])
def test_the_audit_looks_at_the_same_executions_as_a_plain_walk(
    program: ProgramRef, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Options(reduction=Reduction.STATES, audit=60)
    looked: list[Execution] = []
    state = Execution.declared_state

    def counted(execution: Execution) -> bytes:
        looked.append(execution)
        return state(execution)

    monkeypatch.setattr(Execution, "declared_state", counted)
    found = audit.random_sample(program, options)
    once = len(looked)
    monkeypatch.setattr(audit, "Auditor", Plain)
    plain = audit.random_sample(program, options)
    assert found is not None
    assert plain is not None
    assert found.states == plain.states
    assert bool(found.result.violations) is (program is BROKEN)
    assert (found.result.finals, set(found.result.violations)) == (
        plain.result.finals,
        set(plain.result.violations),
    )
    assert found.result.statistics.executions == plain.result.statistics.executions == options.audit
    assert found.result.statistics.steps <= plain.result.statistics.steps
    assert once < 0.7 * (len(looked) - once)


def test_the_audit_of_a_small_program_is_small() -> None:
    """One random execution for twenty states, but never less than the least, nor more than was asked for."""
    assert [audit._size(200, states) for states in (0, 1200, 9000, None)] == [50, 60, 200, 200]
    assert audit._size(20, 9000) == 20
    few = explore(SMALL, Options(reduction=Reduction.STATES, audit=200))
    assert few.statistics.audited == 50
