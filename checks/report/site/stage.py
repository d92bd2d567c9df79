"""What MkDocs reads: the documents in their places, gallery, reference, notebook, settings."""

import doctest
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tidemark.checks.inputs.manifests import loaded
from tidemark.checks.report.findings import books
from tidemark.checks.report.site.gallery import Verdicts, page
from tidemark.models.manifest.project import SUITE
from tidemark.models.rooms import ROOMS, ROOT

_HERE = Path(__file__).parent
_LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
_CELL = re.compile(r"^```pycon\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FENCE = re.compile(r"^```(\w+) file=(\S+)( replace)?$", re.MULTILINE)
_NOTEBOOK = "docs/notebook.md"
_DOWNLOAD = "[As a Jupyter notebook](notebook.ipynb)\n"

REFERENCE = {
    "questions": ("Questions from Python", ("tidemark.checks.questions.ask",)),
    "language": ("The language", ("tidemark.spec.language",)),
    "library": ("Queues, bags, families", ("tidemark.spec.library",)),
    "orders": ("Every order of a program", ("tidemark.checks.interleave",)),
    "programs": (
        "Programs and mappings",
        ("tidemark.models.simulation.program", "tidemark.models.refinement"),
    ),
}
"""By page: its title, and the modules whose docstrings it shows."""


def documents() -> list[Path]:
    """The documents of the repository, and the files to which they link."""
    pages = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *(ROOT / room / "README.md" for room in ("impl", "tests")),
    ]
    linked = (
        (page.parent / target).resolve()
        for page in pages
        for target in _LINK.findall(page.read_text(encoding="utf-8"))
    )
    return sorted({*pages, *(path for path in linked if path.is_file())})


def stage(folder: Path, verdicts: Verdicts) -> None:
    """Write everything into a folder, which is made anew. ``verdicts``: their runs are in the gallery."""
    shutil.rmtree(folder, ignore_errors=True)
    pages = folder / "pages"
    for path in documents():
        _write(pages / path.relative_to(ROOT), _FENCE.sub(_titled, path.read_text(encoding="utf-8")))
    for book in books(loaded((SUITE,))):
        _write(pages / f"gallery-{book.manifest.name}.md", page(book, verdicts))
    index = pages / "FINDINGS.md"
    _write(
        index,
        re.sub(
            r"^## (\w+)$", r"## \1\n\n[With their runs](gallery-\1.md)", index.read_text(), flags=re.MULTILINE
        ),
    )
    for name, (title, modules) in REFERENCE.items():
        _write(pages / "api" / f"{name}.md", f"# {title}\n\n" + "".join(f"::: {one}\n\n" for one in modules))
    text = (ROOT / _NOTEBOOK).read_text(encoding="utf-8")
    _write(pages / "docs" / "notebook.ipynb", json.dumps(notebook(text), indent=1))
    _write(pages / _NOTEBOOK, text.replace("\n\n", f"\n\n{_DOWNLOAD}\n", 1))
    _write(pages / "site.css", (_HERE / "site.css").read_text(encoding="utf-8"))
    settings = (_HERE / "mkdocs.yml").read_text(encoding="utf-8")
    _write(folder / "mkdocs.yml", f"{settings}nav: {json.dumps(_contents(pages))}\n")
    _lay_links(folder / "python" / "tidemark")


def _contents(pages: Path) -> list[Any]:
    """Every page, by section; its first heading is its name."""
    parts = {
        "Doors": "docs/doors/*.md",
        "Guides": "docs/guide/*.md",
        "Documents": "docs/*.md",
        "Findings": "gallery-*.md",
        "Python": "api/*.md",
        "Project": "[AC]*.md",
    }
    found: dict[str, list[str]] = {
        part: [path.relative_to(pages).as_posix() for path in sorted(pages.glob(pattern))]
        for part, pattern in parts.items()
    }
    found["Findings"].insert(0, "FINDINGS.md")
    found["Project"] += ["impl/README.md", "tests/README.md"]
    return ["README.md", *({part: names} for part, names in found.items())]


def _titled(fence: re.Match[str]) -> str:
    """A block that is a file has its name above it."""
    kind, name, replace = fence.groups()
    title = f"{name}: what stands above the line is replaced by what stands below" if replace else name
    return f'```{kind} title="{title}"'


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _lay_links(package: Path) -> None:
    """The rooms under the name by which they are imported: the reference is read from their text."""
    package.mkdir(parents=True)
    for room in ROOMS:
        (package / room).symlink_to(ROOT / room)
    (package / "__init__.py").symlink_to(ROOT / "checks" / "package" / "__init__.py")


def notebook(text: str) -> dict[str, Any]:
    """A page with blocks ``pycon`` as a Jupyter notebook: its text, its code, what the code prints."""
    return {"cells": list(_cells(text)), "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


def _cells(text: str) -> Iterator[dict[str, Any]]:
    for number, piece in enumerate(_CELL.split(text)):
        if number % 2 == 0:
            yield {"id": f"text-{number}", "cell_type": "markdown", "metadata": {}, "source": piece.strip()}
            continue
        for place, one in enumerate(doctest.DocTestParser().get_examples(piece)):
            output = {"output_type": "stream", "name": "stdout", "text": one.want}
            yield {
                "id": f"code-{number}-{place}", "cell_type": "code", "metadata": {}, "execution_count": None,
                "source": one.source.rstrip(), "outputs": [output] if one.want else [],
            }  # fmt: skip
