"""Where mappings read their variables: each is said once, of what exists, and of what the folder reads."""

import ast

import pytest

from tests.models.refinement.test_actions import PROTOCOLS
from tidemark.models.refinement.origins import Origins, environment, has_field, read
from tidemark.models.refinement.origins_table import all_origins, origins_text
from tidemark.models.rooms import ROOT
from tidemark.spec.language.protocol import resolve

TABLES = all_origins()


def test_each_mapping_has_a_table():
    assert {name for name in TABLES if "/" not in name} == PROTOCOLS.keys()


@pytest.mark.parametrize("name", TABLES)
def test_each_variable_is_said_once(name):
    table = TABLES[name]
    known = [variable.name for variable in resolve(table.protocol).trace().variables]
    assert sorted(table.variables()) == sorted(known)


@pytest.mark.parametrize("name", TABLES)
def test_fields_exist_and_are_of_the_implementation(name):
    assert [missing for row in TABLES[name].rows for missing in row.missing()] == []
    owners = {owner.__module__ for row in TABLES[name].rows for owner, _ in row.fields}
    assert all(module.startswith("tidemark.impl.") for module in owners)


@pytest.mark.parametrize("name", TABLES)
def test_the_folder_reads_them(name):
    """The name of the field is read by an attribute access outside of the table."""
    folder = ROOT / "models" / "protocols" / name.partition("/")[0]
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.py"))]
    known = {node.attr for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    fields = {field for row in TABLES[name].rows for _, field in row.fields}
    assert fields - known == set()


@pytest.mark.parametrize("name", TABLES)
def test_what_is_environment_has_a_reason(name):
    assert all(row.fields or row.why for row in TABLES[name].rows)


COUNTED = (
    "4 variables of 1 mappings: 1 are read from the implementation, 2 in part,"
    " 1 are environment or noted by adapters"
)


class Thing:
    """For the checks below."""

    declared: int

    def __init__(self):
        self.kept = 1

    def answer(self):
        """Answer."""


@pytest.mark.parametrize("name", ["declared", "kept", "answer"])
def test_fields_are_found(name):
    assert has_field(Thing, name) is (name != "kept")  # only classes of the project are read


def test_what_is_not_there_is_named():
    assert list(read("x", of=[(Thing, "answer"), (Thing, "nothing")]).missing()) == ["Thing.nothing"]


def test_the_text_counts_what_is_read_from_where():
    rows = (
        read("a", of=[(Thing, "declared")]),
        read("b", "c", of=[(Thing, "answer")], why="it answers by the network"),
        environment("d", why="a clock"),
    )
    tables = {"thing": Origins("x:Y", rows)}
    assert origins_text(tables).splitlines() == [
        "thing",
        "  a (read): Thing.declared",
        "  b, c (in part): Thing.answer; it answers by the network",
        "  d (environment): a clock",
        "",
        COUNTED,
    ]
    assert "a (read)" not in origins_text(tables, only_adapters=True)
