"""A natural number that a step makes negative is an error of the protocol, in each engine the same one."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.checks.prove.test_prove import judged
from tests.checks.spark.opponents import make
from tidemark.checks.cli.app import run
from tidemark.checks.mutation.assess import TYPES
from tidemark.checks.mutation.judge import mutate
from tidemark.checks.prove.types import UntypedError, refuse_fall
from tidemark.checks.spark.search.breadth_first import RoundLimits
from tidemark.checks.spark.search.breadth_first import Search as SparkSearch
from tidemark.checks.spark.search.runners import OnSpark
from tidemark.checks.step.session import Session
from tidemark.checks.verdicts.errors import BadInputError
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.explain import explain
from tidemark.models.instance import BadInstance, Instance
from tidemark.models.interpreted.interpreter import BelowZeroError, Interpreter, Step
from tidemark.models.interpreted.search import Search as PlainSearch
from tidemark.models.lemmas.samples import sample
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import search
from tidemark.models.native.simulate import Budget, simulate
from tidemark.models.refinement.step import Matched, StepChecker
from tidemark.models.symbolic.subject import ProofSubject

TILL = Instance("tests.protocols.mazes:Till", {"Key": 1, "Coins": 4}, name="till")
LAST = Step("give", (1,))
DEPTH = 4
"""Steps before the faulty one: two turns, two coins."""


def shop(**constants: Any) -> Instance:
    """Of one shelf."""
    given = {name: [value] for name, value in constants.items()} | {"next": [0]}
    return Instance(
        "tests.protocols.mazes:Shop", {"Shelf": 1, "Amount": 2, "Balance": (-2, 1)}, given, "shop"
    )


def interpreted(instance: Instance) -> tuple[int, int]:
    found = PlainSearch(Interpreter(instance)).run()
    return len(found.parents), found.out_of_bounds


def native(instance: Instance, workers: int = 1) -> tuple[int, int]:
    found = search(compile_kernel(instance), workers=workers)
    return found.distinct, found.out_of_bounds


@pytest.mark.spark
def test_spark_finds_the_same(spark: SparkSession, tmp_path: Path) -> None:
    directory = make(tmp_path / "run", TILL, partitions=2)
    with pytest.raises(BelowZeroError, match=r"5\. give\(1\) makes coins = -1"):
        SparkSearch(directory, spark=OnSpark(spark), limits=RoundLimits(handover=0)).run()
    with pytest.raises(BelowZeroError, match=r"5\. give\(1\) makes coins = -1"):  # a search that goes on
        SparkSearch(directory, limits=RoundLimits()).run()


@pytest.mark.parametrize("workers", [1, 2])
def test_the_shortest_run_to_it_is_shown(workers):
    for engine in (interpreted, lambda instance: native(instance, workers)):
        with pytest.raises(BelowZeroError) as caught:
            engine(TILL)
        error = caught.value
        assert error.step == LAST
        assert (error.below.what, error.below.value) == ("coins", -1)
        assert len(error.steps) == DEPTH
        explained = explain(error)
        assert explained.code is ExitCode.BAD_INPUT
        assert "mazes.py" in explained.message
        assert "the step give(1) makes coins = -1, a negative Coins" in explained.message
        assert [line.split(". ")[1] for line in explained.message.splitlines()[1:3]] == ["turn()"] * 2
        assert "5. give(1) makes coins = -1" in explained.message
        assert "maximum(coins - 1, 0)" in explained.remedy
        assert "coins - 1 is -1 at coins = 0" in explained.message


def test_symmetry_shows_it_too():
    shelves = Instance("tests.protocols_proof.traps:EmptyShelves", {"Shelf": 3, "Amount": 2}, name="shelves")
    with pytest.raises(BelowZeroError, match=r"makes stock\[\d\] = -1") as caught:
        search(compile_kernel(shelves), symmetry=("Shelf",))
    assert [step.action for step in caught.value.steps] == ["sell"]
    again = Interpreter(shelves).transition(caught.value.states[-1], caught.value.step)
    assert again is not None
    assert again.below == caught.value.below


def test_walks_of_each_kind_report_it():
    with pytest.raises(BelowZeroError, match=r"5\. give\(1\) makes"):
        simulate(compile_kernel(TILL), budget=Budget(visits=100_000))
    with pytest.raises(BelowZeroError, match=r"give\(1\) makes"):
        sample(TILL, states=1000, seconds=20.0, seed=1)


def test_by_hand():
    session = Session(Interpreter(TILL))
    for step in [Step("turn")] * 2 + [Step("give", (0,))] * 2:
        session.take(step)
    (found,) = [one for one in session.enabled() if one.below]
    assert found.step == LAST
    with pytest.raises(BadInputError, match=r"5\. give\(1\) makes coins = -1"):
        session.take(LAST)


def test_an_implementation_is_compared_with_it():
    """The interleaving explorer and the conformance machine ask the specification here."""
    session = Session(Interpreter(TILL))
    for step in [Step("turn")] * 2 + [Step("give", (0,))] * 2:
        session.take(step)
    checker = StepChecker(TILL)
    with pytest.raises(BelowZeroError):
        checker.apply(session.state, LAST)
    with pytest.raises(BelowZeroError):
        checker.check(session.state, session.states[0])
    assert checker.check(session.states[0], session.states[1]) == Matched(Step("turn"))


def test_a_key_below_zero_is_an_error_and_one_beyond_the_bounds_is_cut():
    instance = shop(takes=0, needs=0, brings=3)
    interpreter = Interpreter(instance)
    state = interpreter.encode(
        interpreter.decode(next(iter(interpreter.initial()))) | {"balance": -2, "spare": 2}
    )
    found = interpreter.transition(state, Step("mark", (0,)))
    assert found is not None
    assert str(found.below) == "writes marked[-1], a negative Amount"
    cut = interpreter.transition(state, Step("move", (0,)))
    assert cut is not None
    assert cut.below is None
    assert not cut.in_bounds


def test_below_the_bound_of_an_integer_is_cut():
    instance = shop(takes=1, needs=1, brings=0)
    instance = replace(instance, bounds={**instance.bounds, "Balance": (0, 1)})
    assert interpreted(instance) == native(instance)
    states, cut = interpreted(instance)
    assert (states, cut) == (2, 2)


def test_a_negative_constant_of_an_instance_is_refused():
    with pytest.raises(BadInstance, match="-1 is not a value of Amount for the constant takes"):
        native(shop(takes=-1, needs=0, brings=0))


@pytest.mark.proof
def test_no_proof_and_no_bounded_run_goes_past_it():
    with pytest.raises(BelowZeroError, match=r"5\. give\(1\) makes coins = -1"):
        refuse_fall(ProofSubject(TILL.protocol))
    with pytest.raises(BelowZeroError, match="give"):
        judged(TILL.protocol)
    for option in ("--bmc", "--k-induction"):
        assert run(["prove", TILL.protocol, option, "5"]) == ExitCode.BAD_INPUT


@pytest.mark.proof
def test_a_step_from_a_state_that_may_not_be_reachable_is_shown_once():
    with pytest.raises(UntypedError) as caught:
        judged("tests.protocols_proof.traps:NeverBelow")
    assert caught.value.exit_code is ExitCode.INCONCLUSIVE
    assert "type:take:left is not proved: the step take() makes left = -1, a negative Value" in str(
        caught.value
    )
    assert "2 claims rest on it" in str(caught.value)
    assert len(str(caught.value).splitlines()) < 6


MANIFEST = """\
name = "till"
protocol = "tests.protocols.mazes:Till"

