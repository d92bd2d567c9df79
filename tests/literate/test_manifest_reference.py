"""The manifest reference has each key of each section, with its default, and no other."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path

import pytest
from pydantic import BaseModel

from tidemark.models.manifest import model
from tidemark.models.manifest.mutants import MutantModule

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
