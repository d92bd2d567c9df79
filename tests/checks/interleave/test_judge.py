"""The judge of interleavings: verdicts, coverage, counterexamples, replay, Spark, its command."""

import pytest

from tests.manifests import manifests
from tidemark.checks.cli.app import run
from tidemark.checks.gate.pins import judgements
from tidemark.checks.interleave.executions.recorded_execution import witness
from tidemark.checks.interleave.executions.token import decode, encode
from tidemark.checks.interleave.judge import JUDGE, program_of
from tidemark.checks.verdicts.errors import BadInputError, UnsoundCombinationError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.plan import Task
from tidemark.checks.verdicts.verdict import COVERAGE, Aspect, Outcome
from tidemark.models.manifest import Expectation, Expected, InterleaveEntry, manifest_files

FLUSH = "tidemark.models.protocols.flush.program:flush"
TINY = {"rows": [1], "flushes": [1]}
RACE = {"rows": [1, 0], "flushes": [1, 2]}
FINAL = "7af8040ac7c98b7c"


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    return Context(manifest=manifests()["flush"], build=tmp_path_factory.mktemp("build"))


def entry(program=FLUSH, *, claims=("refinement", "execution"), **given) -> InterleaveEntry:
    options = {"constants": TINY, **given}
    return InterleaveEntry(
        name="x", program=program, claims=claims, expect=Expectation(every=Expected.HOLDS), **options
    )


def by_claim(verdicts):
    return {verdict.subject.property_id: verdict for verdict in verdicts}


@pytest.mark.parametrize(
    ("reduction", "executions", "blocked", "merged"),
    [("none", 352, 0, 0), ("sleep-sets", 39, 63, 0), ("states", 7, 0, 43)],
)
def test_all_reductions_see_the_same_final_states(context, reduction, executions, blocked, merged):
    found = by_claim(JUDGE.run(entry(reduction=reduction), context))
    verdict = found["refinement"]
    assert verdict.outcome is found["execution"].outcome is Outcome.HOLDS
    assert verdict.counts["executions"] == executions
    assert verdict.counts["blocked"] == blocked
    assert verdict.counts["merged"] == merged
    assert verdict.counts["final_states"] == 3
    assert verdict.notes == (f"final states {FINAL}",)
    assert ("promise" in verdict.bounds) == (reduction == "states")
    assert "untimed clocks" in verdict.bounds


@pytest.mark.parametrize("reduction", ["none", "states"])
def test_a_bound_on_delays_is_a_part_of_the_verdict(context, reduction):
    some = by_claim(JUDGE.run(entry(reduction=reduction, delays=1), context))["refinement"]
    every = by_claim(JUDGE.run(entry(reduction=reduction, delays=100), context))["refinement"]
    assert some.outcome is every.outcome is Outcome.HOLDS
    assert "only orders with at most 1 delays; " in some.bounds
    assert "; 0 choices were left out" not in some.bounds
    assert some.counts["final_states"] < every.counts["final_states"] == 3
    assert every.notes == (f"final states {FINAL}",)


def test_a_bound_on_delays_is_refused_with_what_it_cannot_be_combined_with(context):
    with pytest.raises(UnsoundCombinationError, match="may have more delays"):
        JUDGE.run(entry(delays=1), context)
    with pytest.raises(BadInputError, match="delays are bounded on one core"):
        JUDGE.run(entry(reduction="states", delays=1, distributed=True), context)


@pytest.mark.spark
@pytest.mark.parametrize("reduction", ["sleep-sets", "states"])
def test_subtrees_on_spark_give_the_same_verdicts(context, spark, reduction):
    alone = by_claim(JUDGE.run(entry(reduction=reduction), context))
    master = Context(manifest=context.manifest, build=context.build, master=spark.sparkContext.master)
    spread = by_claim(JUDGE.run(entry(reduction=reduction, distributed=True), master))
    found = {claim: verdict.outcome for claim, verdict in spread.items()}
    assert found == {claim: verdict.outcome for claim, verdict in alone.items()}
    one, many = alone["refinement"], spread["refinement"]
    assert many.notes == one.notes
    assert many.counts["final_states"] == one.counts["final_states"]
    if reduction == "sleep-sets":
        assert many.counts == one.counts


def test_actions_that_no_step_is_are_named(context):
    found = by_claim(JUDGE.run(entry(), context))
    assert found[COVERAGE].outcome is Outcome.REFUTED
    assert found[COVERAGE].subject.aspect is Aspect.VACUITY
    assert "no step is the action crash" in found[COVERAGE].reason
    assert found["vacuity.action.crash"].outcome is Outcome.REFUTED
    assert "vacuity.action.consume" not in found


def listed(context, vacuous):
    """The judgements on the tiny program when its entry lists something as vacuous."""
    given = entry(vacuous=vacuous, counts={"final_states": 3})
    task = Task(context.manifest, given, "interleave")
    return judgements(task, JUDGE, JUDGE.run(given, context))


