"""FINDINGS.md is what the command prints; failures, pinned counts, slips and places of mutants are shown."""

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from tests.checks.cli.test_mistakes import WHOLE, folder_with
from tests.checks.gate.toy import trace
from tests.manifests import manifests
from tidemark.checks.cli import app as cli
from tidemark.checks.inputs.manifests import loaded
from tidemark.checks.mutation.implementation.fate import BY, FATE, REVIEWED
from tidemark.checks.report.console import show_result
from tidemark.checks.report.findings import Book, books, findings_text, found_in, sources_text
from tidemark.checks.report.page.rows import Slips, slips
from tidemark.checks.report.places import left_out, places, places_text
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.result import RunResult
from tidemark.checks.verdicts.verdict import (
    NOT_GREEN,
    Aspect,
    Judgement,
    Outcome,
    Subject,
    Verdict,
    holds,
    inconclusive,
    refuted,
)
from tidemark.models.findings import Evidence, Finding
from tidemark.models.manifest import Manifest

DOCUMENT = Path(__file__).parents[3] / "FINDINGS.md"


@pytest.fixture(scope="module", name="known")
def known_manifests() -> list[Manifest]:
    return loaded()


def test_the_document_is_what_the_command_prints(known: list[Manifest]) -> None:
    """A verdict in it is what the manifest expects, which the gate compares."""
    assert DOCUMENT.read_text(encoding="utf-8") == findings_text(known)


def test_the_index_has_a_row_for_every_finding_and_no_dead_link(known: list[Manifest]) -> None:
    text = findings_text(known)
    ids = [finding.id for book in books(known) for finding in book.findings]
    assert len(ids) > 50
    assert re.findall(r'^\| <a id="([^"]+)"></a>', text, flags=re.MULTILINE) == ids
    assert set(re.findall(r"\]\(#([^)]+)\)", text)) <= set(ids)
    row = next(line for line in text.splitlines() if 'id="in-flight"' in line)
    assert row.endswith(" | refuted, proved |")


def test_sources_are_printed_with_their_findings_and_mutants(known: list[Manifest]) -> None:
    row = next(line for line in sources_text(known).splitlines() if "sources.md#hazard-15)" in line)
    assert "`in-flight`" in row


def test_a_finding_is_shown_without_a_run_of_the_gate_and_from_what_it_keeps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at = ["--manifest", "suite", "--build", str(tmp_path)]
    show = ["show", "findings", "paused-proxy-loses-rows", *at]
    assert cli.run(show) == ExitCode.AS_EXPECTED
    first = capsys.readouterr()
    (entry,) = set(re.findall(r"keeps no verdict of (\S+), as it is now: its run is searched", first.err))
    assert not (tmp_path / "cache").exists()
    told, run = first.out.split(f"The shortest run of `{entry}`:\n")
    assert f"**refuted** by the instance `{entry}` in 8 steps" in told
    assert "holds in `paused-no-flush`, as it is expected: no verdict is kept here" in told
    assert "\nTo judge all of it:" in run
    commands = [line.split()[1:] for line in run.splitlines() if line.startswith("    tidemark verify ")]
    for command in commands:
        assert cli.run(command) == ExitCode.AS_EXPECTED
    capsys.readouterr()
    monkeypatch.setattr("tidemark.checks.explore.judge.explore", None)
    assert cli.run(show) == ExitCode.AS_EXPECTED
    again = capsys.readouterr()
    assert (again.err, "no verdict is kept" in again.out) == ("", False)
    told, rest = again.out.split("\nKept since ")
    assert told.split(f"The shortest run of `{entry}`:\n")[1] == run.split("\nTo judge")[0]
    assert "To run it again:" in rest


def test_a_terminal_is_shown_no_marks_of_markdown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert cli.run(["show", "findings", "paused-proxy-loses-rows"]) == ExitCode.AS_EXPECTED
    text = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert "refuted by the instance paused-smallest in 8 steps" in " ".join(text.split())
    assert re.search(r"\*\*|`|^#", text, re.MULTILINE) is None


