"""The command-line sessions of the documents are run: files are written, commands executed, output compared.

A block ``python file=NAME`` (or toml) writes a file; ``file=NAME replace`` replaces the text above its line
``---`` by the text below. In a block ``console`` a line ``$ tidemark ...``, ``$ python ...`` or ``$ pytest
...`` is a command; the lines after it are what it prints. ``...`` stands for anything: alone on a line for
any lines, within a line for any text. Blocks ``pycon`` of a page are one session of Python.
"""

import os
import re
import shlex
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest
from pydantic import BaseModel

from tests.warm import Run, warm
from tidemark.models.manifest import model
from tidemark.models.manifest.mutants import MutantModule

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
DOCUMENTS = [
    "docs/cluster.md",
    "docs/doors/contributor.md",
    "docs/doors/go-developer.md",
    "docs/doors/operator.md",
    "docs/doors/protocol.md",
    "docs/doors/service.md",
    "docs/export.md",
    "docs/first-protocol.md",
    "docs/guide/claims.md",
    "docs/guide/connect.md",
    "docs/guide/idioms.md",
    "docs/guide/lemmas.md",
    "docs/guide/manifest.md",
    "docs/interleavings.md",
    "docs/notebook.md",
    "docs/services.md",
    "docs/paused-proxy.md",
    "docs/reads.md",
    "docs/time.md",
]
OF_THE_SUITE = {
    "docs/doors/contributor.md",
    "docs/export.md",
    "docs/paused-proxy.md",
    "docs/reads.md",
    "docs/time.md",
}
"""They speak of the suite's own protocols: who reads them stands in a clone."""
PROGRAMS = {
    "tidemark": ["-m", "tidemark.checks"],
    "python": [],
    "pytest": ["-m", "pytest", "-p", "no:randomly", "-p", "no:cacheprovider"],
}


def pattern(expected: str) -> re.Pattern[str]:
    """Turn expected output into a regular expression; spaces at the ends of lines do not count."""
    parts = []
    for line in expected.splitlines():
        if line.strip() == "...":
            parts.append("(?:.*\n)*?")
        else:
            parts.append(re.escape(line.rstrip()).replace(re.escape("..."), ".*") + "\n")
    return re.compile("".join(parts))


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    with warm(environment(), tmp_path_factory.mktemp("warm")) as run:
        yield run


def run(command: str, folder: Path, python: Run) -> str:
    """Run one command as a shell would, with the sources of this repository."""
    words = shlex.split(command)
    assert words[0] in PROGRAMS, f"only {', '.join(PROGRAMS)} are run here, not {words[0]!r}"
    done = python([*PROGRAMS[words[0]], *words[1:]], folder)
    return "".join(f"{line.rstrip()}\n" for line in (done.stdout + done.stderr).splitlines())


