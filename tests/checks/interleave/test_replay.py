"""Replay tokens, divergence, determinism."""

import itertools

import pytest

from tidemark.checks.interleave import (
    CorruptTokenError,
    DivergenceError,
    NondeterminismError,
    WrongProgramError,
    decode,
    explore,
    replay,
)
from tidemark.models.simulation import Cell, Process, Program, ProgramRef, World

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


def renamed() -> Program:
    return Renamed()


def test_a_replay_that_diverges_says_where_and_why(monkeypatch):
    recorded = explore(ProgramRef.of(f"{HERE}renamed")).first().token
    monkeypatch.setitem(RENAMED, "cell", "another cell")
    with pytest.raises(DivergenceError) as caught:
        replay(ProgramRef.of(f"{HERE}renamed"), recorded)
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


def leaky() -> Program:
    return Leaky()


def test_a_program_that_is_not_a_function_of_its_choices_is_found():
    with pytest.raises((NondeterminismError, DivergenceError), match=r"diverges|not deterministic"):
        explore(ProgramRef.of(f"{HERE}leaky"))