def never_fired(context):
    found = by_claim(JUDGE.run(entry(), context))
    return {claim: "out of reach" for claim in found if claim.startswith("vacuity.")}


def test_what_is_vacuous_must_be_listed_exactly(context):
    exact = never_fired(context)
    assert all(judgement.ok for judgement in listed(context, exact))
    known = dict(list(exact.items())[1:])
    (missing,) = set(exact) - set(known)
    bad = [judgement for judgement in listed(context, known) if not judgement.ok]
    assert [judgement.verdict.subject.property_id for judgement in bad] == [missing]
    assert bad[0].exit_code is ExitCode.VACUOUS_OR_UNPINNED


def test_what_is_listed_as_vacuous_must_not_happen(context):
    listing = {**never_fired(context), "vacuity.action.consume": "wrong"}
    bad = [judgement for judgement in listed(context, listing) if not judgement.ok]
    assert [judgement.verdict.subject.property_id for judgement in bad] == ["pinned-claims"]
    assert "'vacuity.action.consume' was not looked at" in bad[0].verdict.reason


OVERTAKEN = "flush.a_flush_overtakes_the_callback"


def test_the_race_with_the_callback_is_real(context):
    """A new flush does arrive between the callback's read and its clear; with one flush it cannot."""
    claims = ("refinement", OVERTAKEN)
    idle = {"rows": [0, 0], "flushes": [1, 2]}
    racing = by_claim(JUDGE.run(entry(claims=claims, constants=idle, reduction="states"), context))
    assert racing[OVERTAKEN].outcome is racing["refinement"].outcome is Outcome.HOLDS
    assert racing[OVERTAKEN].subject.aspect is Aspect.VACUITY
    alone = by_claim(JUDGE.run(entry(claims=claims), context))
    assert alone[OVERTAKEN].outcome is Outcome.REFUTED
    assert alone["refinement"].outcome is Outcome.HOLDS


def test_a_search_that_gives_up_decides_nothing(context):
    found = by_claim(JUDGE.run(entry(limit=20), context))
    assert {verdict.outcome for verdict in found.values()} == {Outcome.INCONCLUSIVE}
    assert "the limit of 20 executions is reached" in found["refinement"].reason


MUTANT = "tidemark.models.protocols.flush.mutants.implementation:flush_ts_is_cleared_blindly"
RESET = "flush.reset_only_by_greater_checkpoint"


@pytest.fixture(scope="module")
def refutation(context):
    broken = entry(MUTANT, claims=(RESET, "execution"), constants=RACE, reduction="states")
    return by_claim(JUDGE.run(broken, context))


def test_a_planted_bug_is_refuted_with_its_conjunct(refutation):
    verdict = refutation[RESET]
    assert verdict.outcome is Outcome.REFUTED
    shown = verdict.counterexample
    assert shown is not None
    assert "flush_ts < rpc_position" in shown.failing
    last = shown.changes(len(shown.steps))
    assert ("flush_ts", 2, 0) in last
    assert shown.steps[-1].action.startswith("resume notify.clear")
    assert len(shown.steps) <= 25
    notes = [step.note for step in shown.steps]
    assert "is deliver_flush(2)" in notes
    assert "is sync_for_flush(0)" in notes


def test_claims_beside_a_broken_one_are_undecided(refutation):
    assert refutation["execution"].outcome is Outcome.INCONCLUSIVE
    assert RESET in refutation["execution"].reason
    assert refutation[COVERAGE].outcome is Outcome.INCONCLUSIVE


