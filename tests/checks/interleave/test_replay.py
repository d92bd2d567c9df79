"""Replay tokens, divergence, determinism; what is remembered of a state."""

import asyncio
import itertools
from collections.abc import Callable, Iterator

import pytest

from tests.manifests import entry_of
from tidemark.checks.interleave import (
    CorruptTokenError,
    DivergenceError,
    NondeterminismError,
    Options,
    RandomWalk,
    Reduction,
    WrongProgramError,
    decode,
    explore,
    replay,
)
from tidemark.checks.interleave.audits import audit
from tidemark.checks.interleave.judge import program_of
from tidemark.checks.interleave.strategies.strategy import StateStrategy
from tidemark.models.simulation import (
    Cell,
    Execution,
    Process,
    Program,
    ProgramRef,
    Settings,
    World,
    snapshot,
)
from tidemark.models.simulation.loop.lane import Lane, LaneTask

HERE = "tests.checks.interleave.test_replay:"
LOST = ProgramRef.of("tests.checks.interleave.programs:no_lost_update", size=3)


def token() -> str:
    return explore(LOST).first().token


def test_a_token_brings_the_same_failure_back():
    found = explore(LOST).first()
    run = replay(LOST, found.token)
    assert run.violation == found.violation
    assert run.picks == found.picks
    assert decode(found.token).picks == found.picks


def test_a_token_is_short_enough_to_paste():
    assert len(token()) < 80


def test_a_token_survives_line_breaks():
    text = token()
    assert replay(LOST, f"  {text[:20]}\n{text[20:]} ").violation is not None


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: "",
        lambda text: text[:-3],
        lambda text: text[:12] + ("A" if text[12] != "A" else "B") + text[13:],
        lambda text: "tm9-" + text[4:],
        lambda text: text + "*",
        lambda text: "tm1-",
    ],
)
def test_a_damaged_token_is_refused_with_words(damage):
    with pytest.raises(CorruptTokenError, match="replay token"):
        replay(LOST, damage(token()))


def test_each_changed_character_is_noticed():
    text = token()
    for place in range(4, len(text)):
        other = "A" if text[place] != "A" else "B"
        with pytest.raises(CorruptTokenError):
            decode(text[:place] + other + text[place + 1 :])


def test_a_token_of_another_program_is_refused():
    other = ProgramRef.of("tests.checks.interleave.programs:no_lost_update", size=2)
    with pytest.raises(WrongProgramError, match="belongs to program"):
        replay(other, token())


RENAMED = {"cell": "x"}


class Renamed(Program):
    """Its cell changes its name between recording and replay, as an edited program would."""

    def build(self, world: World) -> None:
        self.cell = Cell(world, RENAMED["cell"], 0)

        async def increment(_process: Process) -> None:
            value = await self.cell.load()
            await self.cell.store(value + 1)

        world.process("a", increment)
        world.process("b", increment)

    def check_final(self) -> str | None:
        return None if self.cell.value == 2 else "lost: an update"


def test_a_replay_that_diverges_says_where_and_why(monkeypatch):
    recorded = explore(ProgramRef.of(f"{HERE}Renamed")).first().token
    monkeypatch.setitem(RENAMED, "cell", "another cell")
    with pytest.raises(DivergenceError) as caught:
        replay(ProgramRef.of(f"{HERE}Renamed"), recorded)
    assert caught.value.step == 0
    assert "load another cell a#1" in caught.value.seen
    assert "iteration over a set" in str(caught.value)


COUNTER = itertools.count()


class Leaky(Program):
    """Keeps state in a module: no function of its choices."""

    def build(self, world: World) -> None:
        self.cell = Cell(world, "x", 0)
        number = next(COUNTER)

        async def main(_process: Process) -> None:
            await self.cell.store(number)
            if number % 2:
                await self.cell.load()

        world.process("a", main)
        world.process("b", main)

    def final(self) -> object:
        return self.cell.value


def test_a_program_that_is_not_a_function_of_its_choices_is_found():
    with pytest.raises((NondeterminismError, DivergenceError), match=r"diverges|not deterministic"):
        explore(ProgramRef.of(f"{HERE}Leaky"))


SMALL = ProgramRef.of(
    "tidemark.models.protocols.flush.program:flush", rows=(1,), sync_each_row=True, crashes=1
)

BROKEN = ProgramRef.of(
    "tidemark.models.protocols.flush.mutants.implementation:upload_error_is_swallowed",
    rows=(1,),
    sync_each_row=True,
    storage_failures=1,
)


LOCKED = program_of(entry_of("channels-deadline"))
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
    seen = (found.result.finals, set(found.result.violations))
    assert seen == (plain.result.finals, set(plain.result.violations))
    assert found.result.statistics.executions == plain.result.statistics.executions == options.audit
    assert found.result.statistics.steps <= plain.result.statistics.steps
    assert once < 0.7 * (len(looked) - once)


def test_the_audit_of_a_small_program_is_small() -> None:
    """One random execution for twenty states, but never less than the least, nor more than was asked for."""
    assert [audit._size(200, states) for states in (0, 1200, 9000, None)] == [50, 60, 200, 200]
    assert audit._size(20, 9000) == 20
    few = explore(SMALL, Options(reduction=Reduction.STATES, audit=200))
    assert few.statistics.audited == 50
