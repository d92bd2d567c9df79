"""What tracing gives: types, footprints, sequence, variants, claims."""

import pickle
import subprocess
import sys

import pytest

from tests.protocols.stations import Careless, Extends, Overrides, Stations, WithoutReset
from tidemark.spec.language import render, resolve
from tidemark.spec.language.expr import Const, Local, Read, variables_read
from tidemark.spec.language.protocol import declared_by
from tidemark.spec.language.types import EnumType, MapType, NumberType, SortType


def update(spec, action, variable):
    return {v.name: render(e) for v, e in spec.action(action).updates}[variable]


def guards(spec, action):
    return [render(guard.expr) for guard in spec.action(action).guards]


def test_declared_types_carry_their_names():
    kinds = {kind.name: type(kind) for kind in Stations.trace().types}
    assert kinds == {"Station": SortType, "Place": NumberType, "Balance": NumberType, "Mode": EnumType}


def test_variables_constants_and_initial_values():
    spec = Stations.trace()
    assert [v.name for v in spec.variables] == ["mode", "taken", "visits", "head", "balance", "open", "start"]
    assert [v.name for v in spec.constants] == ["CAREFUL", "LIMIT", "FIRST", "route", "capacity"]
    assert all(v.constant for v in spec.constants)
    assert spec.options == {"CAREFUL": True, "LIMIT": 2, "FIRST": "idle"}
    assert spec.initial == {
        "mode": "idle",
        "taken": False,
        "visits": False,
        "head": 0,
        "balance": -1,
        "open": True,
        "start": None,
    }


def test_a_set_is_a_map_to_bool_and_maps_take_several_keys():
    types = {v.name: v.type for v in Stations.trace().variables}
    assert str(types["taken"]) == "Map[Place, Bool]"
    assert str(types["visits"]) == "Map[Station, Place, Bool]"
    assert isinstance(types["visits"], MapType)


def test_sentence_is_the_first_paragraph():
    spec = Stations.trace()
    assert spec.action("take").description == "A station takes the cargo at a place."
    assert spec.doc.startswith("Stations take cargo")
    assert spec.action("take").source == "section 1"


def test_fairness():
    spec = Stations.trace()
    assert [a.fairness for a in spec.actions] == ["weak", "strong", "none", "none"]


def test_guard_conjuncts_keep_the_authors_words():
    take = Stations.trace().action("take")
    found = guards(Stations.trace(), "take")
    assert found == ["open", "(mode[station] == 'idle') & ~taken[place] & (place <= LIMIT)"]
    assert take.guards[0].text == "require(s.open)"
    file, _, line = take.guards[0].place.partition(":")
    assert file == "stations.py"
    assert int(line) > 0


def test_later_reads_see_earlier_writes():
    spec = Stations.trace()
    assert update(spec, "twice", "head") == "head + 1"
    assert update(spec, "twice", "start") == "(head + 1) + 1"
    assert update(spec, "reset", "head") == "start"  # after the reset nothing is taken


def test_footprints():
    take = Stations.trace().action("take")
    assert {v.name for v in take.writes} == {"mode", "taken", "visits", "head"}
    assert {v.name for v in take.reads} == {"open", "mode", "taken", "LIMIT", "CAREFUL", "visits", "head"}


def test_update_of_an_untouched_variable_is_itself():
    spec = Stations.trace()
    balance = next(v for v in spec.variables if v.name == "balance")
    assert spec.action("take").update_of(balance) == Read(balance.type, balance)


