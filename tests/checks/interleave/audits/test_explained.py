"""What a search must have seen, what a state consists of, which steps commute, what endless runs hold."""

import asyncio
import contextlib
from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import pytest

from tidemark.checks.interleave.audits.audit import Sample, check_explained, commuting_pairs
from tidemark.checks.interleave.errors import NondeterminismError, UnsoundReductionError
from tidemark.checks.interleave.limits import ExecutionLimits, Options, Reduction
from tidemark.checks.interleave.result import Exploration, Found, Statistics, Status, merge
from tidemark.checks.interleave.search_loop import search
from tidemark.checks.interleave.searches import explore
from tidemark.checks.interleave.strategies.graph import GraphSearch
from tidemark.checks.interleave.strategies.states import Met
from tidemark.checks.interleave.trees.work import WHOLE
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.instance import Instance
from tidemark.models.refinement.step import State, StepChecker
from tidemark.models.simulation import (
    Cell,
    Execution,
    FaultBudget,
    Interner,
    Observation,
    Process,
    Program,
    ProgramRef,
    Settings,
    Violation,
    World,
)
from tidemark.models.simulation.settings import ClockOrder, FaultKind

BAD = Violation("property", "claim: it fails")
EXAMPLE = Found(BAD, (0,), ("a",), "token")
SEEN: dict[str, Any] = {"finals": {1, 2}, "states": {b"x", b"y"}, "classes": {b"c"}}


@pytest.mark.parametrize(
    ("sampled", "states", "said"),
    [
        ({"finals": {2}, "classes": {b"c"}}, {b"x"}, ""),
        ({"finals": {2, 3}}, set(), "the outcome 3"),
        ({"classes": {b"d"}}, set(), "Mazurkiewicz trace"),
        ({}, {b"x", b"z"}, "a declared state"),
    ],
    ids=["nothing", "outcome", "trace", "state"],
)
def test_what_a_random_execution_shows_must_have_been_seen(
    sampled: dict[str, Any], states: set[bytes], said: str
) -> None:
    result, sample = Exploration(**SEEN), Sample(Exploration(**sampled), frozenset(states))
    if not said:
        check_explained(result, sample)
        return
    with pytest.raises(UnsoundReductionError, match=said):
        check_explained(result, sample)


def test_a_violation_that_a_random_execution_shows_is_one_of_the_program() -> None:
    result = Exploration(**SEEN)
    check_explained(result, Sample(Exploration(violations={BAD: EXAMPLE})))
    assert result.violations == {BAD: EXAMPLE}
    assert "it fails" in result.reason
    assert result.status is Status.REFUTED


class Remembers(Program):
    """Three clients pass a door that remembers in which order they came, and declares nothing of it.

    Args:
        strict: one of the orders is a mistake.
    """

    def __init__(self, *, strict: bool) -> None:
        self.order, self.strict = "", strict

    def build(self, world: World) -> None:
        for name in ("one", "two", "six"):
            world.process(name, self.client)

    async def client(self, process: Process) -> None:
        await process.point("come")
        self.order += process.name
        await process.point("go")
        if self.strict:
            assert self.order != "sixtwoone"

    def declared(self) -> tuple[()]:
        return ()

    def final(self) -> str:
        return self.order


def test_where_states_are_merged_too_far_a_violation_is_looked_for() -> None:
    """An implementation that is wrong may have more state than its program declares: it is refuted."""
    program = ProgramRef.of("tests.checks.interleave.audits.test_explained:Remembers", strict=True)
    states = Options(reduction=Reduction.STATES)
    assert explore(program, replace(states, audit=0)).status is Status.EXHAUSTED
    found = explore(program, states)
    assert found.status is Status.REFUTED
    assert "has missed" in found.reason


def test_if_there_is_none_nothing_is_known_and_tidemark_is_not_to_blame() -> None:
    program = ProgramRef.of("tests.checks.interleave.audits.test_explained:Remembers", strict=False)
    with pytest.raises(UnsoundReductionError, match=r"the outcome '[a-z]{9}'") as seen:
        explore(program, Options(reduction=Reduction.STATES))
    assert seen.value.exit_code is ExitCode.INCONCLUSIVE


class Betrays(Remembers):
    """A process tells whom the door let in first: equal states were followed by different ones."""

    said = ""

    def build(self, world: World) -> None:
        super().build(world)
        world.process("door", self.tell)

    async def tell(self, process: Process) -> None:
        await process.point("tell")
        self.said = self.order[:3]

    def declared(self) -> str:  # type: ignore[override]  # says more than its base
        return self.said


def test_an_event_that_leads_from_equal_states_to_different_ones_is_found() -> None:
    program = ProgramRef.of("tests.checks.interleave.audits.test_explained:Betrays", strict=False)
    states = Options(reduction=Reduction.STATES)
    assert explore(program, replace(states, audit=0)).broken is not None
    with pytest.raises(UnsoundReductionError, match="'resume tell door#1' leads to different ones") as seen:
        explore(program, states)
    assert len(seen.value.picks) > 2
    with_another = merge([explore(program, replace(states, audit=0)), Exploration()], bounds="")
    assert with_another.broken is not None


def test_reasons_and_rests_of_parts_are_those_of_the_whole() -> None:
    done = Statistics(executions=1)
    parts = [Exploration(statistics=done), Exploration(statistics=done, reasons=("3 executions were cut",))]
    whole = merge(parts, bounds="b")
    assert whole.status is Status.INCONCLUSIVE
    assert whole.reason == "3 executions were cut"
    left = Exploration(statistics=done, remaining=(WHOLE,))
    assert merge([parts[0], left], bounds="b").status is Status.INCONCLUSIVE


