"""The gate is red, with the right exit status, for everything that is not exactly as expected."""

import pytest

from tests.checks.gate.toy import FORWARD, SAFE, expected_verdicts, fakes, manifest, trace
from tidemark.checks.gate.resume import earlier_results
from tidemark.checks.gate.run import run
from tidemark.checks.gate.settings import Settings
from tidemark.checks.verdicts.commands import PARTIAL
from tidemark.checks.verdicts.errors import BadInputError, MissingToolError, StoppedError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.plan import plan
from tidemark.checks.verdicts.verdict import (
    COVERAGE,
    RUN_STEPS,
    Aspect,
    amended,
    holds,
    inconclusive,
    proved,
    refuted,
)
from tidemark.models.manifest import Tier


def judged(tmp_path, *, tier=Tier.FULL, changes=None, **answers):
    tasks = plan([manifest(**(changes or {}))], tier=tier)
    return run(tasks, registry=fakes(**answers), settings=Settings(tier=tier.value, build=tmp_path))


def answering(change, judge="explore"):
    """A judge that changes the list of what is expected."""
    return lambda entry, context: change(expected_verdicts(fakes()[judge], entry, context))


def instead(claim, build):
    """A judge that answers as expected, save for one claim."""
    return answering(lambda found: [build(v.subject) if v.subject.property_id == claim else v for v in found])


def but(claim):
    """A judge that says nothing about one claim."""
    return answering(lambda found: [v for v in found if v.subject.property_id != claim])


def raising(error):
    def judge(entry, context):
        raise error

    return judge


def no(subject, reason=""):
    """Refuted, without a run if there is a reason."""
    return refuted(
        subject,
        counts={"distinct": 10},
        counterexample=None if reason else trace(),
        replay="r",
        reason=reason,
    )


def yes(subject, distinct=10, bounds="b"):
    return holds(subject, counts={"distinct": distinct}, bounds=bounds)


class TestVerdicts:
    def test_all_as_expected(self, tmp_path):
        result = judged(tmp_path)
        assert result.failures == []
        assert result.exit_code is ExitCode.AS_EXPECTED
        assert result.mutants() == (1, 1)
        assert result.summary() == "All 11 verdicts of 4 checks are as expected, 1 of 1 planted faults found."

    @pytest.mark.parametrize(
        ("claim", "build", "code"),
        [
            (FORWARD, no, ExitCode.UNEXPECTED_REFUTATION),
            (SAFE, lambda s: inconclusive(s, reason="time-out"), ExitCode.INCONCLUSIVE),
            (COVERAGE, lambda s: no(s, "switch_off never fired"), ExitCode.VACUOUS_OR_UNPINNED),
        ],
        ids=["refuted", "undecided", "vacuous"],
    )
    def test_one_that_is_not_as_expected(self, tmp_path, claim, build, code):
        result = judged(tmp_path, tier=Tier.FAST, explore=instead(claim, build))
        assert len(result.failures) == 1
        assert result.exit_code is code

    def test_a_missing_refutation(self, tmp_path):
        result = judged(
            tmp_path, explore=instead(SAFE, lambda s: yes(s, 10 if s.instance == "two-lamps" else 16))
        )
        assert [j.verdict.subject.instance for j in result.failures] == ["careless"]
        assert result.exit_code is ExitCode.MISSING_REFUTATION

    def test_a_mutant_that_survives(self, tmp_path):
        def survive(entry, context):
            subject = context.subject(entry, "mutate", entry.killer, Aspect.MUTANT)
            return [holds(subject, counts={"distinct": 4}, bounds="b")]

        result = judged(tmp_path, mutate=survive)
        assert result.exit_code is ExitCode.MISSING_REFUTATION
        assert result.mutants() == (0, 1)

    def test_a_mutant_killed_by_another_property(self, tmp_path):
        def other(entry, context):
            subject = context.subject(entry, "mutate", FORWARD, Aspect.MUTANT)
            return [refuted(subject, counts={"distinct": 4}, counterexample=trace(), replay="r")]

        result = judged(tmp_path, mutate=other)
        assert result.exit_code is ExitCode.VACUOUS_OR_UNPINNED
        assert SAFE in result.failures[0].verdict.reason

    def test_bounded_is_not_proved(self, tmp_path):
        bounded = answering(
            lambda found: [holds(v.subject, counts={"obligations": 2}, bounds="depth 5") for v in found],
            "prove",
        )
        assert judged(tmp_path, prove=bounded).exit_code is ExitCode.INCONCLUSIVE

    def test_what_an_instance_cannot_exercise_is_listed(self, tmp_path):
        entry = dict(manifest_instance(), vacuous={"the lamp stays on": ["vacuity.action.switch_off"]})

        def vacuous(entry, context):
            def never(claim):
                return no(context.subject(entry, "explore", claim, Aspect.VACUITY), "never fired")

            rest = but(COVERAGE)(entry, context)
            return [*rest, never(COVERAGE), never("vacuity.action.switch_off")]

        listed = judged(tmp_path, changes={"instance": [entry]}, explore=vacuous)
        assert listed.exit_code is ExitCode.AS_EXPECTED
        unlisted = judged(tmp_path, changes={"instance": [manifest_instance()]}, explore=vacuous)
        assert unlisted.exit_code is ExitCode.VACUOUS_OR_UNPINNED
        gone = judged(tmp_path, changes={"instance": [entry]})
        assert gone.exit_code is ExitCode.VACUOUS_OR_UNPINNED
        assert any("was not looked at" in j.verdict.reason for j in gone.failures)


