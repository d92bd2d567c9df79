"""The documents as a site: what is staged, what is found wrong, and the built one in a browser."""

import functools
import http.server
import json
import re
import threading
import time
from pathlib import Path

import pytest

from tests.checks.report.browser import ABSENT, find_browser
from tests.checks.report.handover import result
from tests.processes import finished
from tests.test_docs import DOCUMENTS
from tidemark.checks.report.site.check import problems
from tidemark.checks.report.site.stage import notebook, stage
from tidemark.models.findings import all_findings
from tidemark.models.rooms import ROOT

SHOWN = ("seed-no-in-flight", "flush.checkpoint_before_earliest_unsynced")
"""The evidence whose run the finding in-flight shows."""
SITE = ROOT / "build" / "site"


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stage")
    refuted = next(one.verdict for one in result().judgements if one.verdict.counterexample)
    stage(folder, {SHOWN: refuted})
    return folder / "pages"


def test_every_document_is_a_page_and_listed(pages: Path) -> None:
    found = {path.relative_to(pages).as_posix() for path in pages.rglob("*.md")}
    assert {*DOCUMENTS, "FINDINGS.md"} <= found
    settings = (pages.parent / "mkdocs.yml").read_text()
    assert set(re.findall(r'"([^"]+\.md)"', settings.partition("nav: ")[2])) == found
    assert (pages.parent / "python/tidemark/spec/language/__init__.py").is_file()


def test_the_gallery_has_every_finding_and_the_runs_that_are_given(pages: Path) -> None:
    gallery = "\n".join(path.read_text() for path in sorted(pages.glob("gallery-*.md")))
    assert sorted(re.findall(r"\{ #([a-z0-9-]+) \}$", gallery, re.MULTILINE)) == sorted(
        one.id for one in all_findings()
    )
    assert gallery.count("<svg") == 1
    assert "`tidemark show findings in-flight`" not in gallery
    assert "`tidemark show findings strictly-greater`" in gallery
    assert "(gallery-flush.md)" in (pages / "FINDINGS.md").read_text()


def test_the_notebook_is_the_page(pages: Path) -> None:
    page = (ROOT / "docs/notebook.md").read_text()
    cells = json.loads((pages / "docs/notebook.ipynb").read_text())["cells"]
    assert cells == notebook(page)["cells"]
    code = [cell for cell in cells if cell["cell_type"] == "code"]
    assert len(code) == page.count("\n>>> ")
    for cell in code:
        compile(cell["source"], "cell", "exec")
    assert any(output["text"] == "True\n" for cell in code for output in cell["outputs"])
    assert cells[0]["source"].startswith("# A notebook")


def test_what_is_wrong_with_a_site(tmp_path: Path) -> None:
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "index.html").write_text('<h1 id="here">x</h1><a href="../a.html">back</a>')
    (tmp_path / "a.html").write_text(
        '<a href="to#here"></a><a href="to/index.html#gone"></a><a href="no.html"></a>'
        '<a href="https://example.org"></a><link rel="stylesheet" href="no.css">'
        '<script src="https://example.org/x.js"></script>'
    )
    assert list(problems(tmp_path)) == [
        "a.html links to no.css, which is not there",
        "a.html loads https://example.org/x.js",
        "a.html links to to/index.html#gone: no such place in that page",
        "a.html links to no.html, which is not there",
    ]
    with pytest.raises(ValueError, match="no page"):
        list(problems(tmp_path / "empty"))


class _Server(http.server.SimpleHTTPRequestHandler):
    """The site, with a picture at the end of its first page that takes seconds: the browser waits for it."""

    def do_GET(self) -> None:
        if self.path.startswith("/asking.html"):
            text = (SITE / "index.html").read_text().replace("</body>", '<img src="slow.png"></body>')
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())
            return
        if self.path == "/slow.png":
            time.sleep(5)
        super().do_GET()

    def log_message(self, *_: object) -> None:
        pass


@pytest.mark.skipif(find_browser() is None, reason=ABSENT)
@pytest.mark.skipif(not (SITE / "index.html").is_file(), reason="there is no site to look at: make docs")
def test_a_reader_finds_a_word(tmp_path: Path) -> None:
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Server, directory=SITE)
    ) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        command = [str(find_browser()), "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
        address = f"http://127.0.0.1:{server.server_port}/asking.html?q=watermark"
        seen = finished([*command, f"--user-data-dir={tmp_path}", address], seconds=120).stdout
        server.shutdown()
    found = re.findall(r'href="[^"]*/([\w/-]+\.html)[^"]*" class="md-search-result__link"', seen)
    assert "gallery-timetick.html" in found