def test_a_terminal_shows_titles_and_words_find_some(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("tidemark.checks.cli.show.loaded", None)
    assert cli.run(["show", "findings"]) == ExitCode.AS_EXPECTED
    text = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    assert "  in-flight  The channel checkpoint must count" in text
    assert max(map(len, text.splitlines())) <= 60
    assert "|" not in text
    assert cli.run(["show", "findings", "GetCheckpoint", "loses"]) == ExitCode.AS_EXPECTED
    assert capsys.readouterr().out.startswith("in-flight ")


def test_evidence_of_the_implementation_names_the_command(known: list[Manifest]) -> None:
    """No search of states decides it: a program that runs the code does."""
    book, finding = found_in(known, "segments-recovery")
    text = "\n".join(book.section(finding))
    assert "**refuted** by `tidemark mutate segments-impl-the-recovery-has-no-pin`" in text


def test_an_unknown_finding(known: list[Manifest]) -> None:
    with pytest.raises(BadInputError, match="there is no finding 'in-fligth'") as caught:
        found_in(known, "in-fligth")
    assert "did you mean 'in-flight'" in caught.value.remedy


def _finding(entry: str, claim: str, *, shown: bool) -> Finding:
    evidence = Evidence(entry=entry, claim=claim, shown=shown)
    return Finding(id="odd", title="t", source="s", text="x", evidence=(evidence,))


@pytest.mark.parametrize(
    ("entry", "claim", "message"),
    [
        ("tini", "flush.stored_once", "not in the manifest"),
        ("tiny", "flush.stored_once", "there is none"),
        ("seed-not-strict-any-size", "flush.reset_only_by_greater_checkpoint", "does not judge"),
        ("save-appends", "flush.nothing_lost", "does not judge"),
        ("calm", "flush.flush_completes", "rests on the size"),
    ],
)
def test_evidence_that_does_not_fit_is_refused(
    entry: str, claim: str, message: str, known: list[Manifest]
) -> None:
    flush = next(book for book in books(known) if book.manifest.name == "flush")
    finding = _finding(entry, claim, shown=True)
    with pytest.raises(BadInputError, match=message):
        Book(flush.manifest, ()).expected(finding, finding.evidence[0])
    with pytest.raises(BadInputError, match=message):
        list(Book(flush.manifest, ()).section(finding))


def judged(verdict: Verdict, expected: Outcome = Outcome.HOLDS) -> Judgement:
    return Judgement(verdict=verdict, expected=expected)


def about(claim: str, aspect: Aspect = Aspect.PROPERTY) -> Subject:
    return Subject(protocol="p", property_id=claim, judge="j", instance="i", aspect=aspect)


def pin(number: int) -> Judgement:
    subject = about(f"pin-{number}", Aspect.PIN)
    return judged(refuted(subject, counts={"pins": 1}, reason="no count is pinned", replay="x"))


SURVIVOR = judged(
    holds(about("survivor", Aspect.MUTANT), counts={"distinct": 3}, bounds="b"), Outcome.REFUTED
)
RUN = judged(refuted(about("refinement"), counts={"distinct": 3}, counterexample=trace(), replay="x"))


def test_the_most_telling_failure_is_first_and_all_are_there(tmp_path):
    pins = [pin(number) for number in range(60)]
    result = RunResult(tier="fast", seed=0, judgements=(*pins, SURVIVOR, RUN), planned=1, done=1)
    found = [one.verdict.subject.property_id for one in result.failures[:3]]
    assert found == ["refinement", "survivor", "pin-0"]
    screen = io.StringIO()
    show_result(result, Console(file=screen, width=200), build=tmp_path, files=[])
    text = screen.getvalue()
    assert text.index("FAIL  expected holds: refinement") < text.index("FAIL  expected refuted: ")
    assert "54 more failures:" in text
    assert "  expected holds: pin-6 is refuted by j on i: no count is pinned" in text
    assert "... and 14 more, which the files have" in text
    assert "NOT as expected: 62 of 62 results" in text


def test_where_the_runs_lie_that_have_to_be():
    result = RunResult(
        tier="fast", seed=0, judgements=(judged(RUN.verdict, Outcome.REFUTED),), planned=1, done=1
    )
    screen = io.StringIO()
    show_result(result, Console(file=screen, width=200), build=Path("out"), files=[Path("out/a.json")])
    assert "files: out/a.json; out/counterexamples has 1 runs that are expected" in screen.getvalue()


def test_a_failure_that_several_engines_find_is_shown_once(tmp_path):
    def by(judge: str, instance: str = "i") -> Judgement:
        subject = Subject(
            protocol="p", property_id="p.claim", judge=judge, instance=instance, aspect=Aspect.PROPERTY
        )
        again = f"tidemark replay {judge}-{instance}"
        return judged(refuted(subject, counts={"distinct": 3}, counterexample=trace(), replay=again))

    found = (by("explore"), by("interpreted"), by("distribute", "larger"), pin(0))
    result = RunResult(tier="fast", seed=0, judgements=found, planned=1, done=1)
    screen = io.StringIO()
    show_result(result, Console(file=screen, width=200), build=tmp_path, files=[])
    text = screen.getvalue()
    assert text.count("FAIL  expected") == 2
    assert text.count("bundle: ") == 1
    assert (
        f"also by interpreted on i in {len(trace().steps)} steps; replay: tidemark replay interpreted-i"
        in text
    )
    assert text.count("replay: ") == 4, "each verdict can be replayed"
    assert "NOT as expected: 4 of 4 results" in text


def test_what_follows_from_one_cause_is_told_once_and_what_is_about_data_is_said(tmp_path):
    def undecided(mutant: str) -> Judgement:
        reason = f"{NOT_GREEN}: p.rule is refuted"
        return judged(inconclusive(about(mutant, Aspect.MUTANT), reason=reason), Outcome.REFUTED)

    rule = judged(refuted(about("p.rule"), counts={"distinct": 3}, counterexample=trace(), replay="x"))
    safe = judged(holds(about("p.nothing_lost"), counts={"distinct": 3}, bounds="b"))
    found = (*(undecided(f"m{number}") for number in range(31)), pin(0), rule, safe)
    result = RunResult(tier="fast", seed=0, judgements=found, planned=1, done=1, frames=("p.rule",))
    screen = io.StringIO()
    show_result(result, Console(file=screen, width=200), build=tmp_path, files=[])
    text = screen.getvalue()
    assert text.index("FAIL  expected holds: p.rule") < text.index("pin-0") < text.index("NOT JUDGED")
    assert text.count(NOT_GREEN) == 1
    assert f"{NOT_GREEN}: p.rule is refuted: 31 mutants not judged" in text
    assert "NOT as expected: 33 of 34 results" in text
    assert "All claims about data that were judged are as expected." in text
    assert "frame conditions (a step's own rule, restated) 1, " in text
    assert "mutants not judged for that 31." in text
    worse = (
        *found,
        judged(refuted(about("p.data"), counts={"distinct": 3}, counterexample=trace(), replay="x")),
    )
    told = result.model_copy(update={"judgements": worse})
    assert told.failures[0].verdict.subject.property_id == "p.data"
    assert "are as expected" not in told.summary()


BROKEN = ExitCode.UNEXPECTED_REFUTATION
UNPINNED = ExitCode.VACUOUS_OR_UNPINNED
FOUND = 'expect = { every = "holds", refuted = ["doors.all_shut"] }'


@pytest.mark.parametrize(
    ("expect", "counts", "status", "words"),
    [
        (FOUND, "", ExitCode.AS_EXPECTED, ""),
        (FOUND, "distinct = 7", UNPINNED, "NOT as pinned"),
        (FOUND, "distinct = 2, counterexample_steps = 1", ExitCode.AS_EXPECTED, "as pinned"),
        ('expect = { every = "holds" }', "distinct = 2, counterexample_steps = 1", BROKEN, "as pinned"),
        ('expect = { every = "holds" }', "counterexample_steps = 1", BROKEN, ""),
    ],
)
def test_counts(expect, counts, status, words, tmp_path, capsys):
    """The last one: steps of a run that nobody expects are not compared with those of the expected one."""
    manifest = WHOLE.replace('expect = { every = "holds" }', f"{expect}\ncounts = {{ {counts} }}")
    _, path = folder_with(tmp_path, manifest=manifest)
    words_of = ["interpreted", "--manifest", str(path), "--build", str(tmp_path / "build")]
    assert cli.run(words_of) == status
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines()
            if line.strip().startswith("pinned-")}  # fmt: skip
    assert rows["pinned-claims"].strip() == "as pinned"
    assert rows.get("pinned-counts", "").strip() == words


