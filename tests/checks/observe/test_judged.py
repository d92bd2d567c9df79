"""The evidence of a run against what is pinned, and what may be pinned."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from tests.checks.evidence import parts
from tests.checks.evidence.parts import message, ts
from tidemark.checks.observe.judged import Case, Judged, case_of, judge_run, overview, read_cases
from tidemark.checks.observe.scenarios import SCENARIOS
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode

LATE = "timetick.watermark_promise/broker-watermark"
SOUND = Case(server="1", scenario="s", why="nothing breaks")
LOSES = Case(server="1", scenario="s", refuted_if={"late_messages": (LATE,)}, why="a late message")
OPEN = Case(server="1", scenario="s", may=(LATE,), why="a race")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    folder = tmp_path / "run"
    parts.sound(folder)
    (folder / "scenario.json").write_text(json.dumps({"facts": {"late_messages": 0}}))
    return folder


def plant(run: Path) -> None:
    """A message behind a later tick, counted beside the judges."""
    late = json.dumps(message(7, "insert", ts(999), rows=2, segment=8))
    (run / "broker.ndjson").write_text((run / "broker.ndjson").read_text() + late + "\n")
    count_late(run)


def judged(run: Path, case: Case) -> tuple[Judged, str]:
    with (run.parent / "said").open("w") as file:
        found = judge_run(
            run, case=case, build=run.parent / "verdicts", console=Console(file=file, width=200)
        )
    return found, (run.parent / "said").read_text()


def count_late(run: Path) -> None:
    """The run says of a message behind a tick, which the evidence does not show."""
    (run / "scenario.json").write_text(json.dumps({"facts": {"late_messages": 1}}))


def nothing(run: Path) -> None:
    """All is sound."""


@pytest.mark.parametrize(
    ("before", "case", "refuted", "status", "words"),
    [
        (nothing, LOSES, (), ExitCode.AS_EXPECTED, ""),
        (plant, LOSES, (LATE,), ExitCode.AS_EXPECTED, "expected on Milvus 1: a late message"),
        (plant, SOUND, (LATE,), ExitCode.UNEXPECTED_REFUTATION, ""),
        (count_late, LOSES, (), ExitCode.MISSING_REFUTATION, ""),
        (nothing, OPEN, (), ExitCode.AS_EXPECTED, ""),
        (plant, OPEN, (LATE,), ExitCode.AS_EXPECTED, ""),
    ],
)
def test_what_is_found_is_compared_with_what_is_pinned(
    run: Path,
    before: Callable[[Path], None],
    case: Case,
    refuted: tuple[str, ...],
    status: ExitCode,
    words: str,
) -> None:
    before(run)
    found, said = judged(run, case)
    assert found == Judged(refuted=refuted, status=status)
    assert words in said
    assert refuted or "as due" not in said


def test_what_is_pinned_and_not_judged_at_all_is_a_failure(run: Path) -> None:
    """Without the broker nobody judges the claim."""
    count_late(run)
    (run / "broker.ndjson").unlink()
    found, said = judged(run, LOSES)
    assert found.status is ExitCode.MISSING_REFUTATION
    assert f"NOT JUDGED {LATE}" in said


def lose(run: Path, *, counted: int) -> None:
    """The first read after the restart misses six rows; a run that compares says how many."""
    read = parts.op(7, "query", 7000, level="Strong", keys=[[1, 10]], seen=[[1, 3]])
    path = run / "history-w1.ndjson"
    path.write_text(path.read_text() + json.dumps(read) + "\n")
    record = json.loads((run / "scenario.json").read_text())
    record["facts"]["lost_rows"] = counted
    (run / "scenario.json").write_text(json.dumps(record))


def last_line(said: str) -> str:
    return said.strip().splitlines()[-1].strip()


GONE = Case(
    server="1",
    scenario="s",
    may=("history.count/client-history",),
    refuted_if={
        "late_messages": (LATE,),
        "lost_rows": ("history.strong/client-history", "history.kept/client-history"),
    },
    why="the proxy is paused",
)


def test_the_last_line_says_what_happened_to_the_data(run: Path) -> None:
    plant(run)
    lose(run, counted=6)
    found, said = judged(run, GONE)
    assert found.status is ExitCode.AS_EXPECTED, said
    assert last_line(said) == (
        "6 acknowledged rows are gone: read before the crash, not after the restart; "
        "1 message came after its tick. docs/paused-proxy.md"
    )
    assert said.index("as expected.") < said.index("6 acknowledged rows are gone")


def test_the_last_line_of_a_run_that_lost_nothing(run: Path) -> None:
    assert last_line(judged(run, SOUND)[1]) == (
        "Nothing was lost: reads show all that was acknowledged, and no message came after its tick."
    )
    plant(run)
    assert last_line(judged(run, LOSES)[1]) == "1 message came after its tick. docs/observe.md"


def test_the_last_line_where_the_run_itself_has_not_compared(run: Path) -> None:
    lose(run, counted=0)
    found = last_line(judged(run, SOUND)[1])
    assert found == "1 Strong read misses rows that were acknowledged or read before. docs/paused-proxy.md"


def test_the_last_line_promises_nothing_that_was_not_judged(run: Path) -> None:
    (run / "history-w1.ndjson").unlink()
    assert last_line(judged(run, SOUND)[1]) == (
        "No loss was found, but not everything is decided: history.strong/client-history, "
        "history.kept/client-history."
    )


def test_the_table_of_all_runs(run: Path, tmp_path: Path) -> None:
    """Runs are judged anew; alarms that the manifest does not expect, and missed ones, are counted."""

    def told() -> tuple[ExitCode, str]:
        with (tmp_path / "said").open("w") as file:
            status = overview(tmp_path, console=Console(file=file, width=200))
        return status, (tmp_path / "said").read_text()

    with pytest.raises(BadInputError, match="no run"):
        overview(tmp_path / "nowhere", console=Console())
    record(run, "clean", late_messages=0)
    status, said = told()
    assert status is ExitCode.AS_EXPECTED
    assert "clean on 2.3.5, lease 30 s" in said
    assert "broker and store" in said
    assert "1 runs; 0 alarms" in said
    plant(run)
    record(run, "clean", late_messages=1)
    status, said = told()
    assert status is ExitCode.UNEXPECTED_REFUTATION
    assert f"{LATE}: refuted in 1, NOT EXPECTED" in said
    record(run, "paused-proxy", lost_rows=2, late_messages=1)
    status, said = told()
    assert f"{LATE}: refuted in 1, demanded" in said
    assert "history.kept/client-history: MISSED in 1" in said
    assert status is ExitCode.MISSING_REFUTATION


def record(run: Path, scenario: str, **facts: int) -> None:
    given = {"name": scenario, "versions": {"server": "2.3.5"}, "lease": 30, "facts": facts, "error": ""}
    (run / "scenario.json").write_text(json.dumps(given))


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
        found = case_of("2.3.5", name).demanded({})
        assert found == ({"history.session/client-history"} if name == "session-delete" else set())
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
