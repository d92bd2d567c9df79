"""The figures of protocols are counted from the verdicts of a run; tables fit the terminal."""

import io
from pathlib import Path

import pytest
from rich import box
from rich.console import Console
from rich.table import Table

from tidemark.checks.cli import app as cli
from tidemark.checks.report.files import VERDICTS, to_json
from tidemark.checks.report.forms.fitting import fit, full_width, groups, least_width
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.result import RunResult, SourceNote, Unjudged
from tidemark.checks.verdicts.verdict import (
    Aspect,
    Judgement,
    Outcome,
    Subject,
    Verdict,
    holds,
    inconclusive,
    proved,
    refuted,
)
from tidemark.models.rooms import ROOT

MANIFESTS = [
    word
    for name in ("reads", "stream")
    for word in ("--manifest", str(ROOT / "models" / "protocols" / name / "manifest.toml"))
]
TRACE = Counterexample(initial={"v": 0}, failing="v = 1")


def about(judge: str, entry: str, claim: str, aspect: Aspect = Aspect.PROPERTY) -> Subject:
    return Subject(
        protocol=entry.partition("-")[0], property_id=claim, judge=judge, instance=entry, aspect=aspect
    )


def no(subject: Subject, **counts: int) -> Verdict:
    return refuted(subject, counts=counts, counterexample=TRACE, replay="x")


def judged(*more: tuple[Verdict, Outcome]) -> RunResult:
    """Two proofs and the search of a claim, programs, a driver, mutants; a proof was taken over."""
    stale, real = "reads.bounded_misses_only_what_is_recent", "reads.answers_are_exact"
    by_rule = {"pins": 9, "killed": 6, "by_refusal": 2, "survived": 1, "names_crc32": 77}
    runs = {"executions": 40, "steps": 900}
    found: list[tuple[Verdict, Outcome]] = [
        (
            proved(about("prove", "reads-any-size", stale), counts={"obligations": 7}, seconds=1.25),
            Outcome.PROVED,
        ),
        (
            proved(about("prove", "reads-any-size", real), counts={"obligations": 30}, seconds=2.5),
            Outcome.PROVED,
        ),
        (holds(about("explore", "reads-small", stale), counts={"distinct": 5000}, bounds="b"), Outcome.HOLDS),
        (holds(about("explore", "reads-small", real), counts={"distinct": 5000}, bounds="b"), Outcome.HOLDS),
        (no(about("explore", "reads-clock-behind", stale), distinct=120), Outcome.REFUTED),
        (holds(about("interleave", "reads-impl-x", real), counts=runs, bounds="b"), Outcome.HOLDS),
        (holds(about("interleave", "reads-impl-x", "execution"), counts=runs, bounds="b"), Outcome.HOLDS),
        (
            holds(about("conform", "reads-driven", "conformance"), counts={"examples": 60}, bounds="b"),
            Outcome.HOLDS,
        ),
        (no(about("mutate", "reads-woken-is-served", "x", Aspect.MUTANT), distinct=3), Outcome.REFUTED),
        (
            holds(
                about("mutate", "reads-x", "implementation-mutants", Aspect.PIN), counts=by_rule, bounds="b"
            ),
            Outcome.HOLDS,
        ),
        (proved(about("prove", "stream-any-size", "stream.x"), counts={"obligations": 4}), Outcome.PROVED),
        *more,
    ]
    judgements = tuple(
        Judgement(
            verdict=one, expected=due, taken_over="2026-01-01" * (one.subject.instance == "stream-any-size")
        )
        for one, due in found
    )
    return RunResult(
        tier="fast",
        seed=0,
        judgements=judgements,
        planned=8,
        done=8,
        sources={real: SourceNote(text="hazard 1, B59; seed 002")},
        task_seconds={"prove/reads-any-size": 4.4, "prove/stream-any-size": 0.0, "explore/reads-small": 9.0},
    )


def shown(
    result: RunResult, tmp_path: Path, capsys: pytest.CaptureFixture[str], *names: str
) -> tuple[int, str]:
    (tmp_path / VERDICTS).write_text(to_json(result), encoding="utf-8")
    status = cli.run(["show", "figures", *names, "--build", str(tmp_path), *MANIFESTS])
    return status, "".join(capsys.readouterr())


def test_each_figure_is_that_of_the_verdicts(tmp_path, capsys):
    status, said = shown(judged(), tmp_path, capsys, "reads")
    assert status == ExitCode.AS_EXPECTED
    rows = dict(line.strip("| ").split(" | ", 1) for line in said.split("| source |")[0].splitlines()[3:-1])
    evidence = rows.pop("their evidence")
    assert rows.pop("findings") == str(
        (ROOT / "models/protocols/reads/manifest/findings.toml").read_text().count(".evidence]")
    )
    assert rows == {
        "---": "---",
        "verdicts": "10, 0 not as expected",
        "obligations proved": "37 (2 of 2 claims)",
        "seconds of the solver": "3.8",
        "seconds of the proofs' checks, wall time": "4.4",
        "states: explore": "5,120 in 2 entries, largest 5,000",
        "states: distribute": "none in this run",
        "states: interpreted": "none in this run",
        "executions: interleave": "40 in 1 entry, largest 40",
        "steps: interleave": "900 in 1 entry, largest 900",
        "examples: conform": "60 in 1 entry, largest 60",
        "mutants by hand": "1 made: 1 killed",
        "mutants of the specification, generated": "none in this run",
        "mutants of the implementation, generated": "9 made: 6 killed, 2 by refusal, 1 survived",
    }
    assert "1 refuted" in evidence
    assert "not judged in this run" in evidence


