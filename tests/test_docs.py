"""What the documents name exists: links, paths, modules, commands with their options, jobs of make."""

import importlib
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from tests.test_house import ROOMS
from tidemark.checks.cli.commands import application
from tidemark.checks.inputs.manifests import manifests
from tidemark.checks.report.findings import books
from tidemark.models.manifest import instance_of
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import SearchLimits, search
from tidemark.models.native.search.path import path_to
from tidemark.models.rooms import ROOT

DOCUMENTS = sorted(
    str(path.relative_to(ROOT))
    for path in [
        ROOT / "README.md",
        ROOT / "ARCHITECTURE.md",
        ROOT / "CHANGELOG.md",
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("*/README.md"),
    ]
)
FOLDERS = (*ROOMS, "tests", "docs", "requirements")

FENCED = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)")
CODE = re.compile(r"`([^`\n]+)`")
PATH = re.compile(rf"^(?:{'|'.join(FOLDERS)})/[\w./*-]*$")
MODULE = re.compile(r"\btidemark(?:\.[A-Za-z_]\w*)+")
COMMAND = re.compile(r"^(?:\$ )?(tidemark [a-z-]+[^\n#]*)", re.MULTILINE)
ABOUT_MILVUS = "docs/sources.md"
"""Names paths of another repository."""
QUAINT = re.compile(
    r"\b(nobody|somebody|whoever|as due|in vain|for granted|is pleased|reckoning|who says so)\b",
    re.IGNORECASE,
)


def text_of(document: str) -> str:
    return (ROOT / document).read_text(encoding="utf-8")


def anchors(path: Path) -> set[str]:
    """Names to which a link into a page may lead."""
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    names = (re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings)
    return {*names, *re.findall(r'<a id="([^"]+)"', text)}


def exists(name: str) -> bool:
    return bool(list(ROOT.glob(name.rstrip("/"))))