class TestPins:
    @pytest.mark.parametrize(
        ("answer", "words"),
        [
            (instead(SAFE, lambda s: yes(s, 9)), "distinct: pinned 10, seen 9, 10"),
            (answering(lambda found: [yes(v.subject, 11) for v in found]), "distinct: pinned 10, seen 11"),
            (answering(lambda found: [*found, found[0]]), f"{SAFE!r} is answered 2 times"),
            (but(SAFE), f"{SAFE!r} is pinned but was not judged"),
            (but(COVERAGE), "'coverage' was not looked at"),
            (lambda entry, context: [], "no verdict"),
            (
                lambda entry, context: [
                    *expected_verdicts(fakes()["explore"], entry, context),
                    yes(context.subject(entry, "explore", "lights.surprise")),
                ],
                "'lights.surprise' was judged but is not pinned",
            ),
        ],
    )
    def test_what_is_not_as_pinned_is_said(self, tmp_path, answer, words):
        result = judged(tmp_path, tier=Tier.FAST, explore=answer)
        assert words in result.failures[0].verdict.reason
        assert result.exit_code is ExitCode.VACUOUS_OR_UNPINNED

    def test_the_length_of_a_shortest_run_is_pinned(self, tmp_path):
        def shown(found):
            return [
                amended(v, counts={**v.counts, RUN_STEPS: 2}) if v.counterexample is not None else v
                for v in found
            ]

        (failure,) = judged(tmp_path, explore=answering(shown)).failures
        assert failure.verdict.reason == "counterexample_steps: not pinned"

    def test_each_engine_of_an_instance_is_a_check(self):
        entry = dict(manifest_instance(), engines=["explore", "interpreted", "distribute"])
        tasks = plan([manifest(instance=[entry], mutant=[])], tier=Tier.FULL)
        names = [f"{engine}/two-lamps" for engine in entry["engines"]]
        assert sorted(task.name for task in tasks) == sorted([*names, "prove/any-size"])

    def test_obligations_add_up(self, tmp_path):
        assert judged(tmp_path).exit_code is ExitCode.AS_EXPECTED
        fewer = answering(
            lambda found: [proved(v.subject, counts={"obligations": 1}) for v in found], "prove"
        )
        result = judged(tmp_path, prove=fewer)
        assert "obligations: pinned 6, seen 3" in result.failures[0].verdict.reason

    def test_a_pinned_count_that_nobody_reports(self, tmp_path):
        entry = dict(manifest_instance(), counts={"distinct": 10, "generated": 31})
        silent = answering(lambda found: [yes(v.subject) for v in found])
        result = judged(tmp_path, changes={"instance": [entry]}, explore=silent)
        assert "generated: pinned 31, not reported" in result.failures[0].verdict.reason

    def test_an_instance_without_a_pin_shows_what_to_pin(self, tmp_path):
        entry = dict(manifest_instance())
        entry.pop("counts")
        count = answering(
            lambda found: [holds(v.subject, counts={"distinct": 10, "depth": 3}, bounds="b") for v in found]
        )
        result = judged(tmp_path, changes={"instance": [entry]}, explore=count)
        assert "counts = { depth = 3, distinct = 10 }" in result.failures[0].verdict.reason
        assert result.exit_code is ExitCode.VACUOUS_OR_UNPINNED

    def test_a_verdict_about_another_entry(self, tmp_path):
        def stranger(entry, context):
            other = context.manifest.instance[1]
            return expected_verdicts(fakes()["explore"], other, context)

        result = judged(tmp_path, tier=Tier.FAST, explore=stranger)
        assert any("something else" in j.verdict.reason for j in result.failures)

    def test_generated_mutants(self, tmp_path):
        batch = {"name": "made", "instance": "two-lamps", "total": 3, "equivalent": {"a guard twice": ["m2"]}}

        def answer(ids, survivors):
            def made(entry, context):
                subjects = [context.subject(entry, "mutate", name, Aspect.MUTANT) for name in ids]
                return [yes(s) if s.property_id in survivors else no(s) for s in subjects]

            return judged(tmp_path, changes={"generated": [batch], "mutant": []}, mutate=made)

        assert answer(["m1", "m2", "m3"], {"m2"}).exit_code is ExitCode.AS_EXPECTED
        assert answer(["m1", "m2", "m3"], {"m2"}).mutants() == (2, 2)
        assert answer(["m1", "m2", "m3"], {"m2", "m3"}).exit_code is ExitCode.MISSING_REFUTATION
        assert answer(["m1", "m2", "m3"], set()).exit_code is ExitCode.UNEXPECTED_REFUTATION
        assert answer(["m1", "m2"], {"m2"}).exit_code is ExitCode.VACUOUS_OR_UNPINNED
        assert answer(["m1", "m3", "m4"], set()).exit_code is ExitCode.VACUOUS_OR_UNPINNED


