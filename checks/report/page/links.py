"""Links from the page into the repository, and the lines of source behind them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tidemark.checks.report.forms.bundle import bundle_id
from tidemark.checks.verdicts.verdict import Judgement, Outcome, Verdict
from tidemark.models.rooms import ROOT
from tidemark.models.sources import PAGE

_MOST = 24
"""Lines of source that are shown of one property."""


def runs_page(protocol: str) -> str:
    """The name of the page with the expected runs of a protocol."""
    return f"runs-{protocol}.html"


def run_anchor(verdict: Verdict) -> str:
    """The name of the place on its page at which a counterexample is."""
    return f"run-{bundle_id(verdict)}"


def has_expected_run(one: Judgement) -> bool:
    """Is it a refutation that has to be, with a counterexample? Then it is on the page of runs."""
    return one.ok and one.verdict.outcome is Outcome.REFUTED and one.verdict.counterexample is not None


def run_link(one: Judgement) -> str:
    """The link from the index to the counterexample of a refutation."""
    page = runs_page(one.verdict.subject.protocol) if has_expected_run(one) else ""
    return f"{page}#{run_anchor(one.verdict)}"


@dataclass(frozen=True)
class Links:
    """``here``: the folder of the page. ``places``: property -> ``path:line``."""

    here: Path
    places: Mapping[str, str]

    def source(self, name: str) -> str:
        """Relative link to the line that declares a property; empty if it is not known or not there."""
        path, line = self._place(name)
        return "" if path is None else f"{self._to(path)}#L{line}"

    def sources_page(self) -> str:
        """Relative link to ``docs/sources.md``; empty where only the packages are installed."""
        page = ROOT / PAGE
        return self._to(page) if page.exists() else ""

    def snippet(self, name: str) -> str:
        """The text of a property as its author wrote it; empty if it is not there."""
        path, line = self._place(name)
        if path is None:
            return ""
        rest = path.read_text(encoding="utf-8").splitlines()[line - 1 :]
        indent = len(rest[0]) - len(rest[0].lstrip()) if rest else 0
        found: list[str] = []
        begun = False
        for text in rest[:_MOST]:
            outside = text.strip() and len(text) - len(text.lstrip()) <= indent
            if begun and outside and not re.match(r"\s*\)", text):
                break
            begun = begun or text.lstrip().startswith(("def ", "async def "))
            found.append(text[indent:])
        return "\n".join(found).rstrip()

    def _place(self, name: str) -> tuple[Path | None, int]:
        text, _, line = self.places.get(name, "").rpartition(":")
        paths = (folder / text for folder in (Path.cwd(), ROOT)) if text else ()
        path = next((path for path in paths if path.is_file()), None)
        return path, int(line) if path is not None else 0

    def _to(self, path: Path) -> str:
        return Path(os.path.relpath(path, self.here.absolute())).as_posix()
