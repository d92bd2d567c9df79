"""Symmetry: orbits add up to the unreduced count, verdicts are the same, counterexamples are real runs."""

import itertools
from typing import Any

import numpy as np
import pytest

from tidemark.checks.crosscheck.peers import PEERS, TSO, tso_size
from tidemark.models.instance import Instance
from tidemark.models.native.errors import SymmetryError
from tidemark.models.native.graph import build_graph
from tidemark.models.native.kernel import compile_kernel
from tidemark.models.native.search.breadth_first import search
from tidemark.models.native.search.path import path_to
from tidemark.models.native.symmetry import Symmetry

SMALL = "tests.protocols.small:"
CASES: list[tuple[Instance, tuple[str, ...]]] = [
    (Instance(SMALL + "TwoPhase", {"Manager": 5}), ("Manager",)),
    (Instance(SMALL + "TCommit", {"Manager": 4}), ("Manager",)),
    (Instance(SMALL + "CigaretteSmokers", {"Ingredient": 4}), ("Ingredient",)),
    (Instance(SMALL + "AsynchInterface", {"Data": 4}), ("Data",)),
    (Instance(SMALL + "Lock", {"Process": 3}), ("Process",)),
    (PEERS["tso-s"].instance, ("Process",)),
    (Instance(TSO + "Tso", **tso_size(processes=3, ticks=2, highest=4, overflow=2)), ("Process",)),
]


@pytest.mark.parametrize(("instance", "sorts"), CASES, ids=lambda value: str(value)[-60:])
def test_the_sum_of_orbit_sizes_is_the_unreduced_count(instance: Instance, sorts: tuple[str, ...]) -> None:
    kernel = compile_kernel(instance)
    whole, reduced = search(kernel), search(kernel, symmetry=sorts, workers=2)
    assert reduced.complete
    assert reduced.unreduced == whole.distinct == whole.unreduced
    assert reduced.distinct < whole.distinct
    assert reduced.depth == whole.depth
    symmetry = Symmetry(kernel, sorts)
    assert np.array_equal(
        np.unique(symmetry.representatives(whole.states), axis=0), np.unique(reduced.states, axis=0)
    )
    for claims in (kernel.state_claims, kernel.step_claims):
        for claim in claims:
            one, two = whole.hit(claim), reduced.hit(claim)
            assert (one is None) == (two is None), claim.id
            if one is not None and two is not None:
                assert len(path_to(whole, one).steps) == len(path_to(reduced, two).steps)


def test_a_counterexample_is_a_real_run_that_breaks_the_claim() -> None:
    kernel = compile_kernel(
        Instance(TSO + "Unfenced", **tso_size(processes=3, ticks=2, highest=4, overflow=2))
    )
    whole, result = search(kernel), search(kernel, symmetry=("Process",))
    broken = 0
    for claim in (*kernel.state_claims, *kernel.step_claims):
        hit, other = result.hit(claim), whole.hit(claim)
        assert (hit is None) == (other is None)
        if hit is None or other is None or claim.kind == "reachable":
            continue
        run = path_to(result, hit)
        assert len(run.steps) == len(path_to(whole, other).steps)
        if hit.step is None:
            assert not kernel.interpreter.holds(claim, run.states[-1])
        else:
            assert not kernel.interpreter.holds(claim, run.states[-2], run.states[-1], run.steps[-1])
        broken += 1
    assert broken > 0


def test_all_images_have_one_representative_and_orbits_are_counted() -> None:
    """Against all renamings of decoded states."""
    instance, sorts = CASES[2]
    kernel = compile_kernel(instance)
    symmetry = Symmetry(kernel, sorts)
    for state in kernel.codec.unpack_all(search(kernel).states):
        smoking, offered, missing = state
        images = set()
        for order in itertools.permutations(range(4)):
            renamed = [None] * 4
            for old, new in enumerate(order):
                renamed[new] = smoking[old]
            images.add(kernel.codec.pack((tuple(renamed), offered, order[missing])))
        block = kernel.codec.pack_all([state])
        assert symmetry.orbits(block).tolist() == [len(images)]
        (found,) = np.unique(symmetry.representatives(np.array(sorted(images), dtype=np.uint64)), axis=0)
        assert tuple(found.tolist()) in images


def test_relations_of_nodes_that_are_told_apart_by_others_only() -> None:
    """Relations of four points of which one is chosen: Burnside's lemma, over one, six and eight renamings
    that leave some state as it is.
    """
    instance = Instance("tests.protocols.mazes:Relation", {"Node": 4, "Colour": 2})
    found = search(compile_kernel(instance), symmetry=("Node", "Colour"))
    assert found.unreduced == 2 * 4 * 2**16
    assert found.distinct == (4 * 2**16 + 6 * 2 * 2**10 + 8 * 1 * 2**6) / 24


HERE = "tests.protocols.mazes:Named"


def maze(left: list[int]) -> Instance:
    """Two spots: the left doors lead where it says, the others back to the same spot."""
    same, heard = [0, 1], [True, True]
    constants = {"left": left, "right": same, "down": same, "calls": heard, "comes": heard}
    return Instance("tests.protocols.mazes:Maze", {"Spot": 2}, constants)


def test_elements_that_a_constant_treats_alike() -> None:
    assert [search(compile_kernel(maze(left)), symmetry=("Spot",)).distinct for left in ([0, 1], [1, 0])] == [
        1,
        1,
    ]


@pytest.mark.parametrize(
    ("instance", "sorts", "why"),
    [
        (Instance(HERE, {"Node": 2}, {"first": 0}), ("Node",), "names the element 0 of Node"),
        (Instance(SMALL + "TwoPhase", {"Manager": 9}), ("Manager",), "362880 permutations"),
        (Instance(SMALL + "TwoPhase", {"Manager": 2}), ("Lamb",), "'Lamb' is not an opaque sort.*Manager"),
        (PEERS["flush-cp-s"].instance, ("Segment",), "Segment"),
        (maze([0, 0]), ("Spot",), "the constant left tells"),
        (Instance("tests.protocols.mazes:Log", {"Node": 2, "Place": 1}), ("Node",), "outside the bounds"),
    ],
    ids=["value", "many", "unknown", "constant", "target", "beyond"],
)
def test_sorts_whose_elements_are_not_alike_are_refused(instance, sorts, why):
    with pytest.raises(SymmetryError, match=why):
        search(compile_kernel(instance), symmetry=sorts)


def test_no_liveness_on_representatives() -> None:
    result = search(compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 3})), symmetry=("Manager",))
    with pytest.raises(ValueError, match="says nothing about liveness"):
        build_graph(result)


def test_a_search_with_symmetry_is_the_same_for_any_number_of_workers() -> None:
    kernel = compile_kernel(Instance(SMALL + "TwoPhase", {"Manager": 6}))
    found: list[Any] = [search(kernel, symmetry=("Manager",), workers=n) for n in (1, 3)]
    assert np.array_equal(found[0].states, found[1].states)
    assert np.array_equal(found[0].visited.links, found[1].visited.links)
