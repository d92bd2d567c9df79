"""The tables of actions: printed, whole, and with points that exist."""

import re
from pathlib import Path

import pytest

from tests.manifests import manifests
from tidemark.models.manifest import ManifestError
from tidemark.models.refinement.actions import action_table, load_actions, tables
from tidemark.models.refinement.program import REFINEMENT
from tidemark.models.rooms import PROTOCOLS as PROTOCOL_ROOMS
from tidemark.models.rooms import ROOT
from tidemark.spec.language.protocol import resolve

PROTOCOLS = {
    name: one.protocol
    for name, one in manifests().items()
    if one.conform or any(REFINEMENT in entry.claims for entry in one.interleave)
}
"""The protocols that an implementation is held against, step by step."""

README = (ROOT / "impl" / "README.md").read_text(encoding="utf-8")
POINT = re.compile(r"\"([a-z]+\.[a-z_]+)\"|f\"(policy\.)\{")


def test_each_of_them_has_a_table_and_no_other_protocol_has_one():
    """But for the stores: an event there is an operation of the medium, whatever the adapter does by it."""
    assert set(tables()) == PROTOCOLS.keys() - {"store"}


@pytest.mark.parametrize("name", tables())
def test_a_table_is_printed(name):
    assert action_table(name).text().startswith("| action | begins with | in |")


def test_the_page_of_the_implementation_says_how():
    assert "`tidemark show actions NAME`" in README


NEVER = {
    "deletes": {"import_segment"},
    "ids": {"answer_again", "hold_again"},
    "ownership": {"begin_checkpoint", "drop_segment", "end_import", "note_beginning", "tell_start"},
    "queries": {"stop_serving"},
    "scheduler": {"report"},
    "timetick": {"close_log"},
}
"""Actions that no event begins: nothing in the programs does that."""


@pytest.mark.parametrize("name", tables())
def test_every_action_begins_with_an_event(name):
    table = action_table(name)
    followed = [resolve(one) for one in table.variants or (PROTOCOLS[name],)]
    actions = {action.name for one in followed for action in one.trace().actions}
    assert {*table.actions()} == actions - NEVER.get(name, set())
    assert all(issubclass(one, resolve(PROTOCOLS[name])) for one in followed)


def test_points_are_those_of_the_code():
    for name in tables():
        files = [*(ROOT / "impl").rglob("*.py"), *PROTOCOL_ROOMS.rglob("*.py")]
        written = {
            found[1] or found[2]
            for path in files
            for found in POINT.finditer(path.read_text(encoding="utf-8"))
        }
        points = [point for point in action_table(name).points if "." in point and "*" not in point]
        gone = [p for p in points if p not in written and p.partition(".")[0] + "." not in written]
        assert gone == [], name


def test_a_point_after_which_more_must_be_known():
    flush, timetick = action_table("flush"), action_table("timetick")
    assert flush.at("policy.stale") == "sync_stale"
    assert flush.at("operator.assign") == "assign"
    assert flush.at("policy.dropped") is None
    assert {*flush.points["updater.next_round"]} == {"send_by_ticker", "send_by_signal"}
    assert flush.at("updater.next_round") is None
    assert timetick.points["sync.close_round"] == ("close_round", "drop_round")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('faults = ["lose"]\n[steps]\n"resume a.b *" = "seal"', "no event leads to the fault 'lose'"),
        ('[[event]]\nlabel = "a"\nstutter = "b"', "write events under"),
        ('[steps]\nx = { steps = "seal", point = 3 }', "point"),
        ("[[steps", "declaration"),
        ("", "event"),
    ],
)
def test_a_table_that_cannot_be_used(tmp_path: Path, text: str, said: str):
    path = tmp_path / "actions.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ManifestError, match=said):
        load_actions(path)


def test_a_protocol_without_a_table():
    with pytest.raises(ManifestError, match="no table of actions of 'compaction'"):
        action_table("compaction")
