"""The table of claims: complete, and true of the monitors."""

from __future__ import annotations

from pathlib import Path

from tidemark.checks.evidence.claims import _TRACE, OF_CLIENTS, PROTOCOLS, abilities, lines, spec_claims
from tidemark.checks.evidence.histories.claims import CLAIMS
from tidemark.checks.evidence.monitors.run import MONITORS


def test_every_claim_of_every_protocol_has_its_line() -> None:
    listed = list(abilities())
    assert [one.claim for one in listed] == [claim.id for claim in spec_claims()]
    assert {one.claim.partition(".")[0] for one in listed} == set(PROTOCOLS)
    assert [
        one.claim for one in listed if bool(one.by) == bool(one.missing) and one.kind != "reachable"
    ] == []
    assert all(one.missing for one in listed if one.kind == "reachable")
    assert len([one for one in listed if one.by]) >= 18


def test_nothing_is_said_of_claims_that_there_are_not() -> None:
    known = {claim.id for claim in spec_claims()}
    assert set(_TRACE) <= known
    assert set(OF_CLIENTS) <= known
    assert set(OF_CLIENTS.values()) <= CLAIMS.keys()
    judged = {one.property_id for one in MONITORS}
    assert judged <= known
    assert not judged & set(_TRACE)


def test_steps_that_a_claim_needs_are_actions() -> None:
    """What stands in backticks is an action of the claim's protocol."""
    import re

    from tidemark.spec.language.protocol import resolve

    actions = {name: {a.name for a in resolve(ref).trace().actions} for name, ref in PROTOCOLS.items()}
    for claim, text in _TRACE.items():
        assert set(re.findall(r"`(\w+)`", text)) <= actions[claim.partition(".")[0]], claim


def test_every_protocol_of_the_repository_is_there() -> None:
    spec = Path(__file__).parents[3] / "spec"
    folders = {path.parent.name for path in spec.glob("*/actions.py")}
    assert set(PROTOCOLS) == folders


def test_names_are_unique() -> None:
    assert len({one.name for one in MONITORS}) == len(MONITORS)
    assert all(one.rule.endswith(".") and set(one.needs) <= set(one.kinds) for one in MONITORS)
    assert any("history.kept" in line for line in lines())
