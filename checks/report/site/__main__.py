"""``make docs``: build the site from the documents and the last run, and check it."""

import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from tidemark.checks.report.files import read_result
from tidemark.checks.report.site.check import problems
from tidemark.checks.report.site.gallery import Verdicts
from tidemark.checks.report.site.stage import stage
from tidemark.models.rooms import ROOT

BUILD = ROOT / "build"


def verdicts_of(build: Path) -> Verdicts:
    """Those of the last run; none if it cannot be read."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        found = (one.verdict for one in read_result(build / "verdicts.json").judgements)
        return {(one.subject.instance, one.subject.property_id): one for one in found}
    return {}


def main() -> int:
    """Build, check, and say where it lies. The exit status: 1 if something in it is wrong."""
    verdicts = verdicts_of(BUILD)
    site, work = BUILD / "site", BUILD / "site-pages"
    stage(work, verdicts)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(site)]
    # What MkDocs says of its next version is no matter of who builds this one.
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [*command, "--config-file", str(work / "mkdocs.yml")],
        check=False, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        print(done.stdout, done.stderr, sep="\n")
        return done.returncode
    wrong = list(problems(site))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    runs = sum(text.count('<svg class="trace"') for text in map(Path.read_text, site.glob("gallery-*.html")))
    print(f"{len(wrong)} wrong links; the gallery has {runs} runs, of the last  tidemark verify")
    print(f"read it:  {sys.executable} -m http.server --directory {site.relative_to(ROOT)}")
    return min(1, len(wrong))


if __name__ == "__main__":
    sys.exit(main())
