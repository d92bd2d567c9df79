"""Queue, bag, quorums and sets as choices: what they expand to, and that all engines see what they mean."""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.checks.spark.opponents import distributed, native_summary, summary
from tests.protocols_proof.pieces import Courier, Polls, clashing, map_of_kinds
from tidemark.checks.prove.proof import prove
from tidemark.checks.spark.search.runners import OnSpark
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.search import Search
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import search
from tidemark.spec.language import SpecError, render
from tidemark.spec.language.types import Enum, Int
from tidemark.spec.library import Bag, Queue, Subsets, all_subsets, majorities

HERE = "tests.protocols_proof.pieces:"
TABLES = {"groups_member": all_subsets(3), "quorums_member": majorities(3)}
COURIER = Instance(f"{HERE}Courier", {"Node": 2, "Place": 2})
POLLS = Instance(f"{HERE}Polls", {"Node": 3, "Group": 8, "Quorum": 3}, TABLES)
LINE = Instance(f"{HERE}CourierByPiece", {"Place": 2})
COUNTED = Instance(f"{HERE}Counted", {"Count": 3})

State = tuple[Any, ...]


def size(starts: list[State], steps: Callable[[State], Iterator[State]]) -> tuple[int, int]:
    seen, todo, pairs = set(starts), deque(starts), 0
    while todo:
        following = set(steps(todo.popleft()))
        pairs += len(following)
        todo.extend(following - seen)
        seen |= following
    return len(seen), pairs


def courier(state: State) -> Iterator[State]:
    queue, road = state
    everything = [(kind, node) for kind in "lp" for node in (0, 1)]
    if len(queue) < 2:
        yield from (((*queue, item), road) for item in everything)
    if queue:
        yield queue[1:], road | {queue[0]}
    yield from ((queue, road - {item}) for item in road)
    yield from ((queue, road | {(kind, 0), (kind, 1)}) for kind in "lp")


def polls(state: State) -> Iterator[State]:
    asked, said, decided = state
    for row in TABLES["groups_member"]:
        group = {node for node in range(3) if row[node]}
        if group - asked:
            yield asked | group, said, decided
    for node in asked - {node for node, _ in said}:
        yield from ((asked, said | {(node, answer)}, decided) for answer in "yn")
    for answer in "yn":
        if sum(known == answer for _, known in said) >= 2:
            yield asked, said, decided | {answer}


def counted(state: State) -> Iterator[State]:
    letters, parcels = state
    if parcels < 3 and letters < 3:
        yield letters + (letters > 0), parcels + 1
    for place in (0, 1):
        for change in (1, -1):
            if 0 <= state[place] + change <= 3:
                yield tuple(count + change * (place == other) for other, count in enumerate(state))


@pytest.mark.parametrize(
    ("instance", "start", "steps"),
    [
        (COURIER, ((), frozenset()), courier),
        (POLLS, (frozenset(), frozenset(), frozenset()), polls),
        (COUNTED, (0, 0), counted),
    ],
    ids=lambda value: getattr(value, "protocol", None),
)
def test_interpreter_and_kernel_reach_what_a_model_in_python_reaches(instance, start, steps):
    interpreter = Interpreter(instance)

    def successors(state: State) -> Iterator[State]:
        return (found.state for found in interpreter.successors(state) if found.in_bounds)

    expected = size([start], steps)
    assert expected[0] > 10
    assert size(list(interpreter.initial()), successors) == expected
    native = search(compile_kernel(instance))
    assert native.complete
    interpreted = Search(interpreter).run(lambda *_: None)
    assert (native.distinct, native.generated) == (expected[0], interpreted.generated)


@pytest.mark.spark
def test_spark_counts_the_same(spark, tmp_path):
    found = distributed(tmp_path / "run", LINE, spark=OnSpark(spark), handover=2)
    assert summary(found) == native_summary(LINE)


@pytest.mark.proof
@pytest.mark.parametrize("name", ["Courier", "Polls"])
def test_it_is_proved_for_any_size(name):
    assert prove(f"{HERE}{name}").open() == ()


@pytest.mark.proof
def test_without_the_assumption_about_quorums_nothing_is_proved():
    opened = {outcome.obligation.claim for outcome in prove(f"{HERE}AnyPolls").open()}
    assert opened == {"polls.one_decision"}


def test_a_queue_by_hand_has_the_same_states():
    bounds = {"Place": 4}
    by_hand = search(compile_kernel(Instance(f"{HERE}CourierByHand", bounds)))
    by_piece = search(compile_kernel(Instance(f"{HERE}CourierByPiece", bounds)))
    assert by_piece.distinct == by_hand.distinct == 2**5 - 1
    assert by_piece.generated == by_hand.generated


def test_what_a_piece_adds_is_plain_state():
    spec = Courier.trace()
    assert [str(v.type) for v in spec.variables] == [
        "Map[Place, Kind, Node, Bool]", "Place", "Map[Kind, Node, Bool]",
    ]  # fmt: skip
    assert [v.name for v in spec.variables] == ["queue_item", "queue_length", "road_held"]
    (guard,) = spec.action("leave").guards
    assert render(guard.expr) == "queue_item[0, kind, node]"
    assert {p.id for p in spec.properties} >= {"courier.queue_single", "courier.queue_ended"}
    polled = Polls.trace()
    assert [a.id for a in polled.assumptions] == ["polls.quorums_meet"]
    assert [c.name for c in polled.constants] == ["groups_member", "quorums_member"]


def test_the_tables_of_an_instance():
    assert majorities(3) == [[True, True, False], [True, False, True], [False, True, True]]
    assert len(all_subsets(4)) == 16
    assert len({tuple(row) for row in all_subsets(4)}) == 16


Kind = Enum("a", "b")


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (Bag, "a Bag of nothing"),
        (lambda: Bag(map_of_kinds()), "a Bag of"),
        (lambda: Queue(Kind, place=Int()), "as its places"),
        (lambda: Subsets(Kind, Kind), "sets named by"),
    ],
)
def test_wrong_declarations_are_refused(wrong, words):
    with pytest.raises(SpecError, match=words):
        wrong()


def test_a_name_that_a_piece_takes_is_refused():
    with pytest.raises((SpecError, RuntimeError)) as failure:  # until 3.11 in a RuntimeError of the class
        clashing()
    assert "road_held" in f"{failure.value} {failure.value.__cause__}"
