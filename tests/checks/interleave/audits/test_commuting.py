"""Steps that their footprints call independent are run in both orders."""

from collections.abc import Callable, Hashable

import pytest

from tidemark.checks.interleave import Options, Reduction, UnsoundReductionError, explore
from tidemark.checks.interleave.audits.audit import commuting_pairs
from tidemark.models.simulation import Cell, Process, Program, ProgramRef, World

REDUCED = (Reduction.SLEEP_SETS, Reduction.SOURCE_SETS, Reduction.OPTIMAL)


class Shares(Program):
    """Two processes with a cell each, and something between them that is none of the world's objects.

    Args:
        way: by what it shows that a step touches it.
    """

    def __init__(self, way: str) -> None:
        self.way = way
        self.hidden = 0

    def build(self, world: World) -> None:
        self.world = world
        self.cells = [Cell(world, name, 0) for name in ("x", "y", "z")]
        act: dict[str, Callable[[int], object]] = {
            "nothing": lambda _number: None,
            "state": self._last,
            "footprint": self._first_touches,
            "event": self._first_begins_more,
            "disabled": self._takes_away,
            "later": self._last,
        }

        def main(number: int) -> Callable[[Process], object]:
            async def run(_process: Process) -> None:
                def effect() -> None:
                    world.touch(writes=world.interner.bit(f"own {number}"))
                    act[self.way](number)

                await world.operation("act", effect)
                later = self.way == "later"
                await self.cells[number].update(lambda _: self.hidden if later else 1)

            return run

        world.process("one", main(0))  # type: ignore[arg-type]
        world.process("other", main(1))  # type: ignore[arg-type]

    def _last(self, number: int) -> None:
        self.hidden = number + 1

    def _first_touches(self, number: int) -> None:
        if not self.hidden:
            self.world.touch(writes=self.world.interner.bit(f"first {number}"))
        self.hidden = 1

    def _first_begins_more(self, number: int) -> None:
        if not self.hidden and number:
            self.world.loop.create_task(self.cells[2].store(1))
        self.hidden = 1

    def _takes_away(self, number: int) -> None:
        if not number:
            self.world.events.pop("act other#1", None)

    def final(self) -> Hashable:
        return tuple(cell.value for cell in self.cells)

    def declared(self) -> Hashable:
        return (self.hidden if self.way == "state" else 0, tuple(cell.value for cell in self.cells))


def shares(way: str) -> Program:
    return Shares(way)


def ref(way: str) -> ProgramRef:
    return ProgramRef.of(f"{__name__}:shares", way=way)


@pytest.mark.parametrize(
    ("way", "words"),
    [
        ("state", "the declared state after both depends on their order"),
        ("footprint", "in one order only: .*write of first"),
        ("event", "events after both depends on their order: .*store z"),
    ],
)
def test_what_a_step_touches_and_does_not_say_is_seen(way, words):
    with pytest.raises(UnsoundReductionError, match=words) as seen:
        commuting_pairs(ref(way), pairs=200)
    assert "'act one#1' and 'act other#1'" in seen.value.message
    assert "World.touch" in seen.value.remedy


def test_what_a_process_keeps_for_itself_is_seen_at_the_end():
    """Right after the two steps no cell is different."""
    with pytest.raises(UnsoundReductionError, match=r"the outcome .*depends on their order"):
        commuting_pairs(ref("later"), pairs=200)


def test_what_a_step_takes_away_is_seen():
    with pytest.raises(UnsoundReductionError, match="'act other#1' cannot happen after 'act one#1'"):
        commuting_pairs(ref("disabled"), pairs=200)


def test_steps_that_say_all_commute():
    assert commuting_pairs(ref("nothing"), pairs=200) > 100


def test_steps_of_one_process_are_no_pair():
    alone = ProgramRef.of("tidemark.checks.crosscheck.peers.shared_memory:shared", kind="lastzero", size=0)
    assert commuting_pairs(alone, pairs=50) == 0


@pytest.mark.parametrize("reduction", list(REDUCED))
def test_every_search_that_rests_on_footprints_looks(reduction):
    """Outcomes, violations and traces of random executions show nothing: the program has one outcome."""
    with pytest.raises(UnsoundReductionError, match="touch nothing in common"):
        explore(ref("state"), Options(reduction=reduction))
    assert explore(ref("state"), Options(reduction=reduction, audit=0)).statistics.commuting == 0
    assert explore(ref("nothing"), Options(reduction=reduction)).statistics.commuting > 50


@pytest.mark.parametrize("reduction", [Reduction.NONE, Reduction.STATES])
def test_a_search_that_does_not_rest_on_them_does_not_look(reduction):
    assert explore(ref("footprint"), Options(reduction=reduction)).statistics.commuting == 0
