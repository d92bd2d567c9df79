"""A finding: a claim of a source, or a hazard, and the manifest entries that decide it."""

import tomllib
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, model_validator

from tidemark.models.manifest import ManifestError
from tidemark.models.manifest.strict import Strict
from tidemark.models.rooms import protocol_files


class Evidence(Strict):
    """One entry of the manifest, and a claim (of a mutant: its killer) that it decides. ``shown``: the
    shortest counterexample is printed with the finding.
    """

    entry: str
    claim: str
    shown: bool = False


class Finding(Strict):
    """A question and its result: the title in one sentence, the text in a few, and the entries that decide
    it, the most telling first.
    """

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str
    source: str
    text: str
    evidence: tuple[Evidence, ...] = Field(min_length=1)


class FindingsFile(Strict):
    """All findings about one protocol; ``manifest``: the name of its manifest, by default that of the folder.

    A finding is a table ``[finding.ID]``; ``[finding.ID.evidence]`` has a line for each entry, with the claim
    or claims; ``shown`` lists those whose counterexample is printed, as "ENTRY CLAIM": by default
    the first one.
    """

    manifest: str
    finding: tuple[Finding, ...] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _with_ids(cls, data: dict[str, Any]) -> dict[str, Any]:
        findings = data.get("finding", {})
        if not isinstance(findings, dict):
            raise ValueError("write  [finding.ID]  in place of  [[finding]]  and its id")  # noqa: TRY004
        return {**data, "finding": [_with_evidence(name, one) for name, one in findings.items()]}


def _with_evidence(name: str, finding: dict[str, Any]) -> dict[str, Any]:
    said = dict(finding)
    shown = said.pop("shown", [])
    evidence = [
        {"entry": entry, "claim": claim, "shown": f"{entry} {claim}" in shown}
        for entry, claims in said.get("evidence", {}).items()
        for claim in ([claims] if isinstance(claims, str) else claims)
    ]
    known = [f"{one['entry']} {one['claim']}" for one in evidence]
    if unknown := [one for one in shown if one not in known]:
        raise ValueError(f"{name}: {unknown[0]!r} is shown and is no evidence")
    return {**said, "id": name, "evidence": evidence}


def finding_files() -> tuple[Path, ...]:
    """The files of the repository, by name."""
    return protocol_files("manifest/findings.toml")


def load_findings(path: Path) -> FindingsFile:
    """Read one file. Raises ManifestError if it does not have the form above."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
        return FindingsFile.model_validate({"manifest": path.parents[1].name, **content})
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        raise ManifestError(str(error), file=path.name, remedy="correct the file") from error


def all_findings() -> tuple[Finding, ...]:
    """All findings of the repository. No manifest is read for it."""
    return tuple(one for path in finding_files() for one in load_findings(path).finding)
