"""Mutants are searched with the native search, over a kernel that is put together from parts."""

import numpy as np
import pytest

from tests.manifests import entry_of, manifests
from tests.protocols.ferry import Ferry
from tidemark.checks.gate import registry as gate_registry
from tidemark.checks.mutation.assess import Fate, assess, baseline
from tidemark.checks.mutation.judge import MutateJudge, ids_of, mutate
from tidemark.checks.verdicts.counterexample import Counterexample
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.judge import Context
from tidemark.checks.verdicts.verdict import Outcome, holds, refuted
from tidemark.models.instance import BadInstance, Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.manifest import MutantEntry
from tidemark.models.mutation.generated import mutants_of, mutated
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.parts import KernelOfParts, PartsLibrary
from tidemark.models.native.search.breadth_first import SearchLimits, search

SMALL = "tests.protocols.small:"
INSTANCES = {
    "stations": Instance(
        "tests.protocols.stations:Stations",
        {"Station": 2, "Place": 2, "Balance": (-1, 3)},
        {"route": [0, 1, 0], "capacity": 2},
    ),
    "ferry": Instance(Ferry.reference(), {"Guest": 2, "Trip": 3}, {"room": 1}, "two-guests"),
}


@pytest.mark.parametrize("name", INSTANCES)
def test_parts_give_what_the_whole_gives_in_the_same_order(name):
    instance = INSTANCES[name]
    whole, parts = compile_kernel(instance), KernelOfParts(instance, PartsLibrary())
    found = [search(kernel, workers=1) for kernel in (whole, parts)]
    assert np.array_equal(found[0].states, found[1].states)
    assert np.array_equal(found[0].visited.links, found[1].visited.links)
    one, two = (result.totals for result in found)
    assert (one.state_hits, one.step_hits, one.deadlocks) == (two.state_hits, two.step_hits, two.deadlocks)
    for left, right in ((one.generated, two.generated), (one.guards, two.guards)):
        assert np.array_equal(left, right)
    assert found[0].generated > found[0].distinct > 10


def test_two_workers_find_the_same():
    kernel = KernelOfParts(INSTANCES["stations"], PartsLibrary())
    one, two = (search(kernel, workers=workers) for workers in (1, 2))
    assert np.array_equal(one.states, two.states)
    assert one.totals.step_hits == two.totals.step_hits


def test_a_mutant_shares_all_parts_but_one():
    instance, library = INSTANCES["ferry"], PartsLibrary()
    right = KernelOfParts(instance, library)
    mutant = mutants_of(instance.protocol)[0]
    wrong = KernelOfParts(mutated(instance, mutant.id), library)
    other = [name for name in right.parts if right.parts[name] is not wrong.parts[name]]
    assert other == [mutant.action.name]
    assert wrong.conditions is right.conditions


def test_an_entry_may_ask_for_the_mutants_of_some_actions():
    instance = INSTANCES["ferry"]
    whole = ids_of(instance, ())
    action = mutants_of(instance.protocol)[-1].action.name
    some = ids_of(instance, (action,))
    assert some == [name for name in whole if name.startswith(f"{action}/")]
    assert 0 < len(some) < len(whole)
    with pytest.raises(BadInputError, match="swim"):
        ids_of(instance, (action, "swim"))


def test_fates_by_the_search_and_by_the_interpreter_agree():
    """A mutant is equivalent exactly if the interpreter finds the same steps in every reachable state."""
    instance = INSTANCES["ferry"]
    right = Interpreter(instance)
    states, todo = set(right.initial()), list(right.initial())
    while todo:
        for step in right.successors(todo.pop()):
            if step.in_bounds and step.state not in states:
                states.add(step.state)
                todo.append(step.state)
    for result in mutate(instance):
        wrong = Interpreter(mutated(instance, result.id))
        same = all(_inside(right, state) == _inside(wrong, state) for state in states)
        assert (result.fate is Fate.EQUIVALENT) == (same and set(right.initial()) == set(wrong.initial()))
        assert result.fate is not Fate.UNDECIDED


def _inside(interpreter, state):
    return {(found.step, found.state) for found in interpreter.successors(state) if found.in_bounds}


def test_a_limit_is_no_fate():
    base = baseline(INSTANCES["ferry"], limits=SearchLimits(states=3))
    assert "incomplete: the limit of 3 states was reached" in base.problems[0]
    results = mutate(INSTANCES["ferry"], limits=SearchLimits(states=3))
    assert {result.fate for result in results} == {Fate.UNDECIDED}


