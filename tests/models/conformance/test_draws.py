"""What is drawn does not depend on what else is loaded."""

import importlib
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from tidemark.models.conformance.draws import same_draws_everywhere


def _draws() -> list[int]:
    found: list[int] = []

    @settings(derandomize=True, database=None, max_examples=300, phases=(Phase.generate,))
    @given(st.integers())
    def collect(number: int) -> None:
        found.append(number)

    collect()
    return found


def test_a_module_that_is_loaded_later_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the switch Hypothesis would draw numbers out of the new module."""
    odd = [123_456_701 + 7 * number for number in range(500)]
    (tmp_path / "full_of_numbers.py").write_text(f"NUMBERS = {odd}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.chdir(tmp_path)
    with same_draws_everywhere():
        before = _draws()
    importlib.import_module("full_of_numbers")
    with same_draws_everywhere():
        after = _draws()
    assert len(set(before)) > 100
    assert after == before
    assert not set(after) & set(odd)
    assert set(_draws()) & set(odd)
