"""Files and screens: complete, comparable between runs, red where the result is red."""

import io
import json
import re
from xml.etree import ElementTree as ET

import pytest
from rich.console import Console

from tests.checks.gate.test_gate import instead, judged, no, raising
from tests.checks.gate.toy import FORWARD, REACHED, REFERENCE, SAFE, fakes, manifest, trace
from tests.manifests import manifests
from tidemark.checks.gate.run import run
from tidemark.checks.gate.settings import Settings
from tidemark.checks.report.console import show_result
from tidemark.checks.report.files import VERDICTS, read_result, to_json, to_junit, write_files
from tidemark.checks.report.forms.bundle import headline
from tidemark.checks.report.html import page, pages
from tidemark.checks.report.live import BarLive, Pace, PlainLive, live, progress_text, task_line
from tidemark.checks.report.matrix import Cell, Row, amount, brief, duration, matrix, total_amount
from tidemark.checks.verdicts.commands import PARTIAL
from tidemark.checks.verdicts.errors import MissingToolError
from tidemark.checks.verdicts.plan import plan
from tidemark.checks.verdicts.result import source_note
from tidemark.checks.verdicts.verdict import (
    Aspect,
    Judgement,
    Outcome,
    Subject,
    amended,
    holds,
    inconclusive,
    refuted,
)
from tidemark.models.manifest import Tier, is_on_spark


def red(tmp_path):
    """One property refuted, one undecided, one judge without its tool."""
    missing = raising(MissingToolError("no Z3", remedy="install it"))
    return judged(
        tmp_path,
        tier=Tier.FAST,
        explore=instead(FORWARD, lambda s: amended(no(s), replay="tidemark replay abc")),
        prove=missing,
    )


def unsure(tmp_path):
    return judged(
        tmp_path, tier=Tier.FAST, explore=instead(SAFE, lambda s: inconclusive(s, reason="time-out"))
    )


def text_of(result, tmp_path, width=160):
    screen = io.StringIO()
    show_result(result, Console(file=screen, width=width), build=tmp_path, files=[])
    return screen.getvalue()


def with_copies(result, protocols):
    def copy(judgement, protocol):
        subject = judgement.verdict.subject.model_copy(update={"protocol": protocol})
        return judgement.model_copy(
            update={"verdict": judgement.verdict.model_copy(update={"subject": subject})}
        )

    more = [copy(judgement, protocol) for protocol in protocols for judgement in result.judgements]
    return result.model_copy(update={"judgements": (*result.judgements, *more)})


class TestJson:
    def test_two_runs_differ_only_in_what_is_measured(self, tmp_path):
        one, two = (json.loads(to_json(judged(tmp_path))) for _ in range(2))
        assert one.pop("measured")["tasks"].keys() == two.pop("measured")["tasks"].keys()
        assert one == two

    def test_nothing_measured_stands_elsewhere(self, tmp_path):
        document = json.loads(to_json(red(tmp_path)))
        document.pop("measured")
        assert "seconds" not in json.dumps(document)
        assert str(tmp_path) not in json.dumps(document)

    @pytest.mark.parametrize("make", [judged, red, unsure])
    def test_there_and_back(self, tmp_path, make):
        result = make(tmp_path)
        write_files(result, build=tmp_path)
        again = read_result(tmp_path / VERDICTS)
        assert again.judgements == tuple(again.judgements)
        assert to_json(again) == to_json(read_result(tmp_path / VERDICTS))
        assert json.loads(to_json(again)) == json.loads(to_json(result))
        assert again.exit_code is result.exit_code

    def test_a_finished_run_leaves_no_partial_file(self, tmp_path):
        result = judged(tmp_path)
        assert (tmp_path / PARTIAL).exists()
        write_files(result, build=tmp_path)
        assert not (tmp_path / PARTIAL).exists()


class TestJunit:
    def test_green(self, tmp_path):
        root = ET.fromstring(to_junit(judged(tmp_path)).encode())
        assert {suite.get("name") for suite in root} == {"prove", "explore", "mutate"}
        assert root.findall(".//failure") == []
        assert all(int(suite.attrib["tests"]) == len(suite) > 0 for suite in root)

    def test_red(self, tmp_path):
        root = ET.fromstring(to_junit(red(tmp_path)).encode())
        (failure,) = root.findall(".//failure")
        assert failure.get("type") == "UNEXPECTED_REFUTATION"
        assert "tidemark replay abc" in str(failure.text)
        assert "lit[0]: false -> true" in str(failure.text)
        (error,) = root.findall(".//error")
        assert "no Z3" in str(error.text)

    def test_no_decision_is_an_error(self, tmp_path):
        root = ET.fromstring(to_junit(unsure(tmp_path)).encode())
        assert [error.get("type") for error in root.findall(".//error")] == ["INCONCLUSIVE"]

    def test_a_stopped_run_has_an_error(self, tmp_path):
        root = ET.fromstring(to_junit(judged(tmp_path, prove=raising(KeyboardInterrupt))).encode())
        assert [error.get("type") for error in root.findall(".//error")] == ["STOPPED"]


