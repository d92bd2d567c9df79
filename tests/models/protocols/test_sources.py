"""Whatever the repository says about where something comes from can be looked up in docs/sources.md."""

import ast
import re
from collections.abc import Iterator
from functools import cache

import pytest

from tests.manifests import manifests
from tidemark.models.findings import finding_files, load_findings
from tidemark.models.manifest import ConformEntry, InstanceEntry, InterleaveEntry, Manifest, ProofEntry
from tidemark.models.rooms import ROOT, files
from tidemark.models.sources import PAGE, SourceError, labels_in, repository_catalogue
from tidemark.spec.language.protocol import resolve

MANIFESTS = manifests().values()
TEXTS = frozenset({".py", ".toml", ".md"})


def protocols(manifest: Manifest) -> set[str]:
    """Every class that the manifest has traced: the protocol, its variants, its mutants."""
    programs = {
        entry.name for entry in manifest.entries() if isinstance(entry, InterleaveEntry | ConformEntry)
    }
    variants = {
        entry.protocol for entry in manifest.entries() if isinstance(entry, InstanceEntry | ProofEntry)
    }
    return {manifest.protocol} | variants | {m.ref for m in manifest.mutant if m.instance not in programs}


@cache
def traced(manifest_name: str) -> dict[str, str]:
    """Who says it -> the source text, of all actions, claims, assumptions, mutants and findings."""
    (manifest,) = (manifest for manifest in MANIFESTS if manifest.name == manifest_name)
    found: dict[str, str] = {}
    for reference in sorted(protocols(manifest)):
        spec = resolve(reference).trace()
        found |= {f"{reference} {action.name}": action.source for action in spec.actions}
        found |= {f"{reference} {prop.id}": prop.source for prop in (*spec.properties, *spec.assumptions)}
    found |= {f"mutant {mutant.name}": mutant.source for mutant in manifest.mutant}
    for path in finding_files():
        content = load_findings(path)
        if content.manifest == manifest.name:
            found |= {f"finding {finding.id}": finding.source for finding in content.finding}
    return {who: source for who, source in found.items() if source}


def literals() -> Iterator[tuple[str, str]]:
    """Every text that a decorator of a specification or a mutant gives, traced or not."""
    folders = (ROOT / "spec", ROOT / "models" / "protocols")
    for path in (path for folder in folders for path in sorted(folder.rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for call in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
                for keyword in call.keywords if isinstance(call, ast.Call) else ():
                    if keyword.arg == "source":
                        assert isinstance(keyword.value, ast.Constant)
                        yield f"{path.relative_to(ROOT)}:{call.lineno}", str(keyword.value.value)


def unresolved(sources: Iterator[tuple[str, str]]) -> list[str]:
    catalogue, wrong = repository_catalogue(), list[str]()
    for who, source in sources:
        try:
            catalogue.resolve(source)
        except SourceError as error:
            wrong.append(f"{who}: {error}")
    return wrong


@pytest.mark.parametrize("name", [manifest.name for manifest in MANIFESTS])
def test_every_source_of_a_protocol_can_be_looked_up(name: str) -> None:
    found = traced(name)
    assert len(found) > 20
    assert unresolved(iter(found.items())) == []


def test_every_source_that_is_written_can_be_looked_up() -> None:
    found = list(literals())
    assert len(found) > 200
    assert unresolved(iter(found)) == []


def test_a_source_that_is_misspelt_is_found() -> None:
    (wrong,) = unresolved(iter([("here", "hazard 22"), ("there", "hazard 222")]))
    assert wrong.startswith("there: 'hazard 222' names hazard 222")


LABELLED = re.compile(r"\d|(?i:property)")


@cache
def pages() -> list[tuple[str, str]]:
    """Every line of code, manifests and documents that may have a label, but those of the page itself."""
    documents = sorted({*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")} - {ROOT / PAGE})
    return [
        (f"{path.relative_to(ROOT)}:{number}", line)
        for path in (*files(suffixes=TEXTS), *documents)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if LABELLED.search(line)
    ]


def test_every_label_in_a_text_is_known() -> None:
    known = repository_catalogue().entries
    strange = [
        f"{where}: {label.text}"
        for where, line in pages()
        for label in labels_in(line)
        if label.text not in known
    ]
    assert strange == []


def test_every_entry_is_used() -> None:
    catalogue = repository_catalogue()
    sources = [source for manifest in MANIFESTS for source in traced(manifest.name).values()]
    lines = [line for _, line in pages()]
    used = {label for text in (*sources, *lines) for label in labels_in(text, parts=catalogue.parts)}
    unused = [entry.label.text for entry in catalogue.entries.values() if entry.label not in used]
    assert unused == []
