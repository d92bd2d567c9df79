"""A protocol as type checkers read it: accepted in strict mode, and a mistake in it is seen."""

import re
import sys
from pathlib import Path

import pytest

from tests.processes import finished
from tidemark.checks.starter.write import texts as starter
from tidemark.spec import language
from tidemark.spec.language.spec import Spec

ROOT = Path(__file__).parents[3]
STUB = ROOT / "spec" / "language" / "__init__.pyi"

STOCK = '''"""Much of the language."""

from tidemark.spec.language import (
    Bool, Enum, Int, Map, Nat, Protocol, Set, Sort, TypeAlias, action, constant, each, everywhere, exists,
    forall, implies, invariant, ite, leads_to, maximum, one_of, option, require, transition_invariant, when,
)


class Stock(Protocol):
    """Shelves."""

    Shelf: TypeAlias = Sort
    Amount: TypeAlias = Nat
    Balance: TypeAlias = Int
    Door: TypeAlias = Enum["open", "shut"]

    STRICT: Bool = option(True)
    near: Set[Shelf, Shelf] = constant()
    door: Door = "open"
    debt: Balance = 0
    full: Set[Shelf] = everywhere(False)
    stock: Map[Shelf, Amount] = everywhere(0)
    moved: Map[Shelf, Shelf, Amount] = everywhere(0)

    def is_low(s, shelf: Shelf) -> Bool:
        """There is room."""
        return ~(s.stock[shelf] > 1)

    @action(fairness="weak", source="here")
    def put(s, shelf: Shelf, to: Shelf) -> None:
        """Something comes."""
        require(s.is_low(shelf) & one_of(s.door, "open", "shut"))
        require(~s.STRICT | s.near[shelf, to])
        s.moved[shelf, to] = s.moved[shelf, to] + 1
        s.stock[shelf] = maximum(s.stock[shelf] + 1, 1)
        s.full = each(s.Shelf, lambda one: ite(one == shelf, True, s.full[one]))
        s.debt = s.debt - 1
        s.full[shelf] = ~s.full[shelf]
        s.full = each(s.Shelf, lambda one: ~s.full[one])
        with when(s.stock[shelf] == 1):
            s.door = "shut"

    @invariant(source="here")
    def small(s) -> Bool:
        """Not too much."""
        return forall(s.Shelf, lambda one: implies(s.full[one], s.stock[one] <= 2))

    @transition_invariant(source="here")
    def grows(before, after: "Stock") -> Bool:
        """Nothing goes."""
        return forall(before.Shelf, lambda one: before.stock[one] <= after.stock[one])

    @leads_to(source="here")
    def fills(s, shelf: Shelf) -> tuple[Bool, Bool]:
        """It fills."""
        return s.door == "open", exists(s.Shelf, lambda one: s.full[one])
'''
AS_BEFORE = (
    (r": TypeAlias = (Sort|Nat|Int)", r" = \1()"),
    (r': TypeAlias = Enum\["open", "shut"\]', ' = Enum("open", "shut")'),
    (r"everywhere\((\w+)\)", r"\1"),
    (r" -> [\w\[\], ]+:", ":"),
    (r': "Stock"', ""),
)
WRONG = {
    'door: Door = "open"': 'door: Door = "ajar"',
    's.door = "shut"': 's.door = "ajar"',
    "s.debt = s.debt - 1": "s.debt = s.stock",
    "require(s.is_low(shelf) &": "require(s.is_low(1) &",
    "s.near[shelf, to]": "s.near[shelf]",
    "lambda one: s.full[one]": "lambda one: s.full[1]",
}


def complaints(folder: Path, *texts: str) -> list[str]:
    """Check texts as a user's own files, with the package found by its marker."""
    package = folder / "tidemark"
    package.mkdir()
    (package / "spec").symlink_to(ROOT / "spec")
    for name in ("__init__.py", "py.typed"):
        (package / name).symlink_to(ROOT / "checks" / "package" / name)
    for number, text in enumerate(texts):
        (folder / f"text_{number}.py").write_text(text, encoding="utf-8")
    command = ["-m", "mypy", "--strict", "--follow-imports=silent", "--config-file=", "--cache-dir=cache"]
    names = [f"text_{number}.py" for number in range(len(texts))]
    return finished([sys.executable, *command, *names], cwd=folder).stdout.splitlines()


def traced(text: str, folder: Path) -> Spec:
    name = f"stock_{abs(hash(text))}"
    (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return language.resolve(f"{name}:Stock").trace()


def test_protocols_are_accepted_in_strict_mode_and_mistakes_are_seen(tmp_path):
    started = starter("lease")[Path("lease.py")]
    wrong = [STOCK.replace(right, other) for right, other in WRONG.items()]
    assert all(text != STOCK for text in wrong)
    seen = complaints(tmp_path, started, STOCK, *wrong)
    errors = [line for line in seen if ": error: " in line]
    assert sorted({line.partition(".py")[0] for line in errors}) == [
        f"text_{number}" for number in range(2, 2 + len(wrong))
    ], seen


def test_a_protocol_for_type_checkers_is_the_same_protocol(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    old = STOCK
    for pattern, text in AS_BEFORE:
        old, count = re.subn(pattern, text, old)
        assert count, pattern
    one, other = traced(STOCK, tmp_path), traced(old, tmp_path)
    assert [kind.name for kind in one.types] == [kind.name for kind in other.types]
    for new, plain in zip((*one.actions, *one.properties), (*other.actions, *other.properties), strict=True):
        for field in ("params", "updates", "expr", "premise", "id", "kind"):
            assert getattr(new, field, None) == getattr(plain, field, None)
    assert dict(one.initial) == dict(other.initial)


def test_the_stub_names_what_the_package_exports():
    stub = STUB.read_text(encoding="utf-8")
    names = re.findall(r'"(\w+)"', stub[stub.index("__all__") : stub.index("]\n")])
    assert names == language.__all__


@pytest.mark.parametrize("name", ["checks/package/py.typed", "spec/language/__init__.pyi"])
def test_a_type_checker_finds_the_package_where_it_is_installed(name):
    assert (ROOT / name).is_file()
    packaged = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'"*{Path(name).suffix}"' in packaged or f'"{Path(name).name}"' in packaged
