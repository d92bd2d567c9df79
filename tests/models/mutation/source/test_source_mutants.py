"""Mutants of Python source: which there are, what they are called, and how they come into the loaded code."""

import ast
import asyncio
from pathlib import Path

import pytest

from tests.models.mutation.source import counter
from tidemark.models.mutation.source.edits import statements
from tidemark.models.mutation.source.mutants import functions, mutant_of, mutants_of, parsed
from tidemark.models.mutation.source.planting import PlantingError, function_of, planted, probed

ROOT = Path(__file__).parent
PACKAGE = "tests.models.mutation.source"
FILE = "counter.py"


def changes(function: str) -> dict[str, tuple[str, str]]:
    """What is made wrong in a function, by the end of the id."""
    prefix = f"{FILE}:{function}/"
    found = [one for one in mutants_of(ROOT, FILE) if one.id.startswith(prefix)]
    return {one.id.removeprefix(prefix): (one.before, one.after) for one in found}


def run(mutant: str, call):
    """The result of a call while a mutant is in place."""
    with planted(mutant_of(ROOT, f"{FILE}:{mutant}"), root=ROOT, package=PACKAGE):
        return call()


def test_each_operator_finds_its_places():
    found = changes("Counter.add")
    assert found["wrong-variable@1"][1] == "self.value = min(before + limit, limit)"
    assert found["min-to-max@1"][1] == "self.value = max(before + amount, limit)"
    assert found["argument2-forgotten@1"][1] == "self.value = before + amount"
    assert found["sign-swapped@1"][1] == "self.value = min(before - amount, limit)"
    assert found["stale-read@1"][1].startswith("stale_ = self.value ; async with self.lock:")
    assert found["lock-dropped@1"][0].startswith("async with self.lock:")
    assert found["raise-dropped@1"] == ("raise ValueError(f'{self.value} is {text}')", "pass")
    assert not any("large" in before for before, _ in found.values())
    assert changes("narrowed")["wrong-field@2"][1].endswith("high=min(span.low, most))")
    assert {"handler1-dropped@1", "handler1-widened@1", "low-not-replaced@1"} <= set(changes("narrowed"))


def test_names_do_not_depend_on_what_is_elsewhere(tmp_path):
    text = (ROOT / FILE).read_text(encoding="utf-8")
    more = text.replace(
        "class Base:", "def early(a: int, b: int) -> int:\n    return max(a, b)\n\n\nclass Base:"
    )
    (tmp_path / FILE).write_text(more, encoding="utf-8")
    there = {one.id for one in mutants_of(tmp_path, FILE) if ":early/" not in one.id}
    assert there == {one.id for one in mutants_of(ROOT, FILE)}


def test_every_mutant_is_other_code_and_leaves_the_real_one_in_place():
    before = {name: function_of(counter, name).__code__ for name, _ in functions(parsed(ROOT, FILE))}
    for mutant in mutants_of(ROOT, FILE):
        with planted(mutant, root=ROOT, package=PACKAGE):
            assert function_of(counter, mutant.function).__code__ is not before[mutant.function]
    assert {name: function_of(counter, name).__code__ for name in before} == before
    assert len(mutants_of(ROOT, FILE)) > 40


def test_whoever_knows_the_function_runs_the_changed_one():
    known = counter.narrowed
    span = counter.Span(1, 9)
    assert run("narrowed/max-to-min@1", lambda: known(span, 3, 7)) == counter.Span(1, 7)
    assert known(span, 3, 7) == counter.Span(3, 7)
    assert run("Counter.begin/statement-dropped@1", lambda: counter.Counter().begin()) == 0
    assert run("Counter.even/eq-to-ne@1", lambda: counter.Counter().even) is False


def test_without_the_lock_two_overtake_each_other():
    async def both() -> int:
        one = counter.Counter()
        await asyncio.gather(one.add(1, 9), one.add(2, 9))
        return one.value

    assert asyncio.run(both()) == 3
    assert run("Counter.add/lock-dropped@1", lambda: asyncio.run(both())) == 2


def test_a_mutant_that_changes_nothing_is_refused():
    mutant = mutants_of(ROOT, FILE)[0]
    function = dict(functions(parsed(ROOT, FILE)))[mutant.function]
    same = type(mutant)(**{**vars(mutant), "changed": function})
    with (
        pytest.raises(PlantingError, match="compiles to the code that is there"),
        planted(same, root=ROOT, package=PACKAGE),
    ):
        pass


def test_probes_tell_what_is_run_and_go_away():
    lines: set[int] = set()
    with probed(FILE, lines.add, root=ROOT, package=PACKAGE):
        counter.narrowed(counter.Span(1, 9), 3, 7)
    counter.Counter().begin()
    tree = dict(functions(parsed(ROOT, FILE)))
    handler = next(node for node in ast.walk(tree["narrowed"]) if isinstance(node, ast.ExceptHandler))
    docstring = tree["narrowed"].body[0].lineno
    first = {statement.lineno for _, statement in statements(tree["narrowed"])}
    assert lines == first - {handler.body[0].lineno} - ({docstring} - lines)