def _tried(mutant: str, *notes: str) -> Judgement:
    subject = Subject(protocol="p", property_id=mutant, judge="mutate", instance="places", aspect=Aspect.SLIP)
    killed = notes[0].startswith(f"{FATE}killed")
    verdict = (
        refuted(subject, counts={"executions": 1}, reason="it is", replay="r", notes=notes)
        if killed
        else holds(subject, counts={"executions": 1}, bounds="one entry", replay="r", notes=notes)
    )
    return Judgement(verdict=verdict, expected=Outcome.REFUTED if killed else Outcome.HOLDS)


def test_each_file_has_a_row_with_fates_and_killers():
    found = slips(
        [
            _tried("b.py:f/flipped@1", f"{FATE}killed{BY}life"),
            _tried("a.py:f/flipped@1", f"{FATE}killed{BY}life"),
            _tried("a.py:f/flipped@2", f"{FATE}survived", f"{REVIEWED}it is set before it is read"),
            _tried("a.py:f/flipped@3", f"{FATE}killed{BY}driven"),
            _tried("a.py:f/flipped@4", f"{FATE}killed{BY}life"),
        ]
    )
    assert found == [
        Slips(file="a.py", tried=4, fates="killed 3, survived 1", killers="life 2, driven 1", reviewed=1),
        Slips(file="b.py", tried=1, fates="killed 1", killers="life 1", reviewed=0),
    ]


def test_no_trial_no_table():
    assert slips([]) == []


def test_the_table_has_a_row_for_each_entry():
    rows = [line for line in places_text([*manifests().values()]).splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(places([*manifests().values()]))


def test_no_mutant_is_counted_twice():
    found = places([*manifests().values()])
    assert len(found) > 20
    for place in found:
        assert 0 <= place.not_seen <= 0.02 * (place.made - place.equivalent), place
        # A step without an end shows as such in any host, and no claim is asked after it.
        assert 0.9 <= place.share <= 1.0, place


def test_a_file_is_tried_once_or_told_to_be_left_out():
    tried = [file for place in places([*manifests().values()]) for file in place.files]
    assert len(tried) == len(set(tried))
    rest = left_out([*manifests().values()])
    assert rest.keys().isdisjoint(tried)
    assert "proxy/ids.py" in tried
    assert all(number > 0 for number in rest.values())
