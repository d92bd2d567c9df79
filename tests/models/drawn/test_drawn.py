"""All engines say the same of drawn protocols; what would make them differ is found, and shown small."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.models.drawn.compare import Comparison
from tests.models.drawn.text import Drawn, drawn
from tidemark.checks.explore import liveness
from tidemark.checks.spark.search.runners import OnSpark
from tidemark.checks.spark.states.sent_filter import SentFilter
from tidemark.models.exports.promela import to_promela
from tidemark.models.exports.tla import to_tla
from tidemark.models.interpreted.interpreter import BelowZeroError, Interpreter
from tidemark.models.interpreted.search import Search
from tidemark.models.native.codegen import actions
from tidemark.models.native.search.merge import Merge
from tidemark.models.symbolic.runs import Runs

BOUND = """\
from tidemark.spec.language import *

class Counts(Protocol):
    "Counts."

    Place = Nat()
    left: Place = 1

    @action
    def take(s):
        "More than there is."
        s.left = s.left - count(s.Place, lambda p: p > 0)
"""


def test_a_fall_is_explained_without_what_a_quantifier_binds() -> None:
    with pytest.raises(BelowZeroError, match="makes left = -1") as caught:
        Search(Interpreter(Drawn("tidemark.spec.language:Protocol", {"Place": 2}, text=BOUND))).run()
    assert caught.value.below.at == "left = 1"


Plant = Callable[[pytest.MonkeyPatch], None]


@pytest.mark.proof
def test_all_engines_say_the_same_of_drawn_protocols(tmp_path: Path) -> None:
    comparison = Comparison(tmp_path)
    found = list(comparison.of(range(200)))
    assert not found, "\n\n".join(map(str, found))
    seen = comparison.seen
    assert [seen[name] for name in ("native", "three", "rounds")] == [200, 200, 20]
    assert seen["z3"] > 35
    assert seen["states"] > 5_000
    assert min(seen["falls"], seen["claims True"], seen["claims False"], seen["decided after 2"]) > 8


def test_a_protocol_without_an_action_is_written() -> None:
    still = Drawn("tidemark.spec.language:Protocol", {"Place": 2}, text=BOUND.partition("    @action")[0])
    assert ":: false" in to_promela(still)
    assert "\\/ FALSE" in to_tla(still).text


@pytest.mark.skipif(
    not (shutil.which("spin") and shutil.which("gcc")), reason="Spin and gcc are Debian packages"
)
def test_spin_says_the_same(tmp_path: Path) -> None:
    comparison = Comparison(tmp_path, {"spin": 1})
    assert not [str(found) for found in comparison.of([*range(3), 102160])]  # writes to a[a[0]]
    assert comparison.seen["states"] > 10


@pytest.mark.spark
def test_spark_says_the_same(spark: SparkSession, tmp_path: Path) -> None:
    comparison = Comparison(tmp_path, {"spark": 1}, spark=OnSpark(spark))
    assert not [str(found) for found in comparison.of(range(2))]
    assert comparison.seen["spark"] == 2


def test_a_seed_draws_the_same_text_each_time() -> None:
    assert drawn(3) == drawn(3)
    assert drawn(3).text != drawn(4).text


def without_a_conjunct(monkeypatch: pytest.MonkeyPatch) -> None:
    parts = actions._parts

    def fewer(expr: Any) -> Iterator[Any]:
        return iter(list(parts(expr))[1:])

    monkeypatch.setattr(actions, "_parts", fewer)


def without_a_row_of_the_second_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    insert = Merge.insert

    def fewer(self: Merge, chunk: int, rows: Any, at: int, count: int) -> int:
        return insert(self, chunk, rows, at, count - (chunk == 1)) + (chunk == 1)

    monkeypatch.setattr(Merge, "insert", fewer)


def without_strong_fairness(monkeypatch: pytest.MonkeyPatch) -> None:
    fair = liveness.fairness_of
    monkeypatch.setattr(liveness, "fairness_of", lambda *of: replace(fair(*of), strong=()))


def without_the_first_state_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    split = SentFilter.split
    monkeypatch.setattr(SentFilter, "split", lambda *of: [part[1:] for part in split(*of)])


def without_falls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runs, "falls", lambda runs: False)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("engine", "plant", "tries", "lines"),
    [
        ("native", without_a_conjunct, 0, 80),
        ("three", without_a_row_of_the_second_chunk, 0, 80),
        ("native", without_strong_fairness, 0, 80),
        ("rounds", without_the_first_state_sent, 0, 80),
        ("z3", without_falls, 400, 20),
    ],
)
def test_a_planted_fault_is_found_and_shown_small(engine, plant, tries, lines, monkeypatch, tmp_path):
    plant(monkeypatch)
    found = next(Comparison(tmp_path, {engine: 1}, tries=tries).of(range(200)))
    assert found.engine == engine
    assert found.said
    assert len(str(found).splitlines()) < lines
