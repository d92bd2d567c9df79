"""A finding: a claim of a source, or a hazard, and the manifest entries that decide it."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tidemark.models.manifest import ManifestError
from tidemark.models.rooms import protocol_files


class Strict(BaseModel):
    """Unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Evidence(Strict):
    """One entry of the manifest: an instance, a proof or a mutant, and a claim that it decides.

    Attributes:
        entry: name of the entry.
        claim: property id. For a mutant: its killer.
        shown: whether the shortest counterexample is printed with the finding.
    """

    entry: str
    claim: str
    shown: bool = False


class Finding(Strict):
    """A question and its result.

    Attributes:
        id: short name, used on the command line.
        title: the result in one sentence.
        source: which seed, hazard or bug.
        text: its meaning, in a few sentences.
        evidence: the entries that decide it, the most telling first.
    """

    id: str = Field(pattern=r"^[a-z0-9-]+$")
    title: str
    source: str
    text: str
    evidence: tuple[Evidence, ...] = Field(min_length=1)


class FindingsFile(Strict):
    """All findings about one protocol; ``manifest`` is the name of its manifest."""

    manifest: str
    finding: tuple[Finding, ...] = Field(min_length=1)


def finding_files() -> tuple[Path, ...]:
    """The files of the repository, by name."""
    return protocol_files("findings.toml")


def load_findings(path: Path) -> FindingsFile:
    """Read one file. Raises ManifestError if it does not have the form above."""
    try:
        return FindingsFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
    except (ValidationError, tomllib.TOMLDecodeError) as error:
        raise ManifestError(str(error), file=path.name, remedy="correct the file") from error