def commands(text: str) -> Iterator[list[str]]:
    """The words of each command line of ours, in blocks and in the running text."""
    lines = re.sub(r"^(    |\$ )+", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    for line in [
        *COMMAND.findall(lines),
        *(code for code in CODE.findall(text) if code.startswith("tidemark ")),
    ]:
        try:
            yield shlex.split(line)
        except ValueError:
            yield line.split()


@pytest.mark.parametrize("document", DOCUMENTS)
def test_links_lead_somewhere(document: str) -> None:
    here = (ROOT / document).parent
    wrong = []
    for target, anchor in LINK.findall(FENCED.sub("", text_of(document))):
        path = here / target if target else ROOT / document
        if not path.exists() or (anchor and anchor not in anchors(path)):
            wrong.append(f"{target}#{anchor}")
    assert wrong == []


@pytest.mark.parametrize("document", [name for name in DOCUMENTS if name != ABOUT_MILVUS])
def test_paths_and_files_exist(document: str) -> None:
    """A path from the root, in which NAME stands for any; or the name of a file in any folder."""
    known = {path.name for room in FOLDERS for path in (ROOT / room).rglob("*.py")}
    own = set(re.findall(r"file=(\S+)", text_of(document)))
    wrong = []
    for code in CODE.findall(FENCED.sub("", text_of(document))):
        for word in code.replace(",", " ").split():
            name = word.partition(":")[0].replace("NAME", "*")
            unknown = re.fullmatch(r"\w+\.py", name) and name not in known | own
            if unknown or (PATH.match(name) and not exists(name)):
                wrong.append(name)
    assert wrong == []


def test_each_section_of_the_design_has_its_place() -> None:
    """Each section of seed 004 and of seed 002's DDL names files of both rooms, and each claim a finding."""
    rows = [line.split("|")[1:-1] for line in text_of("docs/proxy.md").splitlines() if line.startswith("| ")]
    sections = [row for row in rows if re.match(r" (6\.|seed 002, DDL)", row[0])]
    found = {" ".join(row[0].split()[:1]) for row in sections}
    assert found == {"6.0", "6.2", "6.3", "6.4", "6.5", "6.6.1", "6.6.2", "6.6.3", "6.6.4", "seed"}
    for section, spec, impl in sections:
        assert "`spec/" in spec or section.startswith(" 6.5 "), section
        assert "`impl/" in impl, section
    claims = [row for row in rows if row[0].startswith(' "')]
    assert len(claims) == 7
    assert all("FINDINGS.md#" in finding for *_, finding in claims)


def test_named_tests_exist() -> None:
    """``path::name`` is a test of that file: a renamed test takes its promise along."""
    named = [tuple(code.split("::")) for code in CODE.findall(text_of("tests/README.md")) if "::" in code]
    assert len(named) > 20
    for path, name in named:
        assert re.search(rf"^ *def {name}\(", text_of(path), re.MULTILINE), f"{path} has no {name}"
    numbers = re.findall(r"^\| D(\d+) \|", text_of("tests/README.md"), re.MULTILINE)
    assert numbers == [str(place) for place in range(1, len(numbers) + 1)]


@pytest.mark.parametrize("document", DOCUMENTS)
def test_modules_can_be_imported(document: str) -> None:
    for name in set(MODULE.findall(text_of(document))):
        parts = name.split(".")
        for end in range(len(parts), 0, -1):
            try:
                found: Any = importlib.import_module(".".join(parts[:end]))
            except ModuleNotFoundError:
                continue
            break
        for part in parts[end:]:
            assert hasattr(found, part), f"{document} names {name}"
            found = getattr(found, part)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_and_options_exist(document: str) -> None:
    group: Any = typer.main.get_command(application)
    wrong = []
    for _, name, *words in commands(text_of(document)):
        if name in ("--help", "COMMAND"):
            continue
        command = group.commands.get(name)
        below = getattr(command, "commands", {})
        command = below.get(words[0] if words else "", command)
        options = (
            {option for param in command.params for option in param.opts + param.secondary_opts}
            if command
            else set()
        )
        given = {word.partition("=")[0] for word in words if re.fullmatch(r"--[a-z-]+(=.*)?", word)}
        if command is None or command.hidden or given - options - {"--help"}:
            wrong.append(f"tidemark {name} {' '.join(sorted(given))}")
    assert wrong == []


@pytest.mark.parametrize("document", DOCUMENTS)
def test_jobs_of_make_exist(document: str) -> None:
    jobs = set(re.findall(r"^([a-z-]+):", text_of("Makefile"), re.MULTILINE))
    named = re.findall(r"(?:^    |`)make ([a-z-]+)", text_of(document), re.MULTILINE)
    assert set(named) <= jobs


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_english_is_plain(document: str) -> None:
    assert QUAINT.findall(FENCED.sub("", text_of(document))) == []


def test_help_texts_are_plain() -> None:
    group: Any = typer.main.get_command(application)
    assert len(group.commands) > 20
    below = [one for each in group.commands.values() for one in getattr(each, "commands", {}).items()]
    assert len(below) > 5
    for name, command in [*group.commands.items(), *below]:
        texts = [command.help or "", *(getattr(param, "help", None) or "" for param in command.params)]
        assert texts[0], f"{name} has no help"
        assert [text for text in texts if QUAINT.search(text)] == []


def test_the_run_in_the_readme_is_the_shortest() -> None:
    """The steps of the counterexample on the first page are those that a search finds."""
    book = next(book for book in books(manifests()) if book.manifest.name == "flush")
    (finding,) = (finding for finding in book.findings if finding.id == "in-flight")
    evidence = finding.evidence[0]  # the first that is refuted is shown
    entry = next(entry for entry in book.manifest.instance if entry.name == evidence.entry)
    kernel = compile_kernel(instance_of(entry))
    result = search(kernel, limits=SearchLimits(stop_on=frozenset({evidence.claim})))
    hit = result.hit(kernel.instance.spec.property(evidence.claim))
    assert hit is not None
    steps = [step.action for step in path_to(result, hit).steps]
    assert steps == re.findall(r"^    \d\. (\w+)", text_of("README.md"), re.MULTILINE)


def test_the_documents_name_something() -> None:
    """None of the searches above is empty."""
    everything = "\n".join(text_of(document) for document in DOCUMENTS)
    assert len(LINK.findall(everything)) > 30
    assert sum(bool(PATH.match(code)) for code in CODE.findall(everything)) > 60
    assert len(set(MODULE.findall(everything))) > 8
    assert len(list(commands(everything))) > 50