def environment() -> dict[str, str]:
    """A reader's terminal: the same width everywhere, and not that of a continuous integration, where pytest
    says more.
    """
    kept = {name: value for name, value in os.environ.items() if name not in ("CI", "BUILD_NUMBER")}
    return kept | {"PYTHONPATH": str(ROOT), "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "80"}


def change(file: Path, text: str) -> None:
    """Replace one place of a file."""
    old, new = text.split("---\n")
    content = file.read_text(encoding="utf-8")
    assert content.count(old) == 1, f"{file.name} has {content.count(old)} places like the one to change"
    file.write_text(content.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_tells_what_happens(document: str, tmp_path: Path, python: Run) -> None:
    if document in OF_THE_SUITE:
        (tmp_path / "pyproject.toml").symlink_to(ROOT / "pyproject.toml")
        (tmp_path / "models").symlink_to(ROOT / "models")
        (tmp_path / "tests").symlink_to(ROOT / "tests")
    executed = 0
    doctests: list[str] = []
    for kind, options, text in BLOCK.findall((ROOT / document).read_text(encoding="utf-8")):
        named = re.search(r"file=(\S+)", options)
        if named and options.endswith("replace"):
            change(tmp_path / named[1], text)
        elif named:
            (tmp_path / named[1]).write_text(text, encoding="utf-8")
        elif kind == "console":
            for session in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
                command, _, expected = session.partition("\n")
                seen = run(command, tmp_path, python)
                assert pattern(expected).fullmatch(seen), f"$ {command}\n{seen}"
                executed += 1
        elif kind == "pycon":
            doctests.append(text)
    if doctests:
        (tmp_path / "session.txt").write_text("\n".join(doctests), encoding="utf-8")
        assert run("python -m doctest -o ELLIPSIS session.txt", tmp_path, python) == ""
    assert executed or doctests, f"{document} has no session"


def test_a_door_is_short() -> None:
    doors = sorted((ROOT / "docs" / "doors").glob("*.md"))
    assert len(doors) == 5
    assert {f"docs/doors/{door.name}" for door in doors} <= set(DOCUMENTS)
    assert [door.name for door in doors if len(door.read_text(encoding="utf-8").splitlines()) > 120] == []


def test_the_pattern_tells_output_apart() -> None:
    expected = pattern("one\n...\nthree ... s\n")
    assert expected.fullmatch("one\ntwo\nthree 0.5 s\n")
    assert expected.fullmatch("one\nthree 0.5 s\n")
    assert not expected.fullmatch("one\nthree 0.5\n")
    assert not expected.fullmatch("one\ntwo\nthree 0.5 s\nfour\n")


PAGE = (Path(__file__).parents[2] / "docs" / "guide" / "manifest.md").read_text(encoding="utf-8")
SECTIONS: dict[str, type[BaseModel]] = {
    "Top-level keys": model.Manifest,
    "`expect`": model.Expectation,
    "`[instance.NAME]`": model.InstanceEntry,
    "`[proof.NAME]`": model.ProofEntry,
    "`[interleave.NAME]`": model.InterleaveEntry,
    "`[conform.NAME]`": model.ConformEntry,
    "`[argument.NAME]`": model.ArgumentEntry,
    "`[pins.NAME]`": model.PinsEntry,
    "`[frames.NAME]`": model.FramesEntry,
    "`[strength.NAME]`": model.StrengthEntry,
    "`[mutant.NAME]`": model.MutantEntry,
    "`[mutants]`": MutantModule,
    "`[generated.NAME]`": model.GeneratedMutants,
    "`[implementation.NAME]`": model.ImplementationMutants,
}
ROW = re.compile(r"^\| `(\w+)` \| ([^|]*) \| ([^|]*) \|$", re.MULTILINE)
NOTHING = {"none", "all", "empty", "from the lock", "from the entries", "one by rule"}


BY_RULE = {
    "protocol": ["that of the manifest"],
    "expect": ["by rule"],
    "every": ["by rule"],
    "properties": ["those of the lock"],
    "claims": ["by rule"],
}
"""What is filled in before the classes read it, so that these require it."""


def rows(section: str) -> dict[str, str]:
    """Keys of a section with their defaults."""
    text = PAGE.split(f"\n## {section}\n")[1].split("\n## ")[0]
    found = ROW.findall(text)
    assert len(dict.fromkeys(key for key, _, _ in found)) == len(found)
    return {key: default for key, default, _ in found}


def shown(value: object) -> str:
    text = (
        value.value
        if isinstance(value, StrEnum)
        else str(value).lower()
        if isinstance(value, bool)
        else ", ".join(value)
        if isinstance(value, tuple)
        else value
    )
    return f"`{text}`"


@pytest.mark.parametrize("section", SECTIONS)
def test_a_section_has_its_keys_and_defaults(section: str) -> None:
    fields = {name: field for name, field in SECTIONS[section].model_fields.items() if name != "section"}
    written = rows(section)
    assert list(written) == list(fields)
    for name, field in fields.items():
        if field.is_required():
            wanted = {"required", *BY_RULE.get(name, ())}
        else:
            value = field.get_default(call_default_factory=True)
            wanted = NOTHING if value in (None, (), {}, "") else {shown(value)}
        assert written[name] in wanted, f"{section} {name}"


def test_every_section_of_the_page_is_compared() -> None:
    headings = re.findall(r"^## (.*)$", PAGE, re.MULTILINE)
    assert headings == [*SECTIONS, "An example with many of them"]