class TestTable:
    def test_property_by_judge(self, tmp_path):
        arranged = matrix(judged(tmp_path))
        assert arranged.judges == ("prove", "explore")
        rows = {row.property_id: row for row in arranged.rows}
        assert list(rows)[:3] == [SAFE, FORWARD, REACHED]
        assert rows[SAFE].cells["explore"].lines() == ["holds: 10", "refuted as expected"]
        assert rows[SAFE].cells["prove"].lines() == ["proved: 2"]
        assert rows[SAFE].description == "At most one lamp is lit."
        assert arranged.work == {"prove": "6 obligations", "explore": "26 states"}

    def test_rows_that_say_the_same_are_one_row(self):
        def row(claim, ok):
            subject = Subject(protocol="p", property_id=claim, judge="explore", instance="i")
            expected = Outcome.HOLDS if ok else Outcome.REFUTED
            verdict = holds(subject, counts={"distinct": 5}, bounds="b")
            return Row("p", claim, "", {"explore": Cell((Judgement(verdict=verdict, expected=expected),))})

        names = ["a", "b", "c", "d", "vacuity.x", "vacuity.y", "vacuity.z"]
        rows = [row(name, name not in ("d", "vacuity.z")) for name in names]
        shown = brief(rows)
        assert [r.property_id for r in shown] == ["a and 2 more", "d", "vacuity.z", "vacuous, as listed: 2"]
        assert shown[-1].cells["explore"].lines() == ["holds: 5 (2)"]
        assert [r.ok for r in shown] == [True, False, False, True]

    def test_each_protocol_has_its_own_rows_under_its_name(self, tmp_path):
        result = judged(tmp_path)
        both = with_copies(result, ["locks"])
        protocols = [row.protocol for row in matrix(both).rows]
        assert protocols == sorted(protocols)
        assert set(protocols) == {"lights", "locks"}
        names = [line.split()[0] for line in text_of(both, tmp_path).splitlines() if line.strip()]
        assert names.index("lights") < names.index("locks")
        assert "locks" not in text_of(result, tmp_path)
        assert re.findall(r"<summary><strong>(\w+)", page(both)) == ["lights", "locks"]

    def test_of_many_protocols_each_has_a_line_and_each_red_property(self, tmp_path):
        names = ["locks", "queues", "rings", "trees"]
        lines = text_of(with_copies(judged(tmp_path), names), tmp_path).splitlines()
        numbers = {words[0]: words[1:] for line in lines if (words := line.split())}
        assert all(numbers[name] == ["5", "11"] for name in ["lights", *names])
        assert SAFE not in "".join(lines)
        text = text_of(with_copies(red(tmp_path), names), tmp_path)
        assert text.count("REFUTED, expected holds") == 1 + len(names)

    def test_green_screen(self, tmp_path):
        text = text_of(judged(tmp_path), tmp_path)
        assert "mutants: 1 of 1 killed" in text
        assert text.rstrip().endswith(
            "All 11 verdicts of 4 checks are as expected, 1 of 1 planted faults found."
        )
        assert "exit status" not in text

    def test_red_screen(self, tmp_path):
        text = text_of(red(tmp_path), tmp_path)
        assert "REFUTED, expected holds" in text
        assert "replay: tidemark replay abc" in text
        assert "lit[0]: false -> true" in text
        assert "NOT JUDGED  prove/any-size: no Z3" in text
        assert "exit status 6" in text

    @pytest.mark.parametrize(
        ("entry", "claim", "text"),
        [
            ("every-place", "grant/guard1/dropped", "mutant grant/guard1/dropped survived on every-place"),
            ("forgetful", SAFE, f"mutant forgetful survived: {SAFE} does not refute it"),
        ],
    )
    def test_a_survivor_is_called_one(self, entry, claim, text):
        subject = Subject(
            protocol="p", property_id=claim, judge="mutate", instance=entry, aspect=Aspect.MUTANT
        )
        assert headline(holds(subject, counts={"distinct": 5}, bounds="Node 2")) == f"{text} within Node 2"

    def test_every_failure_shows_a_replay(self, tmp_path):
        for result in (red(tmp_path), unsure(tmp_path)):
            text = text_of(result, tmp_path)
            failures = len(result.failures) + len(result.unjudged)
            assert len(re.findall(r"replay: tidemark ", text)) == failures > 0


