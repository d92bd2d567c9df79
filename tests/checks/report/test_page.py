"""The page of a run, read as HTML: what is there, once, and where its links lead."""

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree as ET

import pytest

from tests.checks.report.handover import CLAIM, INSTANCE, STEPS, result, run
from tidemark.checks.report.files import write_files
from tidemark.checks.report.forms.diagram import Arrow, Lanes, mermaid, svg
from tidemark.checks.report.html import page, pages
from tidemark.checks.report.matrix import failures
from tidemark.checks.report.page.rows import run_data
from tidemark.checks.report.page.states import state_graph
from tidemark.checks.verdicts.counterexample import Counterexample, Step, show
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.trace import node_sorts
from tidemark.models.rooms import ROOT
from tidemark.spec.language.protocol import resolve


class Elements(HTMLParser):
    """The elements of a page with their attributes, and the text of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def of_class(self, name: str) -> list[dict[str, str]]:
        return [given for _, given in self.found if name in given.get("class", "").split()]


def test_a_failure_is_shown_once_however_many_engines_found_it():
    found = failures(result())
    assert [len(one.judgements) for one in found] == [2, 2]
    assert found[0].lead.verdict.subject.judge == "explore", "the shorter run is shown"
    text = page(result())
    assert len(Elements(text).of_class("failure")) == 2
    assert text.count("<svg") == 1
    assert "found 1 more time<" in text
    for one in found[0].judgements:
        assert text.count(one.replay) == 1


def test_what_is_as_expected_is_not_red_in_a_cell_that_fails():
    text = page(result())
    cell = text[text.index('data-judge="explore"') :]
    cell = cell[: cell.index("</td>")]
    assert '<span class="no">REFUTED, expected holds</span>' in cell
    assert '<span class="yes">holds: 12</span>' in cell


def test_rows_have_kinds_by_which_they_are_filtered():
    rows = [given for tag, given in Elements(page(result())).found if tag == "tr" and "data-kind" in given]
    kinds = {given["data-text"].split()[0]: given["data-kind"] for given in rows}
    assert kinds == {CLAIM: "invariant", "handover.other": "leads_to", "pinned-counts": "pin"}
    states = {given["data-text"].split()[0]: set(given["data-state"].split()) for given in rows}
    assert states[CLAIM] == {"wrong", "proved", "holds", "refuted"}
    assert states["handover.other"] == {"holds"}


def test_a_claim_leads_to_its_line_and_shows_its_text(tmp_path):
    text = page(result(), here=tmp_path / "report")
    links = {given["href"] for tag, given in Elements(text).found if tag == "a" and "#L" in given["href"]}
    (link,) = links
    path, _, line = link.partition("#L")
    file = (tmp_path / "report" / path).resolve()
    assert file == ROOT / "tests" / "protocols" / "small.py"
    assert file.read_text(encoding="utf-8").splitlines()[int(line)].strip() == "def one_holder(s) -> Bool:"
    assert "return forall(s.Server, s.Server, lambda a, b:" in text


def test_every_link_within_the_report_leads_somewhere(tmp_path):
    write_files(result(), build=tmp_path)
    folder = tmp_path / "report"
    texts = {path.name: Elements(path.read_text(encoding="utf-8")) for path in folder.glob("*.html")}
    assert sorted(texts) == ["index.html", "runs-handover.html"]
    ids = {name: {given.get("id") for _, given in page.found} for name, page in texts.items()}
    checked = 0
    for name, page_of in texts.items():
        for tag, given in page_of.found:
            if tag == "a" and not given["href"].startswith("../"):
                target, _, anchor = given["href"].partition("#")
                assert not anchor or anchor in ids[target or name], given["href"]
                checked += 1
            elif tag == "a" and "counterexamples" in given["href"]:
                assert (folder / given["href"]).is_dir()
                checked += 1
    assert checked >= 6


def test_a_page_of_runs_is_written_again_only_if_a_run_is_another(tmp_path, monkeypatch):
    write_files(result(), build=tmp_path)
    path = tmp_path / "report" / "runs-handover.html"
    first = path.stat().st_ino
    write_files(result(), build=tmp_path)
    assert path.stat().st_ino == first
    (at,) = (n for n, one in enumerate(result().judgements) if one.verdict.subject.judge == "mutate")
    changed = result().judgements[at].model_dump()
    changed["verdict"]["counterexample"]["failing"] = "another"
    other = result().model_dump() | {"judgements": [*result().judgements[:at], changed]}
    write_files(type(result()).model_validate(other), build=tmp_path)
    assert path.stat().st_ino != first
    assert "another" in path.read_text(encoding="utf-8")


def test_the_state_after_each_step_can_be_made_from_what_the_page_has():
    trace, _ = run(STEPS)
    data = json.loads(json.dumps(run_data(trace)))
    values = dict(zip(data["fields"], data["first"], strict=True))
    for number, (label, changes) in enumerate(data["steps"], start=1):
        values |= {data["fields"][field]: value for field, value in changes}
        after = trace.states()[number]
        assert label == trace.steps[number - 1].label
        assert values["now"] == show(after["now"])
        holder, offered = after["holder"], after["offered"]
        assert isinstance(holder, tuple)
        assert isinstance(offered, tuple)
        assert [values[f"holder[{at}]"] for at in (0, 1)] == [show(one) for one in holder]
        assert values["offered[0,1]"] == show(offered[1])
    assert len(data["steps"]) == len(trace.steps) == 4
    assert f"{json.dumps(data['fields'], separators=(',', ':'))}" in page(result())


def test_a_parameter_that_names_a_node_is_a_lane_and_two_are_a_message():
    trace, _ = run(STEPS)
    lanes = Lanes(trace)
    assert lanes.names == ["Server 0", "protocol", "Server 1"]
    assert [lanes.of(step) for step in trace.steps] == [0, 1, 2, 2]
    assert [lanes.arrow(step) for step in trace.steps] == [None, None, Arrow(0, 2), Arrow(0, 2)]
    picture = ET.fromstring(svg(trace))
    kinds = [part.get("class") for part in picture.iter()]
    assert kinds.count("message") == kinds.count("head") == 2
    assert kinds.count("lane") == kinds.count("life") == 3
    assert "  L0->>L2: 3. offer(server=0, other=1)\n" in mermaid(trace)


def test_the_sort_of_the_nodes():
    def sorts(protocol):
        return node_sorts(resolve(protocol).trace())

    assert sorts("tests.protocols.small:Handover") == {"Server"}
    assert sorts("tidemark.spec.tso.claims:TsoClaims") == {"Server"}, "calls are no nodes"
    assert sorts("tests.protocols.lights:Lights") == {"Lamp"}, "nothing is called a node: the commonest sort"


@pytest.mark.parametrize(
    ("label", "actor", "wanted"),
    [
        ("deliver node 1#3 store.write", "store", ("node 1", "store", False)),
        ("deliver node 1@2#3 store.write", "store", ("node 1", "store", False)),
        ("reply node 1#3 store.write", "node 1", ("store", "node 1", False)),
        ("lose reply node 1#3 store.write", "node 1", ("store", "node 1", True)),
        ("drop node 1#3 store.write", "node 1", ("node 1", "store", True)),
        ("resume upload node 1#4", "node 1", None),
    ],
)
def test_a_message_of_the_implementation_is_an_arrow(label, actor, wanted):
    step = Step(action=label, actor=actor, after={"n": 1})
    trace = Counterexample(initial={"n": 0}, steps=(step,), failing="n == 0", token="t")
    lanes = Lanes(trace)
    arrow = lanes.arrow(step)
    if wanted is None:
        assert arrow is None
        assert lanes.names == [actor]
        return
    assert arrow is not None
    assert (lanes.names[arrow.source], lanes.names[arrow.target], arrow.lost) == wanted
    assert ("--x" in mermaid(trace)) is wanted[2]


def test_mermaid_escapes_each_sign_once():
    step = Step(action="deliver node 1#3 store.write; now", actor="store", after={"n": 1})
    text = mermaid(Counterexample(initial={"n": 0}, steps=(step,), failing="n == 0", token="t"))
    assert "deliver node 1#35;3 store.write#59; now" in text


class TestStateGraph:
    def test_every_state_and_every_pair_of_neighbours(self):
        picture = ET.fromstring(state_graph(INSTANCE))
        circles = [part for part in picture.iter() if part.tag.endswith("circle")]
        assert len(circles) == 18
        assert [part.get("class") for part in circles].count("node first") == 1
        assert sum("breaks" in part.get("class", "") for part in circles) > 0
        assert len({(part.get("cx"), part.get("cy")) for part in circles}) == 18, "none hides another"
        titles = [part.text or "" for part in picture.iter() if part.tag.endswith("title")]
        assert any("accept(0, 1)" in title for title in titles)
        assert any(f"breaks {CLAIM}" in title for title in titles)

    def test_it_is_never_cut(self):
        with pytest.raises(BadInputError, match="more than 17 states"):
            state_graph(INSTANCE, limit=17)


def test_the_pages_need_nothing_from_elsewhere():
    for one in pages(result()):
        text = one.text()
        elements = Elements(text)
        assert not [
            given for tag, given in elements.found if "src" in given or tag in ("link", "iframe", "img")
        ]
        assert "http" not in text
        assert not re.search(r"url\((?!#)", text)
        assert not [given for tag, given in elements.found if given.get("href", "").startswith("/")]
