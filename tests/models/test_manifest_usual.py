"""Entries by rule: strength, second opinions, self-tests."""

from typing import Any

import pytest

from tidemark.models.manifest import ManifestError
from tidemark.models.manifest.usual import with_usual

TINY = {"name": "sessions-tiny", "engines": ["interpreted", "explore"], "bounds": {"Node": 1}}
BASE: dict[str, Any] = {"name": "sessions", "protocol": "tidemark.spec.sessions:Sessions", "instance": [TINY]}
VIEW = "sessions.the_view_is_the_store_of_its_revision"
KNOWN = "sessions.a_session_becomes_known"


def made(section: str, *, locked: bool = True, **more: Any) -> dict[str, dict[str, Any]]:
    found = with_usual(BASE | more, locked=locked, file="sessions.toml")
    return {entry["name"]: entry for entry in found.get(section, ())}


def test_each_kind_of_part_has_an_entry_with_its_idle_parts() -> None:
    idle = {"no need": [f"{KNOWN}/hypothesis2", "sessions.fairness/learn"]}
    table = {"instances": ["sessions-tiny"], "lemmas": {"instances": ["sessions-small"]}, "idle": idle}
    found = made("strength", strength=table)
    assert [*found] == [
        "sessions-strength",
        "sessions-strength-of-liveness",
        "sessions-strength-of-lemmas",
        "sessions-strength-refuted",
    ]
    assert "idle" not in found["sessions-strength"]
    assert found["sessions-strength-of-liveness"]["idle"] == idle
    assert found["sessions-strength-of-lemmas"]["instances"] == ["sessions-small"]
    assert found["sessions-strength-refuted"]["claims"] == [KNOWN]
    assert "idle" not in found["sessions-strength-refuted"], "the idle part is left out"


def test_a_part_that_matters_is_listed_where_none_is_idle() -> None:
    found = made("strength", strength={"instances": ["sessions-tiny"]})["sessions-strength-refuted"]
    assert found["claims"] == [VIEW]
    assert found["idle"] == {"listed by a self-test": [f"{VIEW}/hypothesis1"]}


def test_an_instance_has_one_of_the_next_larger_size() -> None:
    slow = {
        "name": "slow",
        "protocol": "tidemark.spec.dispatch:Dispatch",
        "bounds": {"Target": 2, "Message": 1, "Ts": 2},
        "constants": {"slow": [False, True], "to": [1], "ONE_TICK": False},
        "larger": ["Target", "Ts"],
    }
    found = made("instance", instance=[TINY, slow])
    assert [*found] == ["sessions-tiny", "slow", "slow-larger"]
    assert found["slow"] == {key: value for key, value in slow.items() if key != "larger"}
    larger = found["slow-larger"]
    assert (larger["tier"], larger["protocol"]) == ("full", slow["protocol"])
    assert larger["bounds"] == {"Target": 3, "Message": 1, "Ts": 3}
    assert larger["constants"] == {"slow": [False, True, True], "to": [1], "ONE_TICK": False}
    with pytest.raises(ManifestError, match="'Turn' is larger, and has no bound"):
        made("instance", instance=[slow | {"larger": ["Turn"]}])


def test_a_table_of_strength_with_an_unknown_key() -> None:
    with pytest.raises(ManifestError, match=r"strength\.instance is an unknown key"):
        made("strength", strength={"instance": "sessions-tiny"})


def test_a_proof_has_a_second_opinion_unless_a_larger_one_has() -> None:
    proof = {"name": "sessions-any-size"}
    live = {"name": "sessions-live", "tier": "full", "liveness": [KNOWN]}
    must_fail = {"name": "sessions-must-fail", "expect": {"every": "refuted"}}
    seen = [*made("proof", proof=[proof, must_fail])]
    assert seen == ["sessions-any-size", "sessions-must-fail", "sessions-second-opinion"]
    found = made("proof", proof=[proof, live])
    assert [*found] == ["sessions-any-size", "sessions-live"]
    assert found["sessions-live"]["second_opinion"]
    assert [*made("proof", proof=[proof], locked=False)] == ["sessions-any-size"]


def test_a_wrong_protocol_is_searched_on_what_is_interpreted() -> None:
    tests = {"search": {"some:Wrong": [VIEW]}}
    found = made("instance", self_tests=tests)["sessions-tiny-refuted"]
    assert found["bounds"] == TINY["bounds"]
    assert found["engines"] == ["interpreted", "distribute"]
    assert found["expect"] == {"refuted": [VIEW]}
    with pytest.raises(ManifestError, match="no instance is interpreted"):
        made("instance", instance=[], self_tests=tests)
    with pytest.raises(ManifestError, match=r"self_tests\.seek is an unknown key"):
        made("instance", self_tests={"seek": {}})


def test_an_argument_without_guarantees_must_fail() -> None:
    said = {"name": "sessions-argument", "claims": ["environment.IN_ORDER", "follows.a.b"], "reads": ["r:R"]}
    found = made("argument", argument=[said | {"needed": {"IN_ORDER": "sessions-out-of-order"}}])
    refuted = found["sessions-argument-must-fail"]
    assert refuted["claims"] == ["follows.a.b", "environment.IN_ORDER"]
    assert refuted["needed"] == {"IN_ORDER": "sessions-tiny"}, "nothing breaks there"
    assert refuted["without_guarantees"]


def test_an_entry_that_is_like_another_takes_what_it_does_not_say() -> None:
    crash = {"name": "crash", "like": "sessions-tiny", "constants": {"CRASHES": 1}}
    found = made("instance", instance=[TINY, crash])["crash"]
    assert found == {"name": "crash", "bounds": TINY["bounds"], "constants": {"CRASHES": 1}}
    for other in ("sessions-tinny", "crash"):
        with pytest.raises(ManifestError, match=f"instance 'more' is like '{other}'"):
            made("instance", instance=[TINY, crash, {"name": "more", "like": other}])
