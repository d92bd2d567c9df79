"""What types and form alone decide; references to protocols; what is documented of the language."""

import itertools
import pickle
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidemark.models.rooms import ROOT
from tidemark.models.simulation import ProgramRef
from tidemark.spec import language
from tidemark.spec.language.expr import Apply, Const, Expr, Local, Operator, Quantified
from tidemark.spec.language.references import ReferenceNotFoundError, load_callable, load_reference
from tidemark.spec.language.types import BOOL, LITERAL, EnumType, NumberType
from tidemark.spec.language.vacuity import decide, interval, truth

PLACE, DEPTH, MODE = NumberType("Place"), NumberType("Depth", signed=True), EnumType("Mode", ("a", "b", "c"))
n, m, d = Local(PLACE, "n"), Local(PLACE, "m"), Local(DEPTH, "d")
p, q, mode, other = Local(BOOL, "p"), Local(BOOL, "q"), Local(MODE, "mode"), Local(MODE, "other")


def number(value: int) -> Const:
    return Const(LITERAL, value)


def op(name: Operator, *args: Expr) -> Apply:
    return Apply(PLACE if name in ("add", "sub", "min", "max", "mod") else BOOL, name, args)


@pytest.mark.parametrize(
    ("expr", "known"),
    [
        (op("le", number(0), n), True),
        (op("lt", n, number(0)), False),
        (op("le", number(0), d), None),
        (op("lt", number(0), op("add", n, number(1))), True),
        (op("le", number(0), op("sub", n, number(1))), None),
        (op("le", op("mod", n, number(3)), number(2)), True),
        (op("eq", n, number(-1)), False),
        (op("eq", n, number(1)), None),
        (op("lt", op("min", n, number(3)), number(4)), True),
        (op("le", number(3), op("max", n, number(3))), True),
        (op("le", number(2), op("max", n, number(3))), True),
        (Quantified(BOOL, "forall", (n,), op("le", number(0), n)), True),
        (Quantified(BOOL, "exists", (n,), op("lt", n, number(0))), False),
        (op("or", op("eq", mode, Const(MODE, "a")), op("not", op("eq", mode, Const(MODE, "a")))), True),
        (op("or", *(op("eq", mode, Const(MODE, name)) for name in "abc")), True),
        (op("or", *(op("eq", mode, Const(MODE, name)) for name in "ab")), None),
        (op("and", op("eq", mode, Const(MODE, "a")), op("eq", mode, Const(MODE, "b"))), False),
        (op("implies", op("and", op("eq", mode, other), op("eq", mode, Const(MODE, "a"))),
            op("eq", other, Const(MODE, "a"))), True),
        (op("and", p, op("not", p)), False),
        (op("implies", op("and", p, q), p), True),
        (p, None),
    ],
)  # fmt: skip
def test_decided_by_type_or_form(expr, known):
    assert decide(expr) is known


def test_intervals_of_numbers():
    assert interval(n)[0] == 0.0
    assert interval(op("sub", number(3), n)) == (float("-inf"), 3.0)
    assert interval(Quantified(LITERAL, "count", (n,), p))[0] == 0.0


def test_too_many_combinations_are_left_open():
    atoms = [Local(BOOL, f"p{k}") for k in range(14)]
    assert decide(op("or", *atoms, op("not", atoms[0]))) is None
    assert truth(op("or", *atoms)) is None


def conditions(depth: int) -> st.SearchStrategy[Expr]:
    leaves = st.sampled_from([p, q, op("eq", mode, other), op("eq", mode, Const(MODE, "a"))])
    if depth == 0:
        return leaves
    inner = conditions(depth - 1)
    pair = st.tuples(inner, inner)
    return st.one_of(
        leaves,
        pair.map(lambda parts: op("and", *parts)),
        pair.map(lambda parts: op("or", *parts)),
        pair.map(lambda parts: op("implies", *parts)),
        inner.map(lambda part: op("not", part)),
    )


def evaluate(expr: Expr, env: dict[str, object]) -> object:
    if isinstance(expr, Local):
        return env[expr.name]
    if isinstance(expr, Const):
        return expr.value
    assert isinstance(expr, Apply)
    parts = [evaluate(arg, env) for arg in expr.args]
    table = {
        "and": all(parts),
        "or": any(parts),
        "not": not parts[0],
        "implies": not parts[0] or parts[-1],
        "eq": parts[0] == parts[-1],
    }
    return table[expr.op]


@settings(max_examples=150)
@given(conditions(3))
def test_decisions_agree_with_the_truth_table(expr):
    names = ["p", "q", "mode", "other"]
    domains = [(False, True), (False, True), "abc", "abc"]
    table = {bool(evaluate(expr, dict(zip(names, row, strict=True)))) for row in itertools.product(*domains)}
    assert decide(expr) is (table.pop() if len(table) == 1 else None)


def test_a_name_and_a_name_within_a_name() -> None:
    assert load_reference("pathlib:Path", what="class").__name__ == "Path"
    assert load_reference("pathlib:Path.home", what="function").__name__ == "home"


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("no.such.module:Thing", "no program 'no.such.module:Thing' (No module named 'no')"),
        ("pathlib:Pat", "no program 'pathlib:Pat' (module 'pathlib' has no attribute 'Pat')"),
        ("pathlib", "no program 'pathlib' (there is no colon between two names)"),
        (":Path", "no program ':Path' (there is no colon"),
        ("pathlib:", "no program 'pathlib:' (there is no colon"),
        ("", "no program ''"),
        (".relative:Path", "no program '.relative:Path'"),
        ("math:pi", "'math:pi' is not a program: it is a float"),
    ],
)
def test_one_error_that_names_the_value_and_the_remedy(reference: str, said: str) -> None:
    with pytest.raises(ReferenceNotFoundError) as caught:
        load_callable(reference, what="program")
    assert said in str(caught.value)
    assert caught.value.remedy


def test_the_error_comes_back_from_another_process() -> None:
    with pytest.raises(ReferenceNotFoundError) as caught:
        load_reference("pathlib:Pat", what="class")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.remedy) == (str(caught.value), caught.value.remedy)


def test_a_program_that_is_not_there() -> None:
    with pytest.raises(ReferenceNotFoundError, match="no program 'tests:nothing'"):
        ProgramRef("tests:nothing").load()


def test_nobody_else_takes_references_apart() -> None:
    """A second loader would have messages of its own."""
    parts = re.compile(r"getattr\((importlib\.)?import_module\(")
    found = [
        str(path.relative_to(ROOT))
        for room in ("spec", "impl", "models", "checks", "bench")
        for path in sorted((ROOT / room).rglob("*.py"))
        if parts.search(path.read_text(encoding="utf-8"))
    ]
    assert found == []


PAGE = Path(__file__).parents[3] / "docs" / "language.md"


def test_every_public_name_is_on_the_page() -> None:
    words = set(re.findall(r"\w+", PAGE.read_text(encoding="utf-8")))
    plurals = {word.removesuffix("s") for word in words}
    assert [name for name in language.__all__ if name not in words | plurals] == []


def test_the_example_is_a_protocol(tmp_path, monkeypatch) -> None:
    """The blocks of the page, put together, are traced."""
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    text = "from tidemark.spec.language import *\n\n" + "".join(blocks)
    (tmp_path / "page_example.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    traced = language.resolve("page_example:Stock").trace()
    assert [action.name for action in traced.actions] == ["put", "deliver"]
    assert traced.relies_on == ("orders.never_repeated",)
    assert list(traced.environment) == ["HONEST"]
    assert {variable.name for variable in traced.variables} == {"door", "stock", "marked", "chosen"}
