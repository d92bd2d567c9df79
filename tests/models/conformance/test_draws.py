"""What is drawn depends on the seed alone."""

import importlib
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from hypothesis import given, seed
from hypothesis import strategies as st

from tidemark.models.conformance.draws import even_draws

EXAMPLES = 300


def _drawn(number: int = 0, most: int = 6) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []

    def collect(data: st.DataObject) -> None:
        found.append(tuple(data.draw(st.integers(0, most)) for _ in range(12)))

    _run(collect, number)
    return found


def _drawn_by_another(number: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = []

    def note(data: st.DataObject) -> None:
        """Another source, the same choices."""
        numbers = [data.draw(st.integers(0, 6)) for _ in range(12)]
        found.append(tuple(numbers))

    _run(note, number)
    return found


def _run(function: Callable[[st.DataObject], None], number: int) -> None:
    even_draws(EXAMPLES)(seed(number)(given(st.data())(function)))()


def test_a_module_that_is_loaded_later_changes_nothing(tmp_path, monkeypatch):
    """By itself Hypothesis would draw numbers out of the new module."""
    odd = [123_456_701 + 7 * number for number in range(500)]
    (tmp_path / "full_of_numbers.py").write_text(f"NUMBERS = {odd}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    before = _drawn(most=10**9)
    importlib.import_module("full_of_numbers")
    assert _drawn(most=10**9) == before
    assert not {number for one in before for number in one} & {*odd}


def test_another_source_of_the_function_changes_nothing() -> None:
    assert _drawn_by_another(3) == _drawn(3)
    assert _drawn(4) != _drawn(3)


def test_no_example_repeats_a_part_of_another() -> None:
    """The first is the plainest; each other has numbers of its own, each number equally often."""
    plainest, *found = _drawn()
    assert plainest == (0,) * 12
    assert len(found) == EXAMPLES - 1
    alike = [sum(map(int.__eq__, one, two)) for one, two in pairwise(found)]
    assert max(alike) < 9, "by chance: once in a million pairs"
    times = Counter(number for one in found for number in one)
    assert all(420 < times[number] < 610 for number in range(7)), "512 and four standard deviations"
