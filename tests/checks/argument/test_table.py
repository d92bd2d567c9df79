"""The table of assumptions: in its document, and complete."""

import pytest

from tidemark.checks.argument.graph import Argument
from tidemark.checks.argument.table import assumptions, assumptions_text
from tidemark.models.manifest import load, manifest_files
from tidemark.models.rooms import ROOT


@pytest.fixture(scope="module")
def argument() -> Argument:
    return Argument(load(path) for path in manifest_files())


def test_the_document_shows_the_table(argument: Argument) -> None:
    assert f"\n{assumptions_text(argument)}\n" in (ROOT / "docs" / "assumptions.md").read_text(
        encoding="utf-8"
    )


def test_each_option_that_assumes_something_has_a_row(argument: Argument) -> None:
    rows = {(row.protocol, row.assumption): row for row in assumptions(argument)}
    for name in argument.manifests:
        for option in argument.spec(name).environment:
            assert rows[name, f"`{option}`"].known.startswith("needed: `")


def test_the_rows_of_one_protocol_are_a_part_of_all(argument: Argument) -> None:
    own = assumptions(argument, ("timetick",))
    assert {row.protocol for row in own} == {"timetick"}
    assert [row for row in assumptions(argument) if row.protocol == "timetick"] == own
    assert any(row.known == "derived: `timetick-takes-over-any-size` is without it" for row in own)
