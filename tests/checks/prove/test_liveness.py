"""Liveness for any size, by a ranking, of runs with finitely many faults, too; small instances agree."""

import random
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import Any

import pytest

from tests.protocols_proof.ranked import Lamp
from tidemark.checks.cli.app import run
from tidemark.checks.prove.judge import JUDGE, describe
from tidemark.checks.prove.proof import Proof, prove
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import COVERAGE, Outcome, Verdict
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.manifest import Expectation, Expected, Kind, Manifest, ProofEntry
from tidemark.models.symbolic.ranking import RankingError, is_of_a_step, reasons, resting_on
from tidemark.models.symbolic.subject import ProofSubject
from tidemark.spec.language import SpecError, rank
from tidemark.spec.language.protocol import ranked_claims, ranking_of, resolve

pytestmark = pytest.mark.proof

RANKED = "tests.protocols_proof.ranked"
ARRIVE = "mail.letters_arrive"


def proof(name: str, *claims: str) -> Proof:
    return prove(ProofSubject(f"{RANKED}:{name}", liveness=claims))


def failing(name: str, *claims: str) -> set[str]:
    return {one.obligation.claim for one in proof(name, *claims).open()}


def test_letters_arrive_however_many_there_are():
    found = proof("Mail", ARRIVE)
    assert not found.open()
    names = [one.obligation.name for one in found.of(ARRIVE)]
    assert names == [
        "step:send:letters_arrive:keeps:the_next_arrives",
        "step:deliver:letters_arrive:keeps:the_next_arrives",
        "reason:letters_arrive:covered",
        "reason:letters_arrive:enabled:the_next_arrives",
        "reason:letters_arrive:helps:the_next_arrives",
    ]


def test_a_proof_without_liveness_has_no_such_obligations():
    assert not proof("Mail").of(ARRIVE)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("LosesLetters", "enabled:the_next_arrives"),
        ("StandsStill", "helps:the_next_arrives"),
        ("HasNoCase", "covered"),
        ("WaitsForAnother", "enabled:the_next_arrives"),
    ],
)
def test_what_is_missing_is_named_and_shown(name, reason):
    found = proof(name, ARRIVE)
    (broken,) = (one for one in found.open() if one.obligation.claim == f"{ARRIVE}:{reason}")
    assert broken.model is not None
    assert "does not follow from the invariants" in describe(broken)


def test_a_case_that_another_promise_does_not_end_proves_nothing():
    claims = ("lamps.all_are_switched_on", "lamps.it_is_told")
    assert failing("RestsTooLong", *claims) == {"lamps.it_is_told:rests:first_they_are_switched_on"}


def test_a_number_that_falls_for_ever_is_no_rank():
    found = failing("Falls", "falls.it_ends")
    assert found == {"falls.it_ends:keeps:it_falls", "falls.it_ends:helps:it_falls"}


def test_the_arguments_of_what_helps_stay_the_same():
    assert failing("Turns", "turns.it_ends") == {"turns.it_ends:keeps:whose_turn_it_is"}


def test_sorts_are_finite_and_one_promise_may_rest_on_another():
    found = proof("Lamps", "lamps.all_are_switched_on", "lamps.it_is_told")
    assert not found.open()
    assert found.rests_on("lamps.it_is_told") == ("lamps.all_are_switched_on",)
    assert found.rests_on("lamps.all_are_switched_on") == ()


@pytest.mark.parametrize(
    ("name", "claims", "text"),
    [
        ("Circle", ("lamps.all_are_switched_on", "lamps.it_is_told"), "a circle"),
        ("Lamps", ("lamps.it_is_told",), "rests on lamps.all_are_switched_on, which is not proved here"),
    ],
)
def test_no_promise_rests_on_itself_or_on_nothing(name, claims, text):
    with pytest.raises(RankingError, match=text):
        resting_on([ranking_of(resolve(f"{RANKED}:{name}"), claim) for claim in claims])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Sends", "whose fairness"),
        ("CountsNumbers", "a measure of the type"),
        ("OneArgument", "gives 0 arguments"),
        ("Bare", "has 1 ranks and 0 cases"),
    ],
)
def test_what_cannot_be_a_reason_is_refused(name, text):
    with pytest.raises(SpecError, match=text) as refused:
        ranking_of(resolve(f"{RANKED}:{name}"), ARRIVE)
    assert refused.value.place
    assert refused.value.remedy


