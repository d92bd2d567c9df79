"""Actions torn in two: a protocol that breaks, one that does not, and a tearing that tears nothing."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from tidemark.checks.argument import torn as tearing
from tidemark.checks.argument.judge import JUDGE
from tidemark.checks.argument.torn import TYPES, Fate, Tearing, Trial, hosts, kept_text
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Outcome
from tidemark.models.interpreted.interpreter import BelowZeroError, Interpreter
from tidemark.models.interpreted.search import Search
from tidemark.models.manifest import Manifest, load, manifest_files, parse
from tidemark.models.manifest.errors import ManifestError
from tidemark.models.mutation import torn as rules
from tidemark.models.mutation.torn import Rule, TornInstance
from tidemark.models.rooms import ROOT
from tidemark.spec.language.protocol import resolve

_TICKETS = "tests.protocols.tickets:Tickets"
_BOUNDS = {"Guest": 2, "Left": 2}


def _manifest(**torn: Any) -> Manifest:
    instance = {"name": "two-guests", "protocol": _TICKETS, "engines": ["explore"], "bounds": _BOUNDS}
    data = {
        "name": "tickets",
        "protocol": _TICKETS,
        "properties": {
            "invariant": ["tickets.one_ticket"],
            "transition_invariant": ["tickets.gone_is_gone"],
            "reachable": ["tickets.somebody_enters"],
        },
        "instance": [instance],
    }
    return parse(data | {"torn": torn}, file="tickets.toml")


def _outcomes(manifest: Manifest) -> Mapping[str, Outcome]:
    verdicts = JUDGE.run(manifest.argument[0], Context(manifest=manifest))
    return {one.subject.property_id.partition(".")[2]: one.outcome for one in verdicts}


@pytest.mark.parametrize(
    ("action", "rule", "expected"),
    [
        ("take", Rule.TORN, Trial(Fate.FALLS, "two-guests", 0, "tickets.one_ticket", 3, ("take(1)",))),
        ("take", Rule.OWN, Trial(Fate.FALLS, "two-guests", 0, "tickets.one_ticket", 3, ("take(1)",))),
        ("enter", Rule.TORN, Trial(Fate.FALLS, "two-guests", 0, "tickets.gone_is_gone", 3, ("shut",))),
        ("enter", Rule.OWN, Trial(Fate.SAME, "two-guests", 0)),
        ("give_back", Rule.TORN, Trial(Fate.HOLDS, "two-guests", 0)),
        ("give_back", Rule.TWICE, Trial(Fate.FALLS, "two-guests", 0, "types", 5, ("take(1)",))),
        ("take", Rule.TWICE, Trial(Fate.FALLS, "two-guests", 0, "tickets.one_ticket", 2)),
    ],
)
def test_what_becomes_of_a_torn_action(action: str, rule: Rule, expected: Trial) -> None:
    found = Tearing(_manifest(ends=[])).trial(action, rule)
    assert (found.fate, found.claim, found.steps, found.between) == (
        expected.fate,
        expected.claim,
        expected.steps,
        expected.between,
    )


@pytest.mark.parametrize("rule", Rule)
def test_the_interpreter_finds_the_same_and_no_late_step_makes_a_number_negative(rule: Rule) -> None:
    for action in resolve(_TICKETS).trace().actions:
        instance = TornInstance(_TICKETS, _BOUNDS, action=action.name, rule=rule, ends=("shut",))
        found = Tearing(_manifest(), ("shut",)).trial(action.name, rule)
        if found.claim == TYPES:
            with pytest.raises(BelowZeroError, match=r"the step give_back\(\d\) makes sold = -1"):
                Search(Interpreter(instance)).run()
            continue
        reached = Search(Interpreter(instance)).run()
        if found.fate is not Fate.FALLS:
            assert (found.fate is Fate.HOLDS, found.states) == (bool(reached.found), len(reached.parents))
        assert found.claim in {"", *reached.found}


def test_the_end_of_a_process_ends_what_it_has_looked_at() -> None:
    ended = Tearing(_manifest(ends=["shut"]), ("shut",))
    assert ended.trial("enter", Rule.TORN).fate is Fate.SAME
    assert ended.trial("take", Rule.TORN).between == ("take(1)",)


def test_an_action_that_falls_needs_a_reason_and_no_other_has_one() -> None:
    assert _outcomes(_manifest(lock=["take"])) == dict.fromkeys(
        ("take", "give_back", "enter", "shut"), Outcome.HOLDS
    )
    assert _outcomes(_manifest(ends=["shut"]))["take"] is Outcome.REFUTED
    assert _outcomes(_manifest(lock=["take", "enter"]))["enter"] is Outcome.REFUTED


def test_a_tearing_that_keeps_the_guard_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "own_place", lambda _action, _part: True)
    assert _outcomes(_manifest(lock=["take"]))["take"] is Outcome.REFUTED


def test_a_search_that_is_stopped_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tearing, "LIMITS", tearing.SearchLimits(states=3))
    monkeypatch.setattr(tearing, "CHUNK", 1)
    assert _outcomes(_manifest(lock=["take"]))["give_back"] is Outcome.INCONCLUSIVE


def test_bad_input() -> None:
    with pytest.raises(BadInputError, match="no action 'takes'"):
        _outcomes(_manifest(lock=["takes"]))
    with pytest.raises(BadInputError, match="no instance on which"):
        Tearing(_manifest().model_copy(update={"instance": ()}))
    with pytest.raises(ManifestError, match="two reasons"):
        _manifest(lock=["take"], luck=["take"])


@pytest.fixture(scope="module")
def manifests() -> list[Manifest]:
    return [load(path) for path in manifest_files()]


def test_each_protocol_with_an_instance_is_torn_and_stands_in_the_document(manifests: list[Manifest]) -> None:
    torn = [one for one in manifests if any(entry.torn is not None for entry in one.argument)]
    assert [one.name for one in torn] == [one.name for one in manifests if hosts(one)]
    actions = sum(len(resolve(one.protocol).trace().actions) for one in torn)
    page = (ROOT / "docs" / "assumptions.md").read_text(encoding="utf-8")
    assert f"{kept_text(manifests)}\n" in page
    assert f" {actions} actions\nof {len(torn)} protocols" in page


def test_reasons_name_what_there_is(manifests: list[Manifest]) -> None:
    claims = {claim for one in manifests for claim in one.kinds}
    for manifest in manifests:
        own = {*resolve(manifest.protocol).trace().environment, *(one.name for one in manifest.entries())}
        reasons = (reason for entry in manifest.argument for reason in (entry.torn or {}).values())
        assert {name for reason in reasons for name in re.findall(r"`(.*?)`", reason)} <= claims | own