class TestPage:
    @pytest.mark.parametrize("make", [judged, red, unsure])
    def test_self_contained(self, tmp_path, make):
        text = page(make(tmp_path))
        assert not re.search(r"(src|href)=\"(?!\.\./|#|runs-)", text)
        assert "src=" not in text
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")

    def test_the_slowest_checks_are_named(self, tmp_path):
        result = judged(tmp_path)
        text = page(result)
        assert len(result.slowest()) > 1
        for name, seconds in result.slowest():
            assert f"{name} {duration(seconds)}" in text

    def test_red_page(self, tmp_path):
        text = page(red(tmp_path))
        assert "What is not as expected" in text
        assert "<svg" in text
        assert "tidemark replay abc" in text
        assert "Z3" in text

    def test_values_are_escaped(self, tmp_path):
        def no(subject):
            bad = trace(failing="<script>alert(1)</script>")
            return refuted(subject, counts={"distinct": 10}, counterexample=bad, replay="<img>", reason="<i>")

        text = page(judged(tmp_path, tier=Tier.FAST, explore=instead(FORWARD, no)))
        assert "alert(1)" in text
        assert "<script>alert" not in text
        assert "<img" not in text
        assert "<i>" not in text


class TestSources:
    """Where a property comes from is said with the place where its labels are explained."""

    TEXT = 'seed 002, tick: "why"; hazards 5, 6'
    LINKS = ("docs/sources.md#seed-002-tick", "docs/sources.md#hazard-5", "docs/sources.md#hazard-6")

    def result(self, tmp_path):
        own = source_note(self.TEXT, protocol="tidemark.spec.tso.claims:TsoClaims")
        assert own.links == self.LINKS
        foreign = source_note("hazard 7", protocol=REFERENCE)
        assert foreign.line(SAFE) == f"source of {SAFE}: hazard 7"
        return red(tmp_path).model_copy(update={"sources": {FORWARD: own, SAFE: foreign}})

    def test_on_the_page(self, tmp_path):
        text = page(self.result(tmp_path))
        shown = (
            '<a href="#seed-002-tick">seed 002, tick</a>: &#34;why&#34;; '
            '<a href="#hazard-5">hazards 5</a>, <a href="#hazard-6">6</a>'
        )
        assert text.count(shown) == 2  # in the table and with the counterexample
        for link in self.LINKS:
            assert text.count(f'id="{link.partition("#")[2]}"') == 1
            assert text.count(f"<code>{link}</code>") == 1
        assert "source: hazard 7" in text
        assert "hazard-7" not in text

    def test_no_section_without_sources(self, tmp_path):
        assert 'id="sources"' not in page(red(tmp_path))

    def test_in_text(self, tmp_path):
        result = self.result(tmp_path)
        line = f"source of {FORWARD}: {self.TEXT} ({', '.join(self.LINKS)})"
        assert line in text_of(result, tmp_path)
        assert line in "".join(ET.fromstring(to_junit(result)).itertext())
        write_files(result, build=tmp_path)
        (trace_file,) = tmp_path.glob(f"counterexamples/*{FORWARD}/trace.txt")
        assert trace_file.read_text(encoding="utf-8").splitlines()[-1] == f"  {line}"
        assert read_result(tmp_path / VERDICTS).sources == result.sources

    def test_a_run_collects_them(self, tmp_path):
        """The mutant's source is in the manifest; the protocol of these tests says none."""
        found = {name: note.text for name, note in judged(tmp_path).sources.items()}
        assert found == {"careless-mutant": "a lamp forgotten"}


