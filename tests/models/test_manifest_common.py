"""What a manifest says once for many entries: every entry is complete afterwards, and nothing is idle."""

import copy
import re
from typing import Any

import pytest

from tests.checks.gate.toy import FORWARD, REFERENCE, SAFE, data
from tidemark.models.manifest import Manifest, ManifestError, parse
from tidemark.models.manifest.common import expand

DARK = "vacuity.action.switch_on"
LIT = "vacuity.action.switch_off"


def manifest(common: dict[str, Any], *changes: dict[str, Any], drop: tuple[str, ...] = ()) -> Manifest:
    """The toy's manifest with a common part, and changes of its instances."""
    content = copy.deepcopy(data())
    content["common"] = common
    for entry, change in zip(content["instance"], changes, strict=False):
        entry.update(change)
        for key in drop:
            del entry[key]
    return parse(content, file="lights.toml")


def error(*arguments: Any, **options: Any) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        manifest(*arguments, **options)
    assert "lights.toml" in str(caught.value)
    assert caught.value.remedy
    return caught.value


def test_an_entry_takes_what_it_does_not_say_itself():
    common = {"instance": {"engines": ["explore", "distribute"], "about": "A lamp."}}
    first, second = manifest(common, {}, {"about": "Two lamps."}, drop=("engines",)).instance
    assert first.engines == second.engines == ("explore", "distribute")
    assert (first.about, second.about) == ("A lamp.", "Two lamps.")


def test_the_protocol_is_the_manifests_unless_another_is_named():
    first, second = manifest({}, {}, {"protocol": "tests.protocols.lights:Darker"}).instance
    content = copy.deepcopy(data())
    del content["instance"][0]["protocol"]
    assert parse(content, file="lights.toml").instance[0].protocol == first.protocol == REFERENCE
    assert second.protocol == "tests.protocols.lights:Darker"


def test_a_reason_stands_for_its_ids():
    common = {"vacuous": {"nobody is there": [DARK, LIT]}, "skip": {"too small": [FORWARD]}}
    whole = manifest(
        common,
        {"vacuous": ["nobody is there"], "skip": ["too small"]},
        {"vacuous": {"the lamp stays": [LIT]}},
    )
    first, second = whole.instance
    assert first.vacuous == {DARK: "nobody is there", LIT: "nobody is there"}
    assert first.skip == {FORWARD: "too small"}
    assert second.vacuous == {LIT: "the lamp stays"}


def test_reasons_of_its_own_beside_common_ones():
    (first, _) = manifest(
        {"vacuous": {"nobody is there": [DARK]}}, {"vacuous": ["nobody is there", {"the lamp stays": [LIT]}]}
    ).instance
    assert first.vacuous == {DARK: "nobody is there", LIT: "the lamp stays"}


def program(**changes: Any) -> dict[str, Any]:
    entry = {"name": "program", "program": "no:where", "expect": {"every": "holds"}}
    return {**entry, **changes}


def test_claims_are_added_to_the_common_ones():
    content = {
        "common": {"interleave": {"claims": ["refinement"]}},
        "interleave": [program(more_claims=[SAFE])],
    }
    (entry,) = expand(content, file="x")["interleave"]
    assert entry["claims"] == ["refinement", SAFE]
    assert "more_claims" not in entry


def test_without_common_claims_programs_have_those_of_a_refinement():
    content = {
        "properties": {"invariant": [SAFE], "transition_invariant": [FORWARD], "reachable": ["seen"]},
        "common": {"interleave": {"more_claims": ["own"]}},
        "interleave": [program(), program(more_claims=["another"]), program(claims=["own"])],
    }
    by_rule, more, stated = expand(content, file="x")["interleave"]
    assert by_rule["claims"] == ["refinement", "execution", SAFE, FORWARD, "own"]
    assert more["claims"] == [*by_rule["claims"], "another"]
    assert stated["claims"] == ["own"]


@pytest.mark.parametrize(
    ("common", "entry", "said"),
    [
        ({}, {"more_claims": [SAFE]}, "more_claims without common claims"),
        ({"claims": ["a"]}, {"claims": ["b"], "more_claims": [SAFE]}, "more_claims without common claims"),
        ({"claims": ["a"]}, {"more_claims": ["a"]}, "more_claims has 'a', which is common"),
        ({"claims": ["a"]}, {"more_claims": "b"}, "more_claims = 'b' is not a list of ids"),
    ],
)
def test_claims_that_cannot_be_added(common, entry, said):
    with pytest.raises(ManifestError, match=said):
        expand({"common": {"interleave": common}, "interleave": [program(**entry)]}, file="x")


def test_a_survivor_is_explained_by_its_reason():
    content = {
        "generated": [{"name": "all", "equivalent": {"slower, not wrong": ["a/dropped", "b/dropped"]}}]
    }
    (entry,) = expand(content, file="x")["generated"]
    assert entry["equivalent"] == {"a/dropped": "slower, not wrong", "b/dropped": "slower, not wrong"}


@pytest.mark.parametrize(
    ("common", "change", "said"),
    [
        ({"vacuous": {"nobody is there": [DARK]}}, {"vacuous": ["nobody's there"]}, "did you mean"),
        ({}, {"vacuous": ["nobody is there"]}, "unknown reason 'nobody is there'"),
        ({"vacuous": {"nobody is there": [DARK]}}, {}, r"no entry uses common\.vacuous \. 'nobody is there'"),
        ({"instance": {"tier": "full"}}, {"tier": "fast"}, r"no entry uses common\.instance \. 'tier'"),
        ({"vacuous": {"a": [DARK], "b": [DARK]}}, {"vacuous": ["a", "b"]}, "by 'a' and by 'b'"),
        ({}, {"vacuous": {DARK: "nobody is there"}}, "= 'nobody is there' is not a list of ids"),
        ({}, {"vacuous": {"nobody is there": []}}, "is not a list of ids"),
        ({}, {"skip": 3}, "skip = 3 is not a table"),
        ({"instances": {}}, {}, r"common\.instances is an unknown key"),
        ({"instance": []}, {}, r"common\.instance = \[\] is not a table"),
        ({"instance": {"bound": 3}}, {}, "bound is an unknown key"),
    ],
)
def test_what_cannot_be_used(common, change, said):
    found = error(common, change, dict(change) if "tier" in change else {})
    assert re.search(said, f"{found.message} {found.remedy}")
