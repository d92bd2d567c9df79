"""Simplification and substitution keep the meaning: random expressions, judged by the interpreter."""

from random import Random
from typing import Any

from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tests.spec.language.expressions import (
    BALANCE,
    INSTANCE,
    INTERPRETER,
    KEYS,
    PLACE,
    SCALARS,
    scalar,
    scope_with_values,
    state,
    table,
)
from tidemark.models.interpreted.evaluate import Env
from tidemark.spec.language.expr import (
    Apply,
    Choose,
    Const,
    Local,
    MapComprehension,
    Quantified,
    Read,
    Select,
    Store,
    children,
    free_locals,
    rebuild,
    substitute,
    variables_read,
    walk,
)
from tidemark.spec.language.fold import conjunction, disjunction, fold, negation, non_negative
from tidemark.spec.language.types import BOOL, MapType

COMPILER = INTERPRETER.compiler
MANY = settings(max_examples=300, phases=(Phase.explicit, Phase.reuse, Phase.generate))
SEEDS = st.integers(0, 2**32)


def meaning(expr: Any, before: Any, after: Any, local: dict[str, Any]) -> tuple[Any, bool]:
    """The value, and whether a changed entry lay outside the instance."""
    env = Env(before, after, local)
    run = COMPILER.table(expr) if isinstance(expr.type, MapType) else COMPILER.scalar(expr)
    return run(env), env.out_of_bounds


class Situation:
    """An expression with free variables, and what it is evaluated in."""

    def __init__(self, seed: int, *, kinds: Any = SCALARS) -> None:
        self.random = Random(seed)
        self.scope, self.local = scope_with_values(self.random)
        self.before, self.after = state(self.random), state(self.random)
        self.kind = self.random.choice(kinds)
        self.expr = scalar(self.random, self.kind, self.scope, 4)

    def value(self, expr: Any) -> Any:
        return meaning(expr, self.before, self.after, self.local)[0]


@MANY
@given(SEEDS)
def test_fold_keeps_the_value(seed):
    it = Situation(seed)
    assert it.value(fold(it.expr)) == it.value(it.expr)


@MANY
@given(SEEDS)
def test_fold_keeps_maps_and_what_leaves_the_bounds(seed):
    it = Situation(seed)
    kind = MapType("", it.random.choice(KEYS), it.random.choice(SCALARS))
    expr = table(it.random, kind, it.scope, 4)
    args = it.before, it.after, it.local
    assert meaning(fold(expr), *args) == meaning(expr, *args)


@MANY
@given(SEEDS)
def test_fold_is_done_at_once_and_brings_in_nothing(seed):
    expr = Situation(seed).expr
    once = fold(expr)
    assert fold(once) == once
    assert free_locals(once) <= free_locals(expr)
    assert variables_read(once) <= variables_read(expr)


@MANY
@given(SEEDS)
def test_substitution_of_locals_is_evaluation_in_another_scope(seed):
    """All replaced at once; a binder never captures what is put in."""
    it = Situation(seed)
    names = [name for name in it.scope if it.random.random() < 0.7]
    new = {name: scalar(it.random, it.scope[name], it.scope, 2) for name in names}
    meant = it.local | {name: it.value(part) for name, part in new.items()}
    expected = meaning(it.expr, it.before, it.after, meant)[0]
    assert it.value(substitute(it.expr, locals_=new)) == expected


@MANY
@given(SEEDS)
def test_substitution_of_reads_is_evaluation_in_another_state(seed):
    it = Situation(seed)
    new = scalar(it.random, PLACE, it.scope, 2)
    slot = [v.name for v in INSTANCE.spec.variables].index("head")
    changed = list(it.before)
    changed[slot] = it.value(new)

    def put_in(read: Read) -> Any:
        return new if read.variable.name == "head" and not read.primed else read

    expected = meaning(it.expr, tuple(changed), it.after, it.local)[0]
    assert it.value(substitute(it.expr, reads=put_in)) == expected


@MANY
@given(SEEDS)
def test_substitution_of_nothing_changes_nothing(seed):
    expr = Situation(seed).expr
    assert substitute(expr) == expr
    assert substitute(expr, locals_={"unknown": Const(BOOL, True)}) == expr


@MANY
@given(SEEDS)
def test_rebuild_of_the_same_parts_is_the_same(seed):
    for node in walk(Situation(seed).expr):
        assert rebuild(node, children(node)) == node