def test_each_hazard_has_its_verdict_and_judge(tmp_path, capsys):
    """From findings, from mutants, from a claim; what the run did not judge is not green."""
    _, said = shown(judged(), tmp_path, capsys, "reads")
    rows = said.split("| source |")[1].splitlines()
    assert "| hazard 35 | refuted | explore: `reads-clock-behind` |" in rows
    assert "| hazard 1 | proved | prove: `reads-any-size` |" in rows
    assert "| B59 | holds | explore: `reads-small`; interleave: `reads-impl-x` |" in rows
    assert any(row.startswith("| B39 | not judged in this run | `reads-") for row in rows)
    (killed,) = (row for row in rows if row.startswith("| B39 | killed"))
    assert killed == "| B39 | killed | mutate: `reads-woken-is-served` |"
    assert not any("seed" in row.split(" | ")[0] for row in rows)


def test_what_is_not_as_expected_is_in_capitals(tmp_path, capsys):
    alive = about("mutate", "reads-two-pipelines", "x", Aspect.MUTANT)
    stuck = about("explore", "reads-clock-ahead", "reads.guarantees_were_issued")
    wrong = (
        (holds(alive, counts={"distinct": 3}, bounds="b"), Outcome.REFUTED),
        (inconclusive(stuck, reason="time-out"), Outcome.REFUTED),
    )
    status, said = shown(judged(*wrong), tmp_path, capsys, "reads")
    assert status not in (ExitCode.AS_EXPECTED, ExitCode.BAD_INPUT)
    assert "| verdicts | 12, 2 not as expected |" in said
    assert "2 made: 1 killed, 1 HOLDS, expected refuted" in said
    assert "| hazard 33 | HOLDS, expected refuted | mutate: `reads-two-pipelines` |" in said
    assert "| hazard 35 | INCONCLUSIVE, expected refuted | explore: `reads-clock-ahead` |" in said
    assert shown(judged(*wrong), tmp_path, capsys, "stream")[0] == ExitCode.AS_EXPECTED


def test_a_check_that_ended_without_verdicts_counts_for_its_protocol(tmp_path, capsys):
    lost = Unjudged(
        task="explore/reads-pages", exit_code=ExitCode.MISSING_TOOL, message="m", remedy="r", replay="x"
    )
    result = judged().model_copy(update={"unjudged": (lost,)})
    status, said = shown(result, tmp_path, capsys, "reads")
    assert status == ExitCode.MISSING_TOOL
    assert "| verdicts | 10, 1 not as expected |" in said
    assert shown(result, tmp_path, capsys, "stream")[0] == ExitCode.AS_EXPECTED


def test_several_protocols_have_their_sums(tmp_path, capsys):
    _, said = shown(judged(), tmp_path, capsys, "stream", "reads", "stream")
    assert "| figure | stream | reads | together |" in said
    assert "| obligations proved | 4 (1 of 1 claims) | 37 (2 of 2 claims) | 41 (3 of 3 claims) |" in said
    assert "wall time | 0.0, 1 of 1 taken over | 4.4 | 4.4, 1 of 2 taken over |" in said


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["reeds"], ["there is no protocol 'reeds'", "name some of: reads, stream"]),
        (["stream"], ["judged nothing of 'stream'", "run  tidemark verify"]),
        ([], ["Missing argument"]),
    ],
)
def test_a_name_that_says_nothing_is_refused(names, words, tmp_path, capsys):
    every = judged()
    some = every.model_copy(update={"judgements": every.judgements[:3]})
    status, said = shown(some, tmp_path, capsys, *names)
    assert status == ExitCode.BAD_INPUT
    assert all(word in said for word in [*words, "remedy: "]), said


def test_without_a_run_the_remedy_is_to_make_one(tmp_path, capsys):
    assert cli.run(["show", "figures", "reads", "--build", str(tmp_path), *MANIFESTS]) == ExitCode.BAD_INPUT
    said = capsys.readouterr().err
    assert "verdicts.json cannot be read" in said
    assert "run  tidemark verify  first" in said


JUDGES = ("pins", "strength", "interpreted", "explore", "distribute", "interleave")
FIRST = 12


def table(judges=JUDGES) -> Table:
    made = Table(box=box.SIMPLE_HEAD, show_footer=True, pad_edge=False)
    made.add_column("property", footer="over\nin", overflow="fold")
    for name in judges:
        made.add_column(name, footer="37,933,747 states\n2 min 08 s", overflow="fold")
    made.add_row("a_rather_long_name_of_a_property", *("refuted as expected" for _ in judges))
    return made


def fitted(width: int) -> list[str]:
    """The tables side by side in one terminal."""
    found = []
    for numbers in groups(table(), first=FIRST, width=width):
        part = table([JUDGES[number - 1] for number in numbers])
        fit(part, first=FIRST, width=width)
        printed = io.StringIO()
        Console(file=printed, width=width).print(part)
        found.append(printed.getvalue())
    return found


@pytest.mark.parametrize(("width", "tables"), [(40, 6), (60, 2), (80, 2), (100, 1), (200, 1)])
def test_each_judge_is_shown_once_and_no_word_is_broken(width, tables):
    found = fitted(width)
    assert len(found) == tables
    words = " ".join(found).split()
    assert [word for word in words if word in JUDGES] == list(JUDGES)
    assert words.count("37,933,747") == words.count("expected") == len(JUDGES)
    assert max(len(line) for text in found for line in text.splitlines()) <= width


def test_a_table_that_has_room_is_not_folded():
    (found,) = fitted(200)
    assert found.count("refuted as expected") == len(JUDGES)
    assert "a_rather_long_name_of_a_property" in found


def test_widths_are_those_of_words_and_lines():
    column = table().columns[1]
    assert (least_width(column), full_width(column)) == (10, 19)
