"""Random walks: real runs, the same for the same seed, nothing that the search does not find."""

import pytest

from tidemark.checks.crosscheck.peers import COUNTEREXAMPLES, PEERS
from tidemark.models.instance import Instance
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import search
from tidemark.models.native.simulate import Budget, simulate

SMALL = "tests.protocols.small:"


@pytest.mark.parametrize("protocol", sorted(COUNTEREXAMPLES))
def test_walks_refute_what_the_search_refutes_and_nothing_else(protocol: str) -> None:
    size, _ = COUNTEREXAMPLES[protocol]
    kernel = compile_kernel(Instance(protocol, **size))
    whole, sample = search(kernel), simulate(kernel, budget=Budget(visits=300_000), seed=1)
    refuted = 0
    for claim in (*kernel.state_claims, *kernel.step_claims):
        run, hit = sample.run(claim), whole.hit(claim)
        assert run is None or hit is not None, claim.id
        if run is None or claim.kind == "reachable":
            continue
        refuted += 1
        if claim.kind == "transition_invariant":
            assert not kernel.interpreter.holds(claim, run.states[-2], run.states[-1], run.steps[-1])
        else:
            assert not kernel.interpreter.holds(claim, run.states[-1])
    assert refuted > 0
    assert sample.visits >= 300_000


def test_the_seed_decides() -> None:
    kernel = compile_kernel(PEERS["tso-s"].instance)
    one, again, other = (simulate(kernel, budget=Budget(visits=50_000), seed=seed) for seed in (5, 5, 6))
    for name in ("walks", "visits", "longest", "taken", "enabled"):
        assert getattr(one, name) == getattr(again, name)
    assert {key: run.steps for key, run in one.runs.items()} == {
        key: run.steps for key, run in again.runs.items()
    }
    assert one.taken != other.taken


def test_counters_of_actions() -> None:
    kernel = compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 4}))
    sample = simulate(kernel, budget=Budget(visits=100_000, depth=40), seed=2)
    whole = search(kernel)
    assert not sample.silent
    assert set(sample.taken) == set(whole.generated_by_action())
    for action, count in sample.taken.items():
        assert 0 < count <= sample.enabled[action]
    assert 0 < sample.longest <= 40
    assert sample.stuck is None or not list(kernel.interpreter.successors(sample.stuck.states[-1]))


def test_deadlocks_end_walks() -> None:
    kernel = compile_kernel(Instance(SMALL + "TCommit", {"Manager": 2}))
    sample = simulate(kernel, budget=Budget(visits=20_000), seed=0)
    assert sample.stuck is not None
    assert not list(kernel.interpreter.successors(sample.stuck.states[-1]))
    assert sample.walks > 1024


@pytest.mark.parametrize("budget", [Budget(visits=0), Budget(depth=0)])
def test_a_budget_of_nothing_is_refused(budget: Budget) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        simulate(compile_kernel(Instance(SMALL + "DieHard", {"Litre": 5})), budget=budget)