def test_the_command_proves_them_and_says_what_is_missing(capsys):
    assert run(["prove", f"{RANKED}:Mail", "--claim", "letters_arrive"]) == ExitCode.AS_EXPECTED
    assert "mail.letters_arrive: proved: for any number of Letter" in capsys.readouterr().out
    assert run(["prove", f"{RANKED}:StandsStill", "--claim", "letters_arrive"]) == ExitCode.INCONCLUSIVE
    assert "helps:the_next_arrives" in capsys.readouterr().out
    assert ranked_claims(resolve(f"{RANKED}:Lamps")) == ("lamps.all_are_switched_on", "lamps.it_is_told")


MANIFEST = """
name = "mail"
protocol = "{ranked}:Mail"
[properties]
lemma = ["mail.numbers_are_given", "mail.every_number_has_its_letter"]
leads_to = ["mail.letters_arrive"]
[proof.any-size]
liveness = ["mail.letters_arrive"]
expect = {{ every = "proved" }}
counts = {{ obligations = {count} }}
[proof.must-fail]
protocol = "{ranked}:StandsStill"
claims = []
liveness = ["mail.letters_arrive"]
expect = {{ every = "refuted" }}
counts = {{ obligations = 1 }}
fails = {{ "mail.letters_arrive:helps:the_next_arrives" = "reason" }}
"""


def test_the_gate_pins_them_and_sees_one_fail(tmp_path, monkeypatch, capsys):
    file = tmp_path / "manifest.toml"
    file.write_text(MANIFEST.format(ranked=RANKED, count=11))
    arguments = ["verify", "--manifest", str(file), "--build", str(tmp_path / "build"), "--jobs", "1"]
    assert run(arguments) == ExitCode.AS_EXPECTED, capsys.readouterr().out
    assert "proved: 5" in capsys.readouterr().out
    # A rule that asks for nothing turns the gate red.
    monkeypatch.setattr("tidemark.models.symbolic.obligations.Obligations._reasons", lambda _self: ())
    assert run([*arguments, "--fresh"]) != ExitCode.AS_EXPECTED


# ---- the rule against all runs of small instances ----

PLACES, MOVES = range(3), range(2)
WALK, ENDS = f"{RANKED}:Walk", "walk.it_ends"
Keep = Callable[[str], bool]


@dataclass(frozen=True)
class Drawn:
    can: list[list[bool]]
    to: list[list[int]]
    begins: list[bool]
    ends: list[bool]
    distance: list[int]
    case: list[list[bool]]

    def steps(self, at: int) -> list[tuple[int | None, int]]:
        """Fair move, or None, and the place that it leads to."""
        fair = [(m, self.to[m][at]) for m in MOVES if self.can[m][at]]
        same = [p for p in PLACES if self.distance[p] == self.distance[at]]
        stray = [(None, p) for m, p in product(MOVES, same) if self.can[m][at] and self.case[m][p]]
        return [*fair, *stray]

    def may_go_on(self) -> bool:
        """Some fair run from a premise never comes to the conclusion."""
        reached = {at for at in PLACES if self.begins[at] and not self.ends[at]}
        while True:
            more = {to for at in reached for _, to in self.steps(at) if not self.ends[to]} - reached
            if not more:
                break
            reached |= more
        rounds = chain.from_iterable(combinations(sorted(reached), size) for size in (1, 2, 3))
        return any(self._goes_round(set(places)) for places in rounds)

    def _goes_round(self, places: set[int]) -> bool:
        """A fair run visits exactly these places for ever."""
        inside = {at: {to for _, to in self.steps(at) if to in places} for at in places}
        for begin in places:
            seen = {begin}
            while more := {to for at in seen for to in inside[at]} - seen:
                seen |= more
            if seen != places:
                return False
        return all(any(not self._moves(m, at) or self.to[m][at] in places for at in places) for m in MOVES)

    def _moves(self, move: int, at: int) -> bool:
        return self.can[move][at] and self.to[move][at] != at


def draw(chance: random.Random) -> Drawn:
    def some(odds: float) -> bool:
        return chance.random() < odds

    return Drawn(
        can=[[some(0.7) for _ in PLACES] for _ in MOVES],
        to=[[chance.choice(PLACES) for _ in PLACES] for _ in MOVES],
        begins=[some(0.8) for _ in PLACES],
        ends=[some(0.4) for _ in PLACES],
        distance=[chance.choice(range(3)) for _ in PLACES],
        case=[[some(0.5) for _ in PLACES] for _ in MOVES],
    )