def test_a_search_that_was_stopped_kills_by_what_it_saw_only():
    """What it has not reached is not gone: with few states nothing is killed by absence."""
    instance = INSTANCES["ferry"]
    base = baseline(instance, limits=SearchLimits())
    assert not base.problems
    found = [
        assess(base, mutated(instance, one.id), one.id, change="", limits=SearchLimits(states=2))
        for one in mutants_of(instance.protocol)
    ]
    fates = {result.fate for result in found}
    assert fates >= {Fate.UNDECIDED, Fate.EQUIVALENT}
    assert Fate.SURVIVED not in fates
    by = {result.kind for result in found if result.fate is Fate.KILLED}
    assert by <= {"invariant", "transition_invariant"}


def test_no_other_claim_is_the_killer():
    instance = INSTANCES["ferry"]
    base = baseline(instance, limits=SearchLimits())
    asked = 0
    for one in mutate(instance):
        for claim in base.of_kind("invariant", "transition_invariant", "reachable"):
            if one.fate is Fate.KILLED and claim.id != one.killer:
                found = assess(
                    base, mutated(instance, one.id), one.id, change="", limits=SearchLimits(), only=claim.id
                )
                assert found.killer in ("", claim.id)
                assert (found.fate is Fate.KILLED) == bool(found.killer)
                asked += found.fate is Fate.SURVIVED
    assert asked > 5


def test_a_protocol_that_breaks_its_own_claim_is_no_baseline():
    base = baseline(Instance(SMALL + "DieHard", {"Litre": 5}), limits=SearchLimits())
    (broken,) = (claim.id for claim in base.claims if claim.kind == "invariant" and base.found.hit(claim))
    assert base.problems == (f"{broken} is refuted",)


def test_another_judge_refutes_the_killer_and_nothing_else(monkeypatch):
    manifest = manifests()["scheduler"]
    entry = entry_of("scheduler-impl-what-is-dropped-is-not-told")
    assert isinstance(entry, MutantEntry)
    killer = entry.killer
    assert killer is not None

    class Other:
        def run(self, changed, context):
            told = (("another.claim", Outcome.REFUTED), (killer, Outcome.HOLDS))
            return [verdict(context.subject(changed, "interleave", claim), said) for claim, said in told]

    def verdict(subject, said):
        if said is Outcome.HOLDS:
            return holds(subject, counts={"executions": 1}, bounds="b")
        step = Counterexample(initial={"x": 0}, steps=(), failing="x")
        return refuted(subject, counts={"executions": 1}, counterexample=step, replay="r")

    monkeypatch.setattr(gate_registry, "registry", lambda: {"interleave": Other()})
    (found,) = MutateJudge().run(entry, Context(manifest=manifest))
    assert found.outcome is Outcome.HOLDS


@pytest.mark.parametrize(
    ("manifest", "name", "right"),
    [
        ("store", "store-stale-read", {"rule": None}),
        ("retries", "retries-keeps-the-version", {"constants": {}}),
    ],
)
def test_a_named_mutant_may_be_that_of_a_rule_or_of_an_option(manifest, name, right):
    entry, context = entry_of(name), Context(manifest=manifests()[manifest])
    verdicts = [
        verdict
        for one in (entry, entry.model_copy(update=right))
        for verdict in MutateJudge().run(one, context)
    ]
    assert [verdict.outcome for verdict in verdicts] == [Outcome.REFUTED, Outcome.HOLDS]
    with pytest.raises(BadInstance, match="no generated mutant 'see/guard9/dropped'"):
        MutateJudge().run(entry.model_copy(update={"rule": "see/guard9/dropped"}), context)


def test_a_search_stops_on_the_named_claims_only():
    kernel = compile_kernel(Instance(SMALL + "DieHard", {"Litre": 5}))
    (broken,) = (claim.id for claim in kernel.state_claims if search(kernel).hit(claim) is not None)
    assert not search(kernel, limits=SearchLimits(stop_on=frozenset({broken}))).complete
    assert search(kernel, limits=SearchLimits(stop_on=frozenset({"another.claim"}))).complete


@pytest.mark.parametrize(
    ("killer", "outcome"),
    [("scheduler.notified_once", Outcome.REFUTED), ("refinement", Outcome.INCONCLUSIVE)],
)
def test_who_breaks_a_claim_of_the_program_does_not_refute_the_refinement(killer, outcome):
    manifest = manifests()["scheduler"]
    entry = entry_of("scheduler-impl-what-is-dropped-is-not-told")
    assert isinstance(entry, MutantEntry)
    (verdict,) = MutateJudge().run(entry.model_copy(update={"killer": killer}), Context(manifest=manifest))
    assert verdict.outcome is outcome
