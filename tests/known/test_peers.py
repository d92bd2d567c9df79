"""The peers have the counts on which TLC, Spin and Rumur agree, and their variants break as soon."""

from __future__ import annotations

from typing import Any

import pytest

from tidemark.checks.crosscheck.peers import COUNTEREXAMPLES, PEERS
from tidemark.models.instance import Instance
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import SearchLimits, search
from tidemark.models.native.search.path import path_to


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
