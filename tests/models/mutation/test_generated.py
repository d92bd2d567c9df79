"""Generated mutants: which there are, what they change, how they travel."""

import pickle
import subprocess
import sys

import pytest

from tests.protocols.ferry import Ferry
from tidemark.models.instance import BadInstance, Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.mutation.generated import MutatedInstance, find_mutant, generate, mutants_of, mutated
from tidemark.models.mutation.operators import changes, replace_at
from tidemark.models.native.kernel import compile_kernel
from tidemark.spec.language import render
from tidemark.spec.language.expr import Apply, Const, Expr, Local, Store, walk
from tidemark.spec.language.fold import fold
from tidemark.spec.language.types import BOOL, LITERAL, BoolType, MapType, NumberType

BASE = Instance(Ferry.reference(), {"Guest": 2, "Trip": 3}, {"room": 1}, "two-guests")
N, P = Local(NumberType("N"), "n"), Local(BOOL, "p")


def named(expr: Expr, *, assigned: bool = False) -> dict[str, str]:
    return {f"{c.name}@{c.at}": render(c.applied(expr)) for c in changes(expr, assigned=assigned)}


def number(value: int) -> Const:
    return Const(LITERAL, value)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        (Apply(BOOL, "lt", (N, N)), {"lt-to-le@0": "n <= n"}),
        (Apply(BOOL, "le", (N, N)), {"le-to-lt@0": "n < n"}),
        (Apply(BOOL, "eq", (N, N)), {"eq-to-le@0": "n <= n"}),
        (Apply(BOOL, "eq", (P, P)), {}),
        (
            Apply(N.type, "min", (N, number(2))),
            {
                "min-to-max@0": "max(n, 2)",
                "argument1-forgotten@0": "2",
                "argument2-forgotten@0": "n",
                "plus-one@2": "min(n, 3)",
                "minus-one@2": "min(n, 1)",
            },
        ),
        (
            Apply(BOOL, "and", (P, Apply(BOOL, "not", (P,)), P)),
            {
                "argument1-forgotten@0": "~p & p",
                "argument2-forgotten@0": "p & p",
                "argument3-forgotten@0": "p & ~p",
            },
        ),
        (Apply(BOOL, "implies", (P, Apply(BOOL, "not", (P,)))), {"premise-forgotten@0": "~p"}),
        (Apply(N.type, "ite", (P, N, number(0))), {"branches-swapped@0": "ite(p, 0, n)", "plus-one@3":
        "ite(p, n, 1)"}),
        (Apply(N.type, "mod", (N, number(1))), {"plus-one@2": "n % 2"}),
    ],
)  # fmt: skip
def test_what_can_be_wrong_at_one_place(expr, expected):
    assert named(expr) == expected


def test_a_condition_is_flipped_only_where_it_is_assigned():
    kind = MapType("", (N.type,), BoolType())
    store = Store(kind, Local(kind, "m"), (N,), Const(BOOL, True))
    assert named(store) == {"entry-not-assigned@0": "m"}
    assert named(store, assigned=True) == {"entry-not-assigned@0": "m", "flipped@3": "m with [n] = false"}


def test_replace_at_counts_as_walk_does():
    expr = Apply(BOOL, "and", (Apply(BOOL, "lt", (N, number(1))), P))
    nodes = list(walk(expr))
    assert [replace_at(expr, at, node) for at, node in enumerate(nodes)] == [expr] * len(nodes)
    assert render(replace_at(expr, 3, number(7))) == "(n < 7) & p"
    with pytest.raises(IndexError):
        replace_at(expr, len(nodes), P)


def test_ids_are_unique_and_stable():
    mutants = mutants_of(Ferry.reference())
    ids = [mutant.id for mutant in mutants]
    assert len(set(ids)) == len(ids)
    assert ids == [mutant.id for mutant in generate(Ferry.trace())]
    assert set(ids) >= {
        "board/guard1.1/dropped",
        "board/guard1.2/dropped",
        "board/guard2/dropped",
        "board/guard2/lt-to-le@0",
        "board/highest/dropped",
        "board/place/dropped",
        "board/highest/max-to-min@0",
        "board/loaded/plus-one@2",
        "cross/noted/flipped@0",
        "leave/place/branches-swapped@1",
        "leave/trips/argument2-forgotten@0",
        "paint/guard1/eq-to-le@0",
    }


def test_ids_are_the_same_in_another_process():
    code = (
        "from tidemark.models.mutation.generated import mutants_of;"
        "print([str(m) for m in mutants_of('tests.protocols.ferry:Ferry')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert done.stdout.strip() == str([str(m) for m in mutants_of(Ferry.reference())])


def test_every_mutant_changes_one_action_and_nothing_else():
    spec = Ferry.trace()
    for mutant in mutants_of(Ferry.reference()):
        wrong = mutant.applied(spec)
        changed = [a.name for a, b in zip(spec.actions, wrong.actions, strict=True) if a != b]
        assert changed == [mutant.id.partition("/")[0]]
        assert wrong.properties == spec.properties
        assert wrong.initial == spec.initial
        assert mutant.before != mutant.after


def test_mutants_differ_from_each_other():
    forms = [
        (m.action.name, tuple(fold(g.expr) for g in m.action.guards), m.action.updates)
        for m in mutants_of(Ferry.reference())
    ]
    assert len(set(forms)) == len(forms)


def test_text_says_what_was_changed():
    mutant = find_mutant(Ferry.reference(), "board/guard2/lt-to-le@0")
    assert str(mutant) == "board/guard2/lt-to-le@0: loaded < room  ->  loaded <= room"
    assert mutant.operator == "lt-to-le"
    assert mutant.site.startswith("board: guard 2 (ferry.py:")
    assert find_mutant(Ferry.reference(), "board/loaded/dropped").after == "loaded unchanged"
    found = find_mutant(Ferry.reference(), "leave/trips/argument1-forgotten@0").operator
    assert found == "argument-forgotten"


def test_a_mutated_instance_is_read_by_every_judge():
    wrong = mutated(BASE, "board/guard2/dropped")
    found = [render(g.expr) for g in wrong.spec.action("board").guards]
    assert found == ["(boat == 'here') & (place[guest] == 'here')", "true"]
    assert wrong.bounds_text() == BASE.bounds_text()
    assert steps(wrong) > steps(BASE)


def steps(instance: Instance) -> int:
    """Successors of the state with one guest aboard."""
    interpreter = Interpreter(instance)
    (first,) = interpreter.initial()
    second = next(iter(interpreter.successors(first))).state
    return len(list(interpreter.successors(second)))


def test_the_mutation_survives_pickling_and_compilation():
    """A mutation run that loses its mutation on the way tests the protocol itself."""
    wrong = mutated(BASE, "board/guard2/dropped")
    again = pickle.loads(pickle.dumps(wrong))
    assert isinstance(again, MutatedInstance)
    assert again.spec == wrong.spec != BASE.spec
    kernel = pickle.loads(pickle.dumps(compile_kernel(wrong)))
    assert len(kernel.expand(kernel.expand(kernel.initial_block()).successors).successors) > len(
        compile_kernel(BASE).expand(compile_kernel(BASE).expand(kernel.initial_block()).successors).successors
    )


def test_unknown_mutant():
    with pytest.raises(BadInstance, match="has no generated mutant 'board/guard9/dropped'"):
        mutated(BASE, "board/guard9/dropped").traced()
