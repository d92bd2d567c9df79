"""The table of claims of liveness: complete, and of one mind with the specifications."""

import inspect

import pytest

from tidemark.checks.argument.table import BOUNDED, LivenessRow, liveness
from tidemark.models.manifest import Expectation, Expected, Kind, Manifest, load, manifest_files
from tidemark.spec.language.protocol import resolve

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def manifests() -> dict[str, Manifest]:
    return {one.name: one for one in map(load, manifest_files())}


@pytest.fixture(scope="module")
def rows(manifests: dict[str, Manifest]) -> dict[str, LivenessRow]:
    return {row.claim: row for row in liveness(manifests.values())}


def test_what_is_not_proved_is_judged_within_bounds_and_says_why(rows: dict[str, LivenessRow]) -> None:
    for row in rows.values():
        if not row.proofs:
            assert row.instances, row.claim
            assert row.reason, f"{row.claim}: its docstring says nothing of {BOUNDED!r}"


def test_no_docstring_denies_what_is_proved(
    rows: dict[str, LivenessRow], manifests: dict[str, Manifest]
) -> None:
    for row in rows.values():
        if row.proofs:
            name, _, method = row.claim.partition(".")
            protocol = resolve(manifests[name].protocol)
            assert BOUNDED not in (inspect.getdoc(getattr(protocol, method)) or ""), row.claim


def test_it_says_of_which_runs(rows: dict[str, LivenessRow]) -> None:
    assert rows["meta.a_change_ends"].finitely == ("faults",)
    assert rows["meta.a_request_ends"].finitely == ()


def test_a_variant_proves_nothing_of_the_protocol(manifests: dict[str, Manifest]) -> None:
    retries = manifests["retries"]
    claim = "retries.a_retry_ends"
    assert [row.proofs for row in liveness([retries])] == [("retries-any-size",)]
    moved = [entry.model_copy(update={"protocol": f"{entry.protocol}Variant"}) for entry in retries.proof]
    (row,) = liveness([retries.model_copy(update={"proof": tuple(moved)})])
    assert row.claim == claim
    assert not row.proofs


def test_an_entry_that_must_fail_proves_nothing(manifests: dict[str, Manifest]) -> None:
    retries = manifests["retries"]
    refuted = Expectation(every=Expected.REFUTED)
    entries = [entry.model_copy(update={"expect": refuted}) for entry in retries.proof]
    (row,) = liveness([retries.model_copy(update={"proof": tuple(entries)})])
    assert not row.proofs
    assert retries.properties[Kind.LEADS_TO] == (row.claim,)