[properties]
invariant = ["till.at_most_two"]

[instance.till-four]
engines = ["interpreted", "explore"]
bounds = { Key = 1, Coins = 4 }
expect = { every = "holds" }

[proof.till-any-size]
expect = { every = "proved" }
"""


@pytest.mark.proof
def test_the_gate_shows_it_first_and_once(tmp_path, capsys):
    (tmp_path / "till.toml").write_text(MANIFEST, encoding="utf-8")
    arguments = ["verify", "--manifest", str(tmp_path / "till.toml"), "--build", str(tmp_path / "build")]
    assert run(arguments) == ExitCode.BAD_INPUT
    shown = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    (first,) = [line for line in shown if line.startswith(("NOT JUDGED", "FAIL"))]
    assert "the step give(1) makes coins = -1, a negative Coins" in first
    assert sum("1. turn()" in line for line in shown) == 1
    assert sum("  also " in line and "replay: " in line for line in shown) == 2
    assert len(shown) < 30


def test_a_mutant_that_falls_is_killed_by_its_types():
    instance = Instance("tests.protocols_proof.traps:Guarded", {"Value": 3}, name="guarded")
    results = {result.id: result for result in mutate(instance)}
    fallen = [one for one in results.values() if one.killer == TYPES]
    assert any("take/guard" in one.id for one in fallen)
    for one in fallen:
        assert one.counterexample is not None
        assert "makes left = -1" in one.counterexample.failing