def manifest_instance():
    return manifest().instance[0].model_dump(mode="json", exclude={"section", "claims", "skip", "symmetry"})


class TestTrouble:
    def test_a_missing_tool_does_not_stop_the_others(self, tmp_path):
        result = judged(tmp_path, explore=raising(MissingToolError("no Java", remedy="install one")))
        assert result.exit_code is ExitCode.MISSING_TOOL
        assert [u.task for u in result.unjudged] == ["explore/two-lamps", "explore/careless"]
        assert result.done == 4
        assert result.judgements

    def test_bad_input_in_a_judge_and_an_internal_error_are_told_apart(self, tmp_path):
        error = BadInputError("Position = 99999 needs 3 words", remedy="lower it")
        result = judged(tmp_path, explore=raising(error))
        assert result.exit_code is ExitCode.BAD_INPUT
        assert "99999" in result.unjudged[0].message
        broken = judged(tmp_path, explore=raising(RuntimeError("boom")))
        assert broken.exit_code is ExitCode.INTERNAL_ERROR
        assert "boom" in (tmp_path / "tracebacks.txt").read_text(encoding="utf-8")

    def test_an_unknown_judge(self, tmp_path):
        tasks = plan([manifest()], tier=Tier.FAST)
        result = run(tasks, registry={}, settings=Settings(build=tmp_path))
        assert result.exit_code is ExitCode.MISSING_TOOL

    @pytest.mark.parametrize("signal", [KeyboardInterrupt(), StoppedError("stopped", remedy="none")])
    def test_a_stopped_run_keeps_what_was_done(self, tmp_path, signal):
        result = judged(tmp_path, mutate=raising(signal))
        assert result.stopped
        assert result.exit_code is ExitCode.STOPPED
        assert result.done == 3
        saved = earlier_results(Settings(build=tmp_path))
        assert sum(len(task.judgements) for task in saved.values()) == len(result.judgements) > 0
        assert "Stopped after 3 of 4" in result.summary()