@MANY
@given(SEEDS)
def test_non_negative_is_never_wrong(seed):
    it = Situation(seed, kinds=(PLACE, BALANCE))
    assert not non_negative(it.expr) or it.value(it.expr) >= 0


def test_capture_is_avoided_by_renaming():
    a, b = Local(PLACE, "a"), Local(PLACE, "b")
    body = Apply(BOOL, "lt", (a, b))
    whole = Quantified(BOOL, "exists", (a,), body)
    found = substitute(whole, locals_={"b": a})
    assert isinstance(found, Quantified)
    assert free_locals(found) == {"a"}
    assert found.binders[0].name not in ("a", "b")


def test_the_new_name_of_a_binder_captures_nothing_either():
    """The obvious new name is taken: free in the body, or another binder's."""
    a, b, fresh = Local(PLACE, "a"), Local(PLACE, "b"), Local(PLACE, "a'")
    body = Apply(BOOL, "and", (Apply(BOOL, "lt", (a, b)), Apply(BOOL, "lt", (a, fresh))))
    free = substitute(Quantified(BOOL, "exists", (a,), body), locals_={"b": a})
    assert free_locals(free) == {"a", "a'"}
    bound = substitute(Quantified(BOOL, "exists", (a, fresh), body), locals_={"b": a})
    assert isinstance(bound, Quantified)
    assert len({binder.name for binder in bound.binders}) == 2
    assert free_locals(bound) == {"a"}


def test_read_through_stores_comprehensions_and_choices():
    taken = next(v for v in INSTANCE.spec.variables if v.name == "taken")
    kind, p, flag = taken.type, Local(PLACE, "p"), Local(BOOL, "flag")
    base = Read(kind, taken)
    one, two = Const(PLACE, 1), Const(PLACE, 2)
    stored = Store(kind, base, (one,), Const(BOOL, True))
    assert fold(Select(BOOL, stored, (one,))) == Const(BOOL, True)
    assert fold(Select(BOOL, stored, (two,))) == Select(BOOL, base, (two,))
    each = MapComprehension(kind, (p,), Apply(BOOL, "eq", (p, two)))
    assert fold(Select(BOOL, each, (two,))) == Const(BOOL, True)
    either = Apply(kind, "ite", (flag, stored, each))
    assert fold(Select(BOOL, either, (one,))) == flag


def test_connectives_fold():
    flag, other = Local(BOOL, "a"), Local(BOOL, "b")
    true, false = Const(BOOL, True), Const(BOOL, False)
    assert conjunction() == true
    assert disjunction() == false
    assert conjunction(flag, true, flag) == flag
    assert conjunction(flag, false) == false
    assert conjunction(conjunction(flag, other), other) == Apply(BOOL, "and", (flag, other))
    assert disjunction(flag, true) == true
    assert negation(negation(flag)) == flag
    assert fold(Apply(BOOL, "ite", (flag, true, other))) == Apply(BOOL, "or", (flag, other))
    assert fold(Apply(BOOL, "implies", (flag, flag))) == true


def test_numbers_fold():
    n = Local(PLACE, "n")
    zero, two, five = Const(PLACE, 0), Const(PLACE, 2), Const(PLACE, 5)
    assert fold(Apply(PLACE, "add", (n, zero))) == n
    assert fold(Apply(PLACE, "sub", (two, five))).value == -3  # type: ignore[attr-defined]
    assert fold(Apply(BALANCE, "div", (Const(BALANCE, -3), two))).value == -2  # type: ignore[attr-defined]
    assert fold(Apply(BALANCE, "mod", (Const(BALANCE, -3), two))).value == 1  # type: ignore[attr-defined]
    assert fold(Apply(PLACE, "min", (n, n))) == n
    assert fold(Choose(PLACE, "least", Local(PLACE, "p"), Const(BOOL, False), n)) == n


def test_expressions_of_all_kinds_are_drawn():
    """The random tests speak about every node and operator, or they prove little."""
    seen = {
        node.op if isinstance(node, Apply) else getattr(node, "kind", type(node).__name__)
        for seed in range(150)
        for node in walk(Situation(seed).expr)
    }
    operators = {"and", "or", "not", "implies", "eq", "lt", "le", "add", "sub", "mul", "div", "mod"}
    kinds = {"ite", "min", "max", "forall", "exists", "count", "least", "greatest"}
    assert seen >= operators | kinds | {"Const", "Read", "Local", "Select", "Store", "MapComprehension"}