class Restless(Program):
    """A client asks a server again and again, and gives up nothing; a request may get lost."""

    settings = Settings(faults=FaultBudget(drops=1), histories=True)
    checker = StepChecker(Instance("tests.protocols.mazes:Wraps", {"Hour": 3, "Slot": 3}))

    def build(self, world: World) -> None:
        world.process("server", self.server, daemon=True)
        world.process("client", self.client)

    async def server(self, process: Process) -> None:
        process.serve("ask", self.answer)

    async def answer(self) -> None:
        """Nothing changes."""

    async def client(self, process: Process) -> None:
        while True:
            try:
                await process.call("server", "ask")
            except TimeoutError:
                continue

    def observe(self) -> Observation:
        return {"client": 0}

    def declared(self) -> tuple[()]:
        return ()

    def abstract(self, observation: Observation) -> State:
        del observation
        return next(iter(self.checker.interpreter.initial()))


class Once(Restless):
    """The client asks once, and nothing gets lost."""

    settings = Settings()
    asked = 1

    async def client(self, process: Process) -> None:
        await process.call("server", "take", self.asked)

    async def server(self, process: Process) -> None:
        process.serve("take", self.take)

    async def take(self, what: int) -> None:
        """It is thrown away."""


class AsksMore(Once):
    asked = 2


class Late(Once):
    """The client does not wait for its request, which is late."""

    settings = Settings(faults=FaultBudget(delays=1))

    async def client(self, process: Process) -> None:
        with contextlib.suppress(TimeoutError):
            await process.call("server", "take", self.asked)


class LateMore(Late):
    asked = 2


class Armed(Once):
    """A timer is armed, for which no task waits."""

    settings = Settings(clock=ClockOrder.UNTIMED)

    def __init__(self, number: int) -> None:
        self.number = number

    async def client(self, process: Process) -> None:
        self.arm()
        await process.point("here")

    def arm(self) -> None:
        for _ in range(self.number):
            asyncio.get_running_loop().call_later(5.0, len, ())


class Writes(Once):
    """The client leaves something in a store."""

    async def client(self, process: Process) -> None:
        await process.store("shelf").put("key", self.asked)


class WritesMore(Writes):
    asked = 2


class Fails(Restless):
    """Beside the client that goes on for ever somebody fails."""

    def build(self, world: World) -> None:
        super().build(world)
        world.process("other", self.other)

    async def other(self, process: Process) -> None:
        await process.point("here")
        raise ValueError("lost")


def graph_of(program: type[Program]) -> tuple[GraphSearch, Exploration]:
    """All states, and what follows in each."""
    strategy = GraphSearch(Met())
    ref = ProgramRef.of(f"{__name__}:{program.__name__}")
    options = Options(reduction=Reduction.STATES, limits=ExecutionLimits(steps=60), check_every=0)
    return strategy, search(ref, strategy, Interner(), options, None)


def test_the_faults_of_an_endless_program_are_known() -> None:
    strategy, result = graph_of(Restless)
    assert not result.violations
    assert {label.partition(" ")[0] for label in strategy.faults} == {"drop"}
    assert all(strategy.graph.out_degree(state) for state in strategy.graph)


def test_an_end_is_a_state() -> None:
    """A program with one way through it has a state more than steps."""
    strategy, result = graph_of(Once)
    assert result.statistics.executions == 1
    assert len(strategy.graph) == result.statistics.steps + 1 > 2


def test_a_failure_beside_what_goes_on_for_ever_is_found() -> None:
    _, result = graph_of(Fails)
    assert {violation.kind for violation in result.violations} == {"exception"}


@pytest.mark.parametrize("of", ["declared", "history"])
def test_what_faults_are_left_is_part_of_a_state(of: str) -> None:
    execution = Execution(Restless(), Interner())
    try:
        execution.start()

        def state() -> bytes:
            return execution.declared_state() if of == "declared" else execution.history_state(timed=False)

        before = state()
        assert before == state()
        execution.world.spend(FaultKind.DROP)
        assert state() != before
    finally:
        execution.close()


class Forgetful(Once):
    """Each execution touches another object, which no outcome and no label shows."""

    settings = Settings()
    begun = 0

    def build(self, world: World) -> None:
        type(self).begun += 1

        async def other(process: Process) -> None:
            await process.point("here")
            world.touch(writes=world.interner.bit(f"object {self.begun}"))

        world.process("other", other)


def test_a_repeated_execution_touches_the_same() -> None:
    with pytest.raises(NondeterminismError, match="changed its footprint"):
        explore(ProgramRef.of(f"{__name__}:Forgetful"), Options(check_every=1))


def states_of(program: Callable[[], Program]) -> list[bytes]:
    """The states on the only way through a program."""
    execution, found = Execution(program(), Interner()), []
    try:
        execution.start()
        found.append(execution.declared_state())
        while events := execution.enabled():
            late = [event for event in events if event.label.startswith("delay ")]
            execution.step((late or events)[0])
            found.append(execution.declared_state())
    finally:
        execution.close()
    return found


def test_what_is_under_way_and_what_is_stored_are_parts_of_a_state() -> None:
    one, two = states_of(Once), states_of(AsksMore)
    assert one[0] != two[0], "a request is under way"
    assert one[-1] == two[-1], "it is over, and left nothing"
    one, two = states_of(Late), states_of(LateMore)
    assert one[1] != two[1], "nobody waits for it any more"
    assert one[-1] == two[-1]
    assert states_of(lambda: Armed(1))[0] != states_of(lambda: Armed(2))[0]
    one, two = states_of(Writes), states_of(WritesMore)
    assert one[-1] != two[-1]


REDUCED = (Reduction.SLEEP_SETS, Reduction.OPTIMAL)


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


def ref(way: str) -> ProgramRef:
    return ProgramRef.of(f"{__name__}:Shares", way=way)


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
