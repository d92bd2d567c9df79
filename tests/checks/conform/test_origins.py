"""Where mappings read their variables: recorded while programs run, or said to be the environment's."""

from collections.abc import Hashable, Mapping
from typing import Any

import pytest

from tests.models.refinement.test_actions import MANIFESTS, PROTOCOLS
from tidemark.checks.conform.origins import Origins, Recorder, origins, origins_text, tables
from tidemark.impl.values.report import TimeTickReport

TABLES = tables()
COUNTED = (
    "3 variables of 1 mappings: 1 are read from the implementation, 1 in part,"
    " 1 are environment or noted by adapters"
)


def test_each_mapping_has_a_table():
    assert {name for name in TABLES if "/" not in name} == PROTOCOLS.keys()


@pytest.mark.parametrize("name", TABLES)
def test_each_variable_is_read_or_has_a_reason(name):
    found = origins(TABLES[name], MANIFESTS[name.partition("/")[0]])
    assert found.unknown() == []
    assert set(found.reasons) - set(found.variables) == set()


def test_a_variable_of_which_nothing_is_known_is_named():
    assert Origins(("a", "b", "c"), {"a": "a clock"}, ignored={"b"}).unknown() == ["c"]


def look(evaluate: Any) -> Mapping[str, set[tuple[str, str]]]:
    found, recorder = Origins(("a", "b"), {}), Recorder()
    with recorder.installed():
        found.look(recorder, evaluate)
    return found.fields


def test_a_variable_comes_from_the_field_on_which_it_depends():
    report = TimeTickReport(3, (), 7)

    def mapping() -> dict[str, Hashable]:
        return {"a": report.source, "b": 2}

    assert look(mapping) == {"a": {("TimeTickReport", "source")}}
    assert look(lambda: {"a": 1, "b": report.value("x") + 1}) == {"b": {("TimeTickReport", "value")}}


def test_the_text_counts_what_is_read_from_where():
    found = Origins(("a", "b", "c"), {"b": "it answers by the network", "c": "a clock"})
    found.fields.update(a={("Thing", "kept")}, b={("Thing", "answer")})
    assert origins_text({"thing": found}).splitlines() == [
        "thing",
        "  a (read): Thing.kept",
        "  b (in part): Thing.answer; it answers by the network",
        "  c (environment): a clock",
        "",
        COUNTED,
    ]
    assert "a (read)" not in origins_text({"thing": found}, only_adapters=True)
