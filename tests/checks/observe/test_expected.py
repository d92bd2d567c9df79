"""Expectations of real servers: pinned, exact, and refused where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tidemark.checks.observe.expected import Case, cases_of, choose, due, read_cases, unjudged
from tidemark.checks.observe.scenarios import SCENARIOS
from tidemark.checks.verdicts.errors import BadInputError

LOST = Case(server="1", scenario="s", when="lost_rows", refuted=("a/x", "b/y"), may=("c/z",), why="lost")
ONE = "[[case]]\nserver = '1'\nscenario = 's'\n"
NONE = Case(server="1", scenario="s", may=("c/z",), why="not lost")


def test_every_scenario_is_pinned_for_the_default_version() -> None:
    for name in SCENARIOS:
        assert choose(cases_of("2.3.5", name), {}).refuted == (
            ("history.session/client-history",) if name == "session-delete" else ()
        )
    lost = choose(cases_of("2.3.5", "paused-proxy"), {"lost_rows": 3})
    assert "timetick.watermark_promise/log-watermark" in lost.refuted
    assert not choose(cases_of("2.3.0", "session-delete"), {}).refuted


def test_the_case_follows_what_was_counted() -> None:
    assert choose([NONE, LOST], {"lost_rows": 0}) is NONE
    assert choose([NONE, LOST], {"lost_rows": 7}) is LOST
    also = LOST.model_copy(update={"when": "late"})
    with pytest.raises(BadInputError, match="lost_rows, late fit this run together"):
        choose([NONE, LOST, also], {"lost_rows": 7, "late": 1})


def test_what_is_left_open_follows_what_came_out_and_the_rest_does_not() -> None:
    assert due(LOST, ["a/x", "d/w"]) == {"a/x", "b/y"}
    assert due(LOST, ["c/z"]) == {"a/x", "b/y", "c/z"}
    assert unjudged(LOST, ["a/x", "c/z"]) == ["b/y"]


def test_a_version_that_is_not_pinned_is_refused() -> None:
    with pytest.raises(BadInputError, match="no expectation is pinned for clean on 9"):
        cases_of("9", "clean")
    with pytest.raises(BadInputError):
        cases_of("1", "s", cases=[LOST])


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