class TestResume:
    def test_judged_tasks_are_taken_over(self, tmp_path):
        judged(tmp_path, mutate=raising(KeyboardInterrupt))
        earlier = earlier_results(Settings(build=tmp_path))
        judges = fakes()
        tasks = plan([manifest()], tier=Tier.FULL)
        result = run(tasks, registry=judges, settings=Settings(tier="full", build=tmp_path), earlier=earlier)
        assert judges["explore"].calls == []
        assert judges["mutate"].calls == ["careless-mutant"]
        assert result.exit_code is ExitCode.AS_EXPECTED
        found = [j.verdict.outcome for j in result.judgements]
        assert found == [j.verdict.outcome for j in judged(tmp_path).judgements]

    def test_nothing_to_go_on_with(self, tmp_path):
        with pytest.raises(BadInputError, match="no stopped run"):
            earlier_results(Settings(build=tmp_path))

    def test_another_seed(self, tmp_path):
        judged(tmp_path)
        with pytest.raises(BadInputError, match="changed"):
            earlier_results(Settings(build=tmp_path, seed=7))

    def test_a_line_that_was_cut_off_is_judged_again(self, tmp_path):
        judged(tmp_path)
        path = tmp_path / PARTIAL
        whole = set(earlier_results(Settings(build=tmp_path)))
        path.write_text(path.read_text(encoding="utf-8")[:-40], encoding="utf-8")
        assert whole - set(earlier_results(Settings(build=tmp_path))) == {"mutate/careless-mutant"}

    def test_a_damaged_file(self, tmp_path):
        judged(tmp_path)
        path = tmp_path / PARTIAL
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        for damaged in (["{}\n", *lines[1:]], [lines[0], lines[1][40:], *lines[2:]], []):
            path.write_text("".join(damaged), encoding="utf-8")
            with pytest.raises(BadInputError, match="damaged"):
                earlier_results(Settings(build=tmp_path))

    def test_what_could_not_be_judged_is_tried_again(self, tmp_path):
        judged(tmp_path, explore=raising(MissingToolError("no Java", remedy="install one")))
        assert set(earlier_results(Settings(build=tmp_path))) == {"prove/any-size", "mutate/careless-mutant"}

    def test_a_folder_that_cannot_be_written(self, tmp_path):
        (tmp_path / "file").write_text("", encoding="utf-8")
        with pytest.raises(BadInputError, match="cannot be written") as caught:
            judged(tmp_path / "file" / "build")
        assert "--build" in caught.value.remedy


class TestPlan:
    def test_tiers(self):
        names = [task.name for task in plan([manifest()], tier=Tier.FAST)]
        assert names == ["prove/any-size", "explore/two-lamps", "mutate/careless-mutant"]
        assert len(plan([manifest()], tier=Tier.FULL)) == 4

    @pytest.mark.parametrize(
        ("only", "names"),
        [
            ("explore/two-lamps", ["explore/two-lamps"]),
            ("two-lamps", ["explore/two-lamps"]),
            ("careless", ["explore/careless"]),
            ("careles", ["explore/careless", "mutate/careless-mutant"]),
            ("explore/*", ["explore/two-lamps", "explore/careless"]),
            ("*mutant", ["mutate/careless-mutant"]),
        ],
    )
    def test_only(self, only, names):
        assert [task.name for task in plan([manifest()], tier=Tier.FULL, only=[only])] == names

    def test_several_patterns(self):
        tasks = plan([manifest()], tier=Tier.FULL, only=["*mutant", "explore/*", "two-lamps"])
        names = ["explore/careless", "explore/two-lamps", "mutate/careless-mutant"]
        assert sorted(task.name for task in tasks) == names

    @pytest.mark.parametrize(
        ("tier", "options", "words"),
        [
            (Tier.FULL, {"only": ["two-lamps", "nothing"]}, "no check matches 'nothing'"),
            (Tier.FAST, {"only": ["explore/two-lumps"]}, "did you mean 'explore/two-lamps'"),
            (Tier.FAST, {"only": ["explore/careless"]}, "--tier full"),
            (Tier.FAST, {"judge": "distribute"}, "nothing to do"),
            (Tier.FULL, {"judge": "prove", "only": ["two-lamps"]}, "verify --only explore/two-lamps"),
        ],
    )
    def test_a_choice_without_a_check_is_an_error(self, tier, options, words):
        with pytest.raises(BadInputError, match=words):
            plan([manifest()], tier=tier, **options)
