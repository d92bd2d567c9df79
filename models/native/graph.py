"""The transition graph of a finished search, as arrays, for liveness.

Only steps that change the state are edges: fairness is about those, and stuttering is possible anyway. Steps
that leave the bounds are no edges either, and do not count as enabled.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from tidemark.models.native.kernel import Buffers
from tidemark.models.native.search.result import SearchResult

Indices = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Graph:
    """Edges by source: those of state s are ``first[s]:first[s + 1]`` of ``target`` and ``step``."""

    result: SearchResult
    first: NDArray[np.int64]
    target: Indices
    step: NDArray[Any]

    @property
    def states(self) -> int:
        """Number of states."""
        return len(self.first) - 1

    @property
    def edges(self) -> int:
        """Number of edges."""
        return len(self.target)

    def enabled(self, steps: Iterable[int]) -> NDArray[np.uint64]:
        """For each state, bit i % 64 of column i // 64 tells whether the i-th of ``steps`` is enabled."""
        bit_of = bit_numbers(steps, self.result.kernel.plan.steps)
        groups = max(1, -(-int(bit_of.max(initial=-1) + 1) // 64))
        found = np.zeros((self.states, groups), dtype=np.uint64)
        _mark_enabled(self.first, self.step, bit_of, found)
        return found


def bit_numbers(steps: Iterable[int], total: int) -> NDArray[np.int32]:
    """For each step its number among ``steps``, or -1."""
    numbers = np.full(max(1, total), -1, dtype=np.int32)
    for number, step in enumerate(steps):
        numbers[step] = number
    return numbers


def bytes_needed(result: SearchResult) -> int:
    """Bytes that the graph of a search takes at most."""
    edges = int(result.totals.generated.sum() - result.totals.out_of_bounds.sum())
    return edges * 8 + result.distinct * 8


def build_graph(result: SearchResult) -> Graph:
    """Expand all states once more and keep the edges. Raises ValueError for a search that was stopped."""
    if not result.complete:
        raise ValueError(f"the graph of an incomplete search ({result.stopped}) says nothing about liveness")
    if result.symmetry is not None:
        raise ValueError("the graph of representatives says nothing about liveness: cycles need not close")
    kernel, visited = result.kernel, result.visited
    buffers = Buffers(kernel, kernel.chunk)
    degrees = np.zeros(result.distinct + 1, dtype=np.int64)
    targets, steps = [], []
    narrow = np.uint16 if kernel.plan.steps < 1 << 16 else np.int32
    for begin in range(0, result.distinct, buffers.rows):
        end = min(begin + buffers.rows, result.distinct)
        count = kernel.run(result.states[begin:end], buffers)
        found = visited.find(buffers.successors[:count])
        if count and int(found.min()) < 0:
            raise RuntimeError("a successor was not visited: the search was not complete")
        parent = buffers.parent[:count] + begin
        moves = found != parent
        order = np.argsort(parent[moves], kind="stable")
        targets.append(found[moves][order].astype(np.int32))
        steps.append(buffers.step[:count][moves][order].astype(narrow))
        degrees[begin + 1 : end + 1] = np.bincount(parent[moves] - begin, minlength=end - begin)
    return Graph(
        result,
        np.cumsum(degrees),
        np.concatenate(targets) if targets else np.empty(0, np.int32),
        np.concatenate(steps) if steps else np.empty(0, narrow),
    )


@numba.njit(cache=True, nogil=True)
def _mark_enabled(first: Any, step: Any, bit_of: Any, found: Any) -> None:
    for state in range(found.shape[0]):
        for edge in range(first[state], first[state + 1]):
            bit = bit_of[step[edge]]
            if bit >= 0:
                found[state, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)


@numba.njit(cache=True, nogil=True)
def reach(first: Any, target: Any, allowed: Any, sources: Any) -> Any:
    """Breadth-first in ``allowed``: the edge to each state (-2: source, -1: none), and their order."""
    via = np.full(first.size - 1, -1, dtype=np.int64)
    queue = np.empty(first.size - 1, dtype=np.int32)
    head = tail = 0
    for source in sources:
        if allowed[source] and via[source] == -1:
            via[source] = -2
            queue[tail] = source
            tail += 1
    while head < tail:
        state = queue[head]
        head += 1
        for edge in range(first[state], first[state + 1]):
            other = target[edge]
            if allowed[other] and via[other] == -1:
                via[other] = edge
                queue[tail] = other
                tail += 1
    return via, queue[:tail]


@numba.njit(cache=True, nogil=True)
def components(first: Any, target: Any, allowed: Any) -> Any:
    """Component of each state (-1: not ``allowed``), and their number: Tarjan's algorithm with explicit
    stacks.
    """
    size = first.size - 1
    component = np.full(size, -1, dtype=np.int32)
    index = np.zeros(size, dtype=np.int32)
    low = np.zeros(size, dtype=np.int32)
    following = np.empty(size, dtype=np.int64)
    path = np.empty(size, dtype=np.int32)
    open_states = np.empty(size, dtype=np.int32)
    counter = opened = total = 0
    for root in range(size):
        if not allowed[root] or index[root] != 0:
            continue
        path[0], depth = root, 1
        counter += 1
        index[root] = low[root] = counter
        following[root] = first[root]
        open_states[opened] = root
        opened += 1
        while depth:
            state = path[depth - 1]
            if following[state] < first[state + 1]:
                other = target[following[state]]
                following[state] += 1
                if not allowed[other] or component[other] >= 0:
                    continue
                if index[other] == 0:
                    counter += 1
                    index[other] = low[other] = counter
                    following[other] = first[other]
                    open_states[opened] = other
                    opened += 1
                    path[depth] = other
                    depth += 1
                else:
                    low[state] = min(low[state], index[other])
                continue
            depth -= 1
            if depth:
                low[path[depth - 1]] = min(low[path[depth - 1]], low[state])
            if low[state] == index[state]:
                while True:
                    opened -= 1
                    member = open_states[opened]
                    component[member] = total
                    if member == state:
                        break
                total += 1
    return component, total


@numba.njit(cache=True, nogil=True)
def summarise(edges: Any, component: Any, total: Any, enabled: Any, bit_of: Any) -> Any:
    """By component: fair steps enabled in some state, enabled in every state, taken by some edge inside."""
    first, target, step = edges
    groups = enabled.shape[1]
    some = np.zeros((total, groups), dtype=np.uint64)
    every = np.full((total, groups), ~np.uint64(0), dtype=np.uint64)
    taken = np.zeros((total, groups), dtype=np.uint64)
    for state in range(component.size):
        own = component[state]
        if own < 0:
            continue
        for group in range(groups):
            some[own, group] |= enabled[state, group]
            every[own, group] &= enabled[state, group]
        for edge in range(first[state], first[state + 1]):
            bit = bit_of[step[edge]]
            if bit >= 0 and component[target[edge]] == own:
                taken[own, bit // 64] |= np.uint64(1) << np.uint64(bit % 64)
    return some, every, taken