def test_its_token_replays_from_the_command_line(refutation, capsys):
    command = refutation[RESET].replay.split()
    assert command[:2] == ["tidemark", "replay"]
    assert run(command[1:]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[1].startswith("impl-flush-ts-is-cleared-blindly")
    assert f"REFUTED again: {RESET}" in out


def test_a_corrupt_token_is_bad_input(refutation, capsys):
    token = refutation[RESET].replay.split()[-1]
    place = len(token) // 2
    damaged = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
    assert run(["replay", damaged]) == 5
    error = capsys.readouterr().err
    assert "damaged" in error
    assert "remedy: copy the whole token again" in error


def test_a_token_of_a_program_that_is_gone_is_bad_input(capsys):
    gone = program_of(entry(constants={"rows": [1, 1, 1], "flushes": [1]}))
    assert run(["replay", encode(gone.digest(), ())]) == 5
    assert "no program of the manifest" in capsys.readouterr().err


def test_a_token_without_violation_is_no_longer_refuted(refutation):
    sound = program_of(entry(constants=RACE))
    token = refutation[RESET].replay.split()[-1]
    picks = decode(token).picks
    assert picks
    seen = witness(sound, encode(sound.digest(), ()))
    assert seen.violation is None
    assert seen.final is not None


def test_a_claim_that_no_step_is_checked_for_is_refused(context):
    with pytest.raises(BadInputError, match="flush_completes"):
        JUDGE.run(entry(claims=("flush.flush_completes",)), context)


def test_what_breaks_an_unclaimed_property_is_no_refinement(context):
    broken = entry(MUTANT, constants=RACE, reduction="states")
    found = by_claim(JUDGE.run(broken, context))
    assert found["refinement"].outcome is Outcome.REFUTED
    assert found["refinement"].reason.startswith(RESET)


PROGRAMS = "tests.checks.interleave.programs:"


def test_a_start_that_is_wrong_is_shown_and_replayed(context):
    started = entry(f"{PROGRAMS}WrongAtStart", claims=("begun",), constants={})
    (verdict,) = JUDGE.run(started, context)
    assert (verdict.outcome, verdict.reason) == (Outcome.REFUTED, "begun: x is 0")
    shown = verdict.counterexample
    assert shown is not None
    assert (shown.initial, shown.steps) == ({"cell x": 0, "cell y": 0}, ())
    seen = witness(program_of(started), shown.token)
    assert seen.violation is not None
    assert seen.violation.claim == "begun"


def test_a_program_without_a_specification_is_judged_by_its_execution(context):
    verdict = JUDGE.run(entry(f"{PROGRAMS}Deadlock", claims=("execution",), constants={}), context)[0]
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.counterexample is not None
    assert "nothing can happen any more" in verdict.counterexample.failing
    assert len(verdict.counterexample.steps) <= 4


def test_all_steps_of_a_program_hold_and_are_counted(context):
    quiet = entry(
        "tidemark.checks.crosscheck.peers.shared_memory:shared",
        claims=("execution",),
        constants={"kind": "ainc", "size": 3},
    )
    (verdict,) = JUDGE.run(quiet, context)
    assert verdict.outcome is Outcome.HOLDS
    assert verdict.counts["executions"] == 6


SHARES = "tests.checks.interleave.audits.test_explained:Shares"


def footprints(program=FLUSH, **given):
    return entry(program, claims=("footprints",), reduction="sleep-sets", **given)


def test_the_audit_of_footprints_is_a_claim_of_its_own(context):
    (good,) = JUDGE.run(footprints(), context)
    assert good.outcome is Outcome.HOLDS
    assert good.counts == {"executions": 39, "commuting": 36}
    (bad,) = JUDGE.run(footprints(SHARES, constants={"way": "state"}), context)
    assert bad.outcome is Outcome.REFUTED
    assert "touch nothing in common" in bad.reason
    assert bad.counterexample is not None
    assert [step.action for step in bad.counterexample.steps][-2:] == ["act one#1", "act other#1"]


def test_an_audit_that_has_nothing_to_try_decides_nothing(context):
    alone = "tidemark.checks.crosscheck.peers.shared_memory:shared"
    (verdict,) = JUDGE.run(footprints(alone, constants={"kind": "lastzero", "size": 0}), context)
    assert verdict.outcome is Outcome.INCONCLUSIVE
    assert "no two of its steps" in verdict.reason


@pytest.mark.parametrize("given", [{"claims": ("footprints", "execution")}, {"reduction": "states"}])
def test_footprints_are_claimed_alone_and_where_a_search_rests_on_them(context, given):
    with pytest.raises(BadInputError, match="claimed beside others, or where no search rests on it"):
        JUDGE.run(footprints().model_copy(update=given), context)


FLUSH_MANIFEST = next(str(path) for path in manifest_files() if path.parent.name == "flush")


@pytest.mark.parametrize(
    ("entry", "reduction", "executions"),
    [
        ("tiny-every-order", "optimal", "39 executions"),
        ("tiny-sleep-sets", "none", "352 executions"),
        ("tiny-sleep-sets", "", "39 executions"),
    ],
)
def test_another_reduction_sees_the_pinned_final_states(entry, reduction, executions, tmp_path, capsys):
    """The last one is that of the manifest."""
    given = ["--reduction", reduction] if reduction else []
    assert run(["interleave", entry, *given, "--build", str(tmp_path), "--manifest", FLUSH_MANIFEST]) == 0
    out = capsys.readouterr().out
    assert executions in out
    assert "as pinned" in out


def test_an_unknown_reduction_is_refused_by_name(tmp_path, capsys):
    arguments = ["--reduction", "best", "--build", str(tmp_path), "--manifest", FLUSH_MANIFEST]
    assert run(["interleave", "tiny-every-order", *arguments]) == 5
    error = capsys.readouterr().err
    assert "'best' is not a reduction" in error
    assert "optimal" in error


@pytest.mark.spark
def test_subtrees_on_spark_see_them_too(spark, tmp_path, capsys):
    del spark
    arguments = ["--reduction", "optimal", "--spark", "--build", str(tmp_path), "--manifest", FLUSH_MANIFEST]
    assert run(["interleave", "tiny-every-order", *arguments]) == 0
    assert "39 executions" in capsys.readouterr().out