def follows(drawn: Drawn, keep: Keep) -> bool:
    """Whether the reasons that are kept hold in all states and of all steps of the instance."""
    constants: dict[str, Any] = dict(vars(drawn))
    subject = ProofSubject(WALK, liveness=(ENDS,))
    bounds = {"Place": len(PLACES), "Move": len(MOVES), "Number": 2}
    instance = subject.instance(bounds)
    interpreter = Interpreter(type(instance)(**{**vars(instance), "constants": constants}))
    kept = [one for one in interpreter.spec.of_kind("reason") if keep(one.id)]
    for state in interpreter.initial():
        after = [found.state for found in interpreter.successors(state)]
        for one in kept:
            pairs = [(state, then) for then in after] if is_of_a_step(one) else [(state, None)]
            if not all(interpreter.holds(one, *pair) for pair in pairs):
                return False
    return True


def contradictions(keep: Keep, *, tries: int) -> tuple[int, int]:
    """Of so many walks: those that the reasons say to end, and those of them that need not."""
    chance = random.Random(20261124)
    said = [drawn for drawn in (draw(chance) for _ in range(tries)) if follows(drawn, keep)]
    return len(said), sum(drawn.may_go_on() for drawn in said)


def test_what_the_rule_says_to_end_ends():
    said, wrong = contradictions(lambda _name: True, tries=400)
    assert said > 20
    assert wrong == 0


@pytest.mark.parametrize("part", ["covered", "keeps", "enabled", "helps"])
def test_each_part_of_the_rule_is_needed(part):
    _, wrong = contradictions(lambda name: part not in name, tries=400)
    assert wrong > 0


def test_reasons_are_closed_and_of_the_protocol():
    spec = resolve(WALK).trace()
    found = reasons(spec, [ranking_of(resolve(WALK), ENDS)])
    seen = [one.id.partition(":")[2].partition(":")[0] for one in found]
    assert seen == ["covered", "keeps", "enabled", "helps"]
    assert all(not one.params and one.kind == "reason" for one in found)


def subject(name: str, *claims: str) -> ProofSubject:
    return ProofSubject(f"{RANKED}:{name}", liveness=claims or ("lamp.it_lights",))


def lamp_proof(name: str) -> Proof:
    return prove(subject(name))


def broken(name: str) -> set[str]:
    return {one.obligation.name for one in lamp_proof(name).open()}


def test_it_is_proved_of_runs_with_finitely_many_faults():
    found = lamp_proof("Lamp")
    assert found.of("lamp.it_lights")
    assert not found.open()
    assert found.finitely("lamp.it_lights") == ("faults",)
    assert subject("Lamp").finitely == ("faults",)


@pytest.mark.parametrize(
    ("name", "obligation"),
    [
        ("FaultsForEver", "step:undo:it_lights:keeps:all_have_worked"),
        ("FaultsAreNotCounted", "step:undo:it_lights:keeps:all_have_worked"),
        ("NumbersGoDownForEver", "step:undo:it_lights:keeps:all_have_worked"),
    ],
)
def test_what_is_false_or_not_argued_is_not_proved(name: str, obligation: str):
    assert obligation in broken(name)


def test_what_it_uses_must_be_proved():
    """The false invariant excludes the faults: the conditions hold only because of it."""
    found = lamp_proof("RestsOnALie")
    lost = {one.obligation.claim for one in found.open()}
    assert "lamp.nobody_is_done" in lost
    assert any(claim.startswith("lamp.it_lights:") for claim in lost)


def test_what_it_rests_on_may_be_of_no_fewer_runs():
    with pytest.raises(
        RankingError, match=r"it_shines rests on lamp\.it_lights, which is proved of fewer runs"
    ):
        resting_on(subject("TwoClaims", "lamp.it_lights", "lamp.it_shines").rankings)


def test_a_rank_names_numbers_of_the_state():
    class Unknown(Lamp):
        """It names what is no number."""

        @rank("it_lights", finitely=("lit",))
        def work_to_do(s):
            return s.faults

    with pytest.raises(SpecError, match="'lit', which is no number of the state"):
        ranking_of(Unknown, "lamp.it_lights")


def judged(*finitely: str, name: str = "Lamp") -> list[Verdict]:
    """Verdicts on an entry of the lamp that says of which runs its proof is."""
    protocol = f"{RANKED}:{name}"
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
