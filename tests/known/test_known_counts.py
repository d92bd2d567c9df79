"""Public models have the counts that are known of them, and peers those of other tools; Spin agrees."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.protocols.known.counts import ROWS, Row
from tidemark.checks.crosscheck.peers import COUNTEREXAMPLES, PEERS
from tidemark.checks.crosscheck.spin import run_spin
from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter
from tidemark.models.interpreted.search import Reached
from tidemark.models.interpreted.search import Search as PlainSearch
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import SearchLimits, search
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
    assert all(result.generated_by_action().values())


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


@pytest.mark.parametrize("name", [name for name in PEERS if not name.endswith("-l")])
def test_counts_are_those_of_three_other_tools(name: str) -> None:
    peer = PEERS[name]
    result = search(compile_kernel(peer.instance))
    assert (result.distinct, result.generated, result.depth) == (peer.distinct, peer.generated, peer.depth)
    assert result.complete
    assert not result.totals.state_hits
    assert not result.totals.step_hits
    assert all(result.generated_by_action().values())


@pytest.mark.parametrize(
    ("reference", "expected"), COUNTEREXAMPLES.items(), ids=lambda value: str(value)[-20:]
)
def test_variants_break_after_as_many_steps(reference: str, expected: tuple[dict[str, Any], int]) -> None:
    size, steps = expected
    result = search(compile_kernel(Instance(reference, **size)), limits=SearchLimits(stop_at_first=True))
    hits = [*result.totals.state_hits.values(), *result.totals.step_hits.values()]
    assert min(len(path_to(result, hit).steps) for hit in hits) == steps


needs = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("gcc") is None, reason="spin or gcc is not installed"
)


HERE = ("DiningPhilosophers", "InnerFifo")
"""The rows with the richest steps; Spin agrees on the others too, which take it longer to compile."""


def rows_for_spin() -> list[Any]:
    """The rows that are compared at each run."""
    return [pytest.param(row, id=row.name) for row in ROWS if row.name in HERE]


@pytest.mark.slow
@needs
@pytest.mark.parametrize("row", rows_for_spin())
def test_ports(row: Row, tmp_path: Path) -> None:
    spin = run_spin(row.instance, folder=tmp_path, states=row.distinct, timeout_s=60)
    assert not spin.stopped
    assert (spin.distinct, spin.generated) == (row.distinct, row.total)
    claims = {claim.id: claim.kind for claim in row.instance.spec.properties}
    refuted = {claim.partition(".")[2] for claim in spin.decided if claims[claim] != "reachable"}
    assert refuted == set(row.refuted)


@pytest.mark.slow
@needs
@pytest.mark.parametrize("name", ["tso-s", "flush-cp-s"])
def test_peers(name: str, tmp_path: Path) -> None:
    peer = PEERS[name]
    spin = run_spin(peer.instance, folder=tmp_path, states=peer.distinct, timeout_s=60)
    assert not spin.stopped
    assert (spin.distinct, spin.generated) == (peer.distinct, peer.generated)
    assert not spin.decided
