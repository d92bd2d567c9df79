"""Expectations of real servers: pinned, exact, and refused where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.checks.observe.judged import Case, case_of, read_cases
from tidemark.checks.observe.scenarios import SCENARIOS
from tidemark.checks.verdicts.errors import BadInputError

LOST = Case(
    server="1",
    scenario="s",
    refuted=("a/x",),
    refuted_if={"lost_rows": ("b/y", "c/z"), "late_messages": ("d/w",)},
    may=("c/z",),
    why="lost",
)
ONE = "[[case]]\nserver = '1'\nscenario = 's'\n"


def test_every_scenario_is_pinned_for_the_default_version() -> None:
    for name in SCENARIOS:
        assert case_of("2.3.5", name).demanded({}) == (
            {"history.session/client-history"} if name == "session-delete" else set()
        )
    paused = case_of("2.3.5", "paused-proxy")
    assert paused.demanded({"late_messages": 3}) == {"timetick.watermark_promise/broker-watermark"}
    assert "history.kept/client-history" in paused.demanded({"lost_rows": 3})
    assert not case_of("2.3.0", "session-delete").refuted


def test_what_is_demanded_follows_what_was_counted() -> None:
    assert LOST.demanded({"lost_rows": 0}) == {"a/x"}
    assert LOST.demanded({"lost_rows": 7}) == {"a/x", "b/y", "c/z"}
    assert LOST.demanded({"lost_rows": 7, "late_messages": 1}) == {"a/x", "b/y", "c/z", "d/w"}


def test_what_is_left_open_follows_what_came_out_and_the_rest_does_not() -> None:
    assert LOST.due({}, ["a/x", "d/w"]) == {"a/x"}
    assert LOST.due({}, ["c/z"]) == {"a/x", "c/z"}
    assert LOST.due({"lost_rows": 1}, []) == {"a/x", "b/y", "c/z"}


def test_a_version_that_is_not_pinned_is_refused() -> None:
    with pytest.raises(BadInputError, match="no expectation is pinned for clean on 9"):
        case_of("9", "clean")
    with pytest.raises(BadInputError, match="no expectation is pinned for t on 1"):
        case_of("1", "t", cases=[LOST])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (ONE, "why"),
        (ONE + "why = 'w'\nrefute = []\n", "refute"),
        ((ONE + "why = 'w'\n") * 2, "two cases"),
        (ONE + "why = 'w'\nmay = ['a']\nrefuted = ['a']\n", "in refuted and in may"),
        ("case = ", "Invalid value"),
    ],
)  # fmt: skip
def test_a_manifest_that_is_wrong_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "expected.toml").write_text(text)
    with pytest.raises(BadInputError, match=complaint):
        read_cases(tmp_path / "expected.toml")