class TestLive:
    def screen(self, *, terminal):
        return Console(file=io.StringIO(), width=140, force_terminal=terminal)

    def go(self, console, tmp_path, **answers):
        tasks = plan([manifest()], tier=Tier.FULL)
        settings = Settings(build=tmp_path)
        run(tasks, registry=fakes(**answers), settings=settings, reporter=live(console))
        return console.file.getvalue()

    def test_one_line_a_check(self, tmp_path):
        console = self.screen(terminal=False)
        assert isinstance(live(console), PlainLive)
        lines = self.go(console, tmp_path).splitlines()
        assert len(lines) == 4
        assert lines[1].startswith("[2/4] ok    explore/two-lamps")
        assert "4 hold · 10 states" in lines[1]
        assert "refuted as expected" in lines[2]

    def test_bad_news_in_its_line(self, tmp_path):
        def missing(entry, context):
            raise MissingToolError("no Java", remedy="install one")

        lines = self.go(
            self.screen(terminal=False), tmp_path, explore=missing, prove=lambda e, c: []
        ).splitlines()
        assert "FAIL  prove/any-size" in lines[0]
        assert "1 NOT as expected" in lines[0]
        assert lines[1].endswith("no Java")

    def test_a_bar_on_a_terminal(self, tmp_path):
        console = self.screen(terminal=True)
        assert isinstance(live(console), BarLive)
        text = self.go(console, tmp_path)
        assert text.count("ok    ") == 4

    def test_a_long_check_speaks_now_and_then(self):
        console, now = self.screen(terminal=False), [0.0]
        reporter = PlainLive(console, clock=lambda: now[0])
        tasks = plan([manifest()], tier=Tier.FAST)
        reporter.begin(tasks)
        progress = reporter.started(tasks[0])
        for second in range(40):
            now[0] = float(second)
            progress(second * 100, total=6000, unit="states", note=f"depth {second}")
        lines = console.file.getvalue().splitlines()
        assert len(lines) == 2
        assert lines[0].endswith("1,500 of 6,000 states, 100/s, about 45 s left, depth 15")


class TestNumbers:
    @pytest.mark.parametrize(
        ("seconds", "text"),
        [(0.04, "0.0 s"), (9.96, "10.0 s"), (12.4, "12 s"), (185, "3 min 05 s"), (3720, "1 h 02 min")],
    )
    def test_durations(self, seconds, text):
        assert duration(seconds) == text

    def test_amounts(self):
        assert amount({"depth": 3, "distinct": 1}) == "1 state"
        assert amount({"depth": 3}) == ""
        found = total_amount([{"distinct": 1200}, {"distinct": 34}, {"executions": 2}])
        assert found == "1,234 states, 2 executions"

    def test_progress_without_a_total(self):
        assert progress_text(50, total=None, unit="states", note="", rate=5.0) == "50 states, 5.0/s"
        assert progress_text(0, total=9, unit="", note="", rate=None) == "0 of 9"

    def test_what_a_start_takes_is_not_in_the_rate(self):
        """A session of Spark starts for ten seconds, then there are 100 states a second."""
        now = [0.0]
        pace = Pace(lambda: now[0])
        assert pace.rate(0) is None
        rates = []
        for second in range(11, 14):
            now[0] = float(second)
            rates.append(pace.rate((second - 11) * 100))
        assert rates == [None, 100.0, 100.0]


def test_the_page_shows_a_finding_with_a_link_to_its_run(tmp_path):
    """A finding appears if the run decided all that it rests on."""
    title = "The last timestamp of the background may be noted only after its message is appended."
    subject = Subject(
        protocol="ddl",
        judge="mutate",
        instance="ddl-noted-before-append",
        property_id="ddl.minimum_is_below_all_to_come",
        aspect=Aspect.MUTANT,
    )
    verdict = refuted(subject, counts={"distinct": 10}, counterexample=trace(), replay="tidemark replay abc")
    judgement = Judgement(verdict=verdict, expected=Outcome.REFUTED)
    before = judged(tmp_path)
    after = before.model_copy(update={"judgements": (*before.judgements, judgement)})
    assert title not in page(before)
    text = page(after)
    section = text[text.index(title) : text.index('id="mutants"')]
    link = re.search(r'<a href="(runs-ddl\.html)#(run-[^"]+)">refuted</a>', section)
    assert link is not None
    others = {one.name: one.text() for one in pages(after)}
    assert f'<details id="{link[2]}"' in others[link[1]]
    assert "docs/sources.md#hazard-53" in text


def test_a_line_says_that_the_tasks_of_spark_did_the_work():
    tasks = plan([manifests()["ids"]], tier=Tier.FULL)
    lines = [task_line(task, (), seconds=2.0) for task in tasks if is_on_spark(task.entry)]
    assert lines
    assert all(line == "2.0 s on Spark" for line in lines)
    assert task_line(tasks[0], (), seconds=2.0) == "2.0 s"
