"""Actions torn in two: a protocol that breaks, one that does not, and a tearing that tears nothing."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tests.protocols.small import Robbed
from tidemark.checks.argument import torn as tearing
from tidemark.checks.argument.judge import JUDGE
from tidemark.checks.argument.torn import TYPES, Fate, Tearing, hosts, kept_text
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.search import Search
from tidemark.models.manifest import Manifest, load, manifest_files, parse
from tidemark.models.manifest.errors import ManifestError
from tidemark.models.mutation import torn as rules
from tidemark.models.mutation.torn import Rule, TornInstance
from tidemark.models.native.search.breadth_first import SearchLimits
from tidemark.models.rooms import ROOT
from tidemark.spec.language.protocol import resolve

_BOUNDS = {"Process": 2, "Left": 1}
_ACTIONS = ("ask", "enter", "work", "leave", "rob")


def _manifest(**torn: Any) -> Manifest:
    instance = {"name": "two", "protocol": Robbed.reference(), "engines": ["explore"], "bounds": _BOUNDS}
    properties = {"invariant": ["lock.exclusion"]}
    data = {"name": "lock", "protocol": Robbed.reference(), "properties": properties, "instance": [instance]}
    return parse(data | {"torn": torn}, file="lock.toml")


def _outcomes(manifest: Manifest) -> Mapping[str, Outcome]:
    verdicts = JUDGE.run(manifest.argument[0], Context(manifest=manifest))
    return {one.subject.property_id.partition(".")[2]: one.outcome for one in verdicts}


def test_what_becomes_of_a_torn_action() -> None:
    tearing = Tearing(_manifest())
    found = {name: tearing.decisive(name) for name in ("enter", "work", "ask")}
    assert [one.fate for one in found.values()] == [Fate.FALLS, Fate.OWN, Fate.SAME]
    assert str(found["enter"]) == "lock.exclusion falls in 5 steps, by ask(1), enter(1) in between"
    assert found["work"].between == ("rob(0)",)
    assert Tearing(_manifest(), ("rob",)).decisive("work").fate is Fate.SAME
    assert tearing.decisive("rob").claim == TYPES  # none is left, and one is taken
    assert tearing.trial("ask", Rule.TWICE).fate is Fate.HOLDS
    assert tearing.trial("work", Rule.TWICE).between == ("leave(0)",)


@pytest.mark.parametrize("rule", Rule)
@pytest.mark.parametrize("name", _ACTIONS)
def test_the_interpreter_finds_the_same(rule: Rule, name: str) -> None:
    instance = TornInstance(Robbed.reference(), _BOUNDS, action=name, rule=rule, ends=("rob",))
    found = Tearing(_manifest(), ("rob",)).trial(name, rule)
    if found.claim == TYPES:
        return
    reached = Search(Interpreter(instance)).run()
    if found.fate is not Fate.FALLS:
        assert (found.fate is Fate.HOLDS, found.states) == (bool(reached.found), len(reached.parents))
    assert found.claim in {"", *reached.found}


def test_an_action_that_falls_needs_a_reason_and_no_other_has_one() -> None:
    assert _outcomes(_manifest(lock=["enter", "rob"])) == dict.fromkeys(_ACTIONS, Outcome.HOLDS)
    found = _outcomes(_manifest(lock=["work"]))
    assert (found["enter"], found["work"]) == (Outcome.REFUTED, Outcome.REFUTED)


def test_a_tearing_that_keeps_the_guard_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "own_place", lambda _action, _part: True)
    assert _outcomes(_manifest(lock=["enter"]))["enter"] is Outcome.REFUTED


def test_a_search_that_is_stopped_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tearing, "LIMITS", SearchLimits(seconds=0.0))
    assert _outcomes(_manifest(lock=["enter"]))["ask"] is Outcome.INCONCLUSIVE


def test_bad_input() -> None:
    with pytest.raises(BadInputError, match="no action 'enters'"):
        _outcomes(_manifest(lock=["enters"]))
    with pytest.raises(BadInputError, match="no instance on which"):
        Tearing(_manifest().model_copy(update={"instance": ()}))
    with pytest.raises(ManifestError, match="two reasons"):
        _manifest(lock=["enter"], luck=["enter"])


def test_each_protocol_with_an_instance_is_torn_and_stands_in_the_document() -> None:
    manifests = [load(path) for path in manifest_files()]
    torn = {one.name: entry.torn for one in manifests for entry in one.argument if entry.torn}
    assert {*torn, "flowgraph", "reads"} == {one.name for one in manifests if hosts(one)}
    page = (ROOT / "docs" / "assumptions.md").read_text(encoding="utf-8")
    assert f"{kept_text(manifests)}\n" in page
    claims = {claim for one in manifests for claim in one.kinds}
    for manifest in manifests:
        own = {*resolve(manifest.protocol).trace().environment, *(one.name for one in manifest.entries())}
        reasons = " ".join(torn.get(manifest.name, {}).values())
        assert {*re.findall(r"`(.*?)`", reasons)} <= claims | own
