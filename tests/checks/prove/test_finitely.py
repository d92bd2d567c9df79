"""A leads_to that is proved of runs in which some number changes finitely often, and not of others."""

from __future__ import annotations

import re

import pytest

from tests.protocols_proof import lamp
from tidemark.checks.prove.judge import JUDGE
from tidemark.checks.prove.proof import Proof, prove
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import COVERAGE, Outcome, Verdict
from tidemark.models.manifest import Expectation, Expected, Kind, Manifest, ProofEntry
from tidemark.models.symbolic.ranking import RankingError, resting_on
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec.language import SpecError, rank
from tidemark.spec.language.protocol import ranking_of

pytestmark = pytest.mark.proof


def subject(name: str, *claims: str) -> ProofSubject:
    return ProofSubject(f"tests.protocols_proof.lamp:{name}", liveness=claims or ("lamp.it_lights",))


def proof(name: str) -> Proof:
    return prove(subject(name))


def broken(name: str) -> set[str]:
    return {one.obligation.name for one in proof(name).open()}


def test_it_is_proved_of_runs_with_finitely_many_faults():
    found = proof("Lamp")
    assert found.of("lamp.it_lights")
    assert not found.open()
    assert found.finitely("lamp.it_lights") == ("faults",)
    assert subject("Lamp").finitely == ("faults",)


@pytest.mark.parametrize(
    ("name", "obligation"),
    [
        ("FaultsForEver", "step:undo:it_lights:keeps:all_have_worked"),
        ("FaultsAreNotCounted", "step:undo:it_lights:keeps:all_have_worked"),
        ("SomeCaseIsMissing", "reason:it_lights:covered"),
        ("WorkChangesNothing", "reason:it_lights:helps:one_works"),
        ("NumbersGoDownForEver", "step:undo:it_lights:keeps:all_have_worked"),
    ],
)
def test_what_is_false_or_not_argued_is_not_proved(name: str, obligation: str):
    assert obligation in broken(name)


def test_what_it_uses_must_be_proved():
    """The false invariant excludes the faults: the conditions hold only because of it."""
    found = proof("RestsOnALie")
    lost = {one.obligation.claim for one in found.open()}
    assert "lamp.nobody_is_done" in lost
    assert any(claim.startswith("lamp.it_lights:") for claim in lost)


def test_what_it_rests_on_may_be_of_no_fewer_runs():
    with pytest.raises(
        RankingError, match=r"it_shines rests on lamp\.it_lights, which is proved of fewer runs"
    ):
        resting_on(subject("TwoClaims", "lamp.it_lights", "lamp.it_shines").rankings)


def test_a_circle_is_refused():
    with pytest.raises(RankingError, match="a circle"):
        resting_on(subject("Circle", "lamp.it_lights", "lamp.it_shines").rankings)


def test_a_rank_names_numbers_of_the_state():
    class Unknown(lamp.Lamp):
        """It names what is no number."""

        @rank("it_lights", finitely=("lit",))
        def work_to_do(s):
            """Nothing."""
            return s.faults

    with pytest.raises(SpecError, match="'lit', which is no number of the state"):
        ranking_of(Unknown, "lamp.it_lights")


def judged(*finitely: str, name: str = "Lamp") -> list[Verdict]:
    """Verdicts on an entry of the lamp that says of which runs its proof is."""
    protocol = f"tests.protocols_proof.lamp:{name}"
    entry = ProofEntry(
        name="lamp-any-size",
        protocol=protocol,
        expect=Expectation(every=Expected.PROVED),
        claims=("lamp.it_lights",),
        liveness=("lamp.it_lights",),
        finitely=finitely,
    )
    properties: dict[Kind, tuple[str, ...]] = {Kind.LEADS_TO: ("lamp.it_lights",)}
    manifest = Manifest(name="lamp", protocol=protocol, properties=properties, proof=(entry,))
    return [
        one for one in JUDGE.run(entry, Context(manifest=manifest)) if one.subject.property_id != COVERAGE
    ]


def test_an_entry_says_of_which_runs_its_proof_is():
    (verdict,) = judged("faults")
    assert verdict.outcome is Outcome.PROVED
    assert "in runs in which faults changes finitely often" in verdict.notes


@pytest.mark.parametrize(
    ("name", "said", "named"),
    [
        ("Lamp", (), r"\['faults'\]"),
        ("Lamp", ("faults", "lit"), r"\['faults'\]"),
        ("Lamp", ("lit",), r"\['faults'\]"),
        ("FaultsForEver", ("faults",), r"\[\]"),
    ],
)
def test_an_entry_that_says_of_other_runs_is_bad_input(name: str, said: tuple[str, ...], named: str):
    with pytest.raises(BadInputError, match="lamp-any-size: finitely = ") as refused:
        judged(*said, name=name)
    assert re.search(f"the ranks name {named}", refused.value.remedy)
