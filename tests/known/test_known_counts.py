"""Public models have the counts that are known of them: natively all, small ones in the other readings."""

from __future__ import annotations

from typing import Any

import pytest

from tests.protocols.known.counts import ROWS, Row
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.search import Reached
from tidemark.models.interpreted.search import Search as PlainSearch
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import search
from tidemark.models.native.search.path import path_to
from tidemark.models.native.search.result import SearchResult
from tidemark.models.symbolic.enumerate import Enumerator

INTERPRETED = 2_000
"""The interpreter searches instances of fewer states."""
ENUMERATED = 20
"""Z3 enumerates instances of fewer states."""


def searched(row: Row) -> SearchResult:
    """Everything that the native search visits."""
    result = search(compile_kernel(row.instance))
    assert result.complete
    return result


def interpreted(row: Row) -> Reached:
    """Everything that the interpreter visits."""
    reached = PlainSearch(Interpreter(row.instance)).run()
    assert reached.complete
    return reached


def rows(limit: int) -> list[Any]:
    """The rows of fewer states."""
    return [pytest.param(row, id=row.name) for row in ROWS if row.distinct < limit]


@pytest.mark.parametrize("row", rows(10**9))
def test_native_search(row: Row) -> None:
    result = searched(row)
    assert (result.distinct, result.generated, result.depth) == (row.distinct, row.total, row.depth)
    assert result.totals.deadlocks == row.stuck
    lengths = {}
    for claim in row.instance.spec.of_kind("invariant", "lemma", "transition_invariant"):
        hit = result.hit(claim)
        if hit is not None:
            lengths[claim.id.partition(".")[2]] = len(path_to(result, hit).states)
    assert lengths == row.refuted
    assert {name for name, times in result.generated_by_action().items() if not times} == row.never


@pytest.mark.parametrize("row", rows(INTERPRETED))
def test_interpreter(row: Row) -> None:
    reached = interpreted(row)
    assert (len(reached.parents), reached.generated, reached.depth) == (row.distinct, row.total, row.depth)
    refuted = {claim.partition(".")[2]: found for claim, found in reached.found.items()}
    refuted = {name: found for name, found in refuted.items() if name in row.refuted}
    assert {name: len(reached.run_to(found.before)[0]) for name, found in refuted.items()} == row.refuted


@pytest.mark.proof
@pytest.mark.parametrize("row", rows(ENUMERATED))
def test_enumeration_by_z3(row: Row) -> None:
    assert Enumerator(row.instance).reachable() == frozenset(interpreted(row).parents)


def test_another_total_has_a_reason_and_a_variant_or_a_sum_that_has_it() -> None:
    """Where TLC counts a step more than once, the rest of the counts are those of the variant that does."""
    totals = {row.name: row for row in ROWS}
    different = [row for row in ROWS if row.tlc_total]
    assert len(different) == 4
    for row in different:
        assert row.why
        variant = next((name for name in totals if name.endswith("ByReason") and name in row.why), None)
        if variant is not None:
            other = totals[variant]
            assert (other.distinct, other.total, other.depth) == (row.distinct, row.tlc_total, row.depth)


def test_the_total_of_the_backup_manager_is_explained() -> None:
    """Each manager that is not the reason itself may name any committed one as its reason to commit."""
    (row,) = (row for row in ROWS if row.name == "TwoPhaseWithBackup")
    interpreter = Interpreter(row.instance)
    repeated = 0
    for state in interpreted(row).parents:
        values = interpreter.decode(state)
        phases = list(values["phase"].values())
        committed, prepared = phases.count("committed"), phases.count("prepared")
        ways = (1 + committed) ** prepared * committed ** (3 - prepared)
        steps = committed + (prepared == 3)
        takes_over = values["backup"] == "deciding" and values["decision"] == "hidden"
        repeated += (ways - steps) * ((values["main"] == "deciding") + takes_over)
    assert row.total + repeated == row.tlc_total
