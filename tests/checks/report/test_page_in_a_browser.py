"""The page as a reader sees and uses it: on a desk, in the dark, on a phone."""

from pathlib import Path

import pytest

from tests.checks.report.browser import ABSENT, Look, ask, find_browser, screenshot
from tests.checks.report.handover import CLAIM, INSTANCE, result
from tidemark.checks.report.files import write_files
from tidemark.checks.report.page.states import state_graph

pytestmark = pytest.mark.skipif(find_browser() is None, reason=ABSENT)

DESK, DARK, PHONE = Look(1280, 900), Look(1280, 900, dark=True), Look(390, 844)

CONTRAST = """
const light = (colour) => {
  const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((part) => Number(part) / 255)
    .map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
};
const ground = (element) => {
  for (let at = element; at; at = at.parentElement) {
    const colour = getComputedStyle(at).backgroundColor;
    if (colour !== "rgba(0, 0, 0, 0)" && colour !== "transparent") { return colour; }
  }
  return "rgb(255, 255, 255)";
};
const contrast = (element) => {
  const pair = [light(getComputedStyle(element).color), light(ground(element))].sort((a, b) => b - a);
  return (pair[0] + 0.05) / (pair[1] + 0.05);
};
const least = {};
document.querySelectorAll("details").forEach((one) => { one.open = true; });
for (const kind of ["a", "p", "td", "span", "code", "button", "summary", "h2"]) {
  least[kind] = Math.min(...Array.from(document.querySelectorAll(kind)).map(contrast));
}
"""


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build = tmp_path_factory.mktemp("page")
    write_files(result(), build=build, graphs=[("two", state_graph(INSTANCE))])
    return build / "report" / "index.html"


def test_on_a_desk_it_is_searched_filtered_and_stepped_through(index: Path) -> None:
    found = ask(
        index,
        DESK,
        """
        const rows = () => Array.from(document.querySelectorAll("tr[data-text]"))
          .filter((row) => row.dataset.kind && row.checkVisibility())
          .map((row) => row.dataset.text.split(" ")[0]);
        const set = (id, value) => {
          const field = document.getElementById(id);
          field.value = value;
          field.dispatchEvent(new Event("input"));
        };
        const said = { all: rows() };
        set("search", "CLOCK runs"); said.search = rows(); set("search", "");
        set("kind", "invariant"); said.kind = rows(); set("kind", "");
        set("state", "wrong"); said.wrong = rows(); set("state", "");
        said.again = rows();
        const box = document.querySelector(".failure .state");
        const state = () => Object.fromEntries(Array.from(box.querySelectorAll("tr"))
          .map((row) => Array.from(row.children).map((cell) => cell.textContent)));
        said.last = state();
        document.querySelector(".failure .step[data-step='1']").dispatchEvent(new Event("click"));
        said.first = state();
        said.changed = Array.from(box.querySelectorAll(".changed td:first-child"))
          .map((cell) => cell.textContent);
        said.label = box.textContent.includes("state after step 1, take(server=0)");
        said.copies = document.querySelectorAll("button.copy").length;
        said.commands = document.querySelectorAll("code.command").length;
        window.scrollTo(0, 500);
        said.bar = document.querySelector(".bar").getBoundingClientRect().top;
        said.head = getComputedStyle(document.querySelector("table.rows thead th")).position;
        document.querySelector("[data-open=no]").click();
        said.closed = rows();
        location.hash = "#graphs";
        said.circles = document.querySelectorAll("svg.graph circle").length;
        return said;
        """,
    )
    assert found["all"] == found["again"] == [CLAIM, "handover.other", "pinned-counts"]
    assert found["search"] == ["handover.other"]
    assert found["kind"] == [CLAIM]
    assert found["wrong"] == [CLAIM, "pinned-counts"]
    assert found["closed"] == []
    assert (found["first"]["holder[0]"], found["first"]["holder[1]"]) == ("true", "false")
    assert (found["last"]["holder[0]"], found["last"]["holder[1]"]) == ("true", "true")
    assert found["changed"] == ["holder[0]"]
    assert found["label"]
    assert found["copies"] == found["commands"] > 3
    assert found["bar"] == 0, "it stays at the top"
    assert found["head"] == "sticky"
    assert found["circles"] == 18


def test_in_the_dark_everything_can_be_read(index: Path) -> None:
    least = ask(index, DARK, CONTRAST + "return least;")
    assert set(least) == {"a", "p", "td", "span", "code", "button", "summary", "h2"}
    assert {kind: value for kind, value in least.items() if value < 4.5} == {}
    picture = screenshot(index, Look(400, 300, dark=True)).light()
    assert sum(value < 0.3 for value in picture) > 0.8 * len(picture)
    assert max(picture) > 0.5, "and there is something to read"


def test_on_a_phone_nothing_is_cut_off(index: Path) -> None:
    found = ask(
        index,
        PHONE,
        CONTRAST
        + """
        const wide = document.documentElement.scrollWidth;
        const cells = Array.from(document.querySelectorAll("td span.no, td span.yes, code.command"));
        const cut = cells.filter((cell) => {
          const box = cell.getBoundingClientRect();
          return box.right > window.innerWidth || box.left < 0;
        }).map((cell) => cell.textContent);
        const trace = document.querySelector(".failure pre.narrow").getBoundingClientRect();
        const picture = document.querySelector(".failure svg.trace").checkVisibility();
        const broken = getComputedStyle(document.querySelector("p.told")).whiteSpace;
        return { wide, window: window.innerWidth, cells: cells.length, cut, least, trace, picture, broken };
        """,
    )
    assert found["wide"] <= found["window"]
    assert found["cells"] > 5
    assert found["cut"] == []
    assert found["trace"]["right"] <= found["window"] < 2 * found["trace"]["width"]
    assert not found["picture"], "the run as text stands in its place"
    assert found["broken"] == "pre-wrap", "a pin's differences keep their lines"
    assert {kind: value for kind, value in found["least"].items() if value < 4.5} == {}
    picture = screenshot(index, Look(390, 300)).light()
    assert sum(value > 0.8 for value in picture) > 0.7 * len(picture)
    assert min(picture) < 0.5