def test_tracing_again_gives_equal_trees():
    first = Stations.trace()
    code = (
        "import pickle, sys; from tidemark.spec.language import resolve;"
        "sys.stdout.buffer.write(pickle.dumps(resolve('tests.protocols.stations:Stations').trace()))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert pickle.loads(done.stdout) == first
    assert Stations.trace() is first


def test_reference_leads_back():
    assert Stations.reference() == "tests.protocols.stations:Stations"
    assert resolve(Stations.reference()) is Stations


def test_claims_have_ids_of_the_family_and_kinds():
    spec = Extends.trace()
    assert {p.id: p.kind for p in spec.properties} == {
        "stations.head_is_late": "invariant",
        "stations.few_busy": "lemma",
        "stations.balance_grows": "transition_invariant",
        "stations.becomes_idle": "leads_to",
        "stations.first_place": "reachable",
        "stations.somebody_finishes": "reachable",
        "stations.few_repairs": "invariant",
    }
    assert [p.id for p in spec.assumptions] == ["stations.capacity_is_positive"]


def test_transition_invariant_reads_both_states():
    prop = Stations.trace().property("balance_grows")
    assert render(prop.expr) == "balance <= balance'"


def test_leads_to_has_premise_conclusion_and_parameters():
    prop = Stations.trace().property("stations.becomes_idle")
    assert render(prop.premise) == "mode[station] == 'busy'"
    assert render(prop.expr) == "mode[station] == 'idle'"
    assert [p.name for p in prop.params] == ["station"]
    assert prop.without == ("reset",)


def test_witness_takes_the_actions_parameters():
    prop = Stations.trace().property("first_place")
    take = Stations.trace().action("take")
    assert prop.after == "take"
    assert prop.params == take.params
    assert render(prop.expr) == "(place == 0) & visits'[station, place] & ~visits[station, place]"


def test_witness_about_the_state_after():
    expr = Stations.trace().property("somebody_finishes").expr
    assert "taken'" in render(expr)


def test_flipped_option():
    spec = Careless.trace()
    assert spec.options["CAREFUL"] is False
    assert update(spec.with_options(), "take", "mode") == "mode with [station] = 'idle'"
    assert update(Stations.trace().with_options(), "take", "mode") == "mode with [station] = 'busy'"
    assert Careless.trace().actions == Stations.trace().actions  # options are put in later


def test_options_can_be_given_values():
    spec = Stations.trace().with_options({"LIMIT": 1, "capacity": 3})
    assert [v.name for v in spec.constants] == ["route"]
    assert "place <= 1" in guards(spec, "take")[1]
    assert spec.assumptions[0].expr == Const(spec.assumptions[0].expr.type, True)


def test_override_keeps_mark_docstring_and_types():
    spec = Overrides.trace()
    finish = spec.action("finish")
    assert finish.description == "The station is ready again."
    assert finish.fairness == "strong"
    assert finish.params == (Local(declared_by(Stations).types["Station"], "station"),)
    assert {v.name for v in finish.writes} == {"mode", "balance", "open"}
    found = guards(spec, "take")[1]
    assert found == "(mode[station] == 'idle') & ~taken[place] & (0 < place) & (place <= LIMIT)"
    assert spec.initial["head"] == 1
    assert Stations.trace().initial["head"] == 0


def test_action_taken_out():
    names = [a.name for a in WithoutReset.trace().actions]
    assert names == ["take", "finish", "twice"]
    assert WithoutReset.trace().property("becomes_idle").without == ("reset",)


def test_extension_adds_to_the_end():
    spec = Extends.trace()
    assert spec.variables[-1].name == "repairs"
    assert spec.actions[-1].name == "repair"
    assert spec.options["CAREFUL"] is False


def test_unknown_action_and_property_name_the_known_ones():
    spec = Stations.trace()
    with pytest.raises(KeyError, match="no action 'tke'; it has take, finish"):
        spec.action("tke")
    with pytest.raises(KeyError, match="no property 'x'"):
        spec.property("x")


def test_of_kind_keeps_the_order():
    spec = Extends.trace()
    found = [p.id for p in spec.of_kind("invariant", "lemma")]
    assert found == ["stations.head_is_late", "stations.few_busy", "stations.few_repairs"]


def test_variables_read_knows_constants():
    take = Stations.trace().action("take")
    assert {v.name for v in variables_read(take.guards[1].expr)} == {"mode", "taken", "LIMIT"}
