"""What the distributed search asks of a kernel, and how a worker process gets one.

A kernel is never sent to a worker: its instance is, and every process builds the kernel once.
"""

from __future__ import annotations

import gc
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tidemark.checks.spark.states.packed_states import PackedStates
from tidemark.models.instance import Instance
from tidemark.spec.language.references import load_callable

BELOW_ZERO = "below zero"
"""No claim has this id. Such a step is an error of the protocol."""


@dataclass(frozen=True, kw_only=True)
class Expanded:
    """The successors of a block of states. The arrays may be reused by the next call."""

    successors: PackedStates
    """Those within the bounds, not yet free of duplicates."""
    parent: npt.NDArray[np.int64]
    """For each successor the row of the block that it comes from."""
    step: npt.NDArray[np.int32]
    """For each successor the number of the step, in the interpreter's order of steps."""
    generated: tuple[int, ...]
    """By action: enabled steps, those included that leave the bounds."""
    out_of_bounds: tuple[int, ...]
    """By action: steps beyond the bounds, which are neither counted as states nor followed."""
    deadlocks: int
    """States of the block without any step."""
    guards: int
    """Bit by guard conjunct: it held at least once, after those evaluated before it."""
    events: frozenset[str]
    """Ids of the claims about steps that occurred: broken transition invariants, reached witnesses.
    ``BELOW_ZERO`` if a step makes a natural number negative.
    """


class SearchKernel(Protocol):
    """Packed states of one instance: initial states, successors, invariants."""

    @property
    def words(self) -> int:
        """Words of a state."""

    @property
    def chunk(self) -> int:
        """States that may be expanded in one call."""

    def initial(self) -> PackedStates:
        """The initial states."""

    def expand(self, block: PackedStates) -> Expanded:
        """All successors of a block of at most ``chunk`` states; in the order of steps if the block is one
        state.
        """

    def failing(self, block: PackedStates) -> Mapping[str, npt.NDArray[np.bool_]]:
        """By invariant (lemmas too): the rows where it fails; those that hold everywhere are left out."""

    def unpack(self, row: tuple[int, ...]) -> tuple[Any, ...]:
        """The interpreter's state of one packed state."""


@cache
def kernel_of(instance: Instance, factory: str) -> SearchKernel:
    """The kernel of an instance, made once per process by the ``factory`` (``module:function``)."""
    kernel: SearchKernel = load_callable(factory, what="kernel")(instance)
    # Numba and the specification leave a million objects that never die; without this every task pays for
    # walking them.
    gc.collect()
    gc.freeze()
    return kernel


def task_done() -> None:
    """To be called at the end of a task: Spark's worker looks for garbage after each one.

    What was loaded for the first tasks never dies, and would be looked through every time. Seldom later: what
    is set aside while it is garbage stays for ever.
    """
    global _tasks  # noqa: PLW0603 - of this process
    _tasks += 1
    if _tasks & (_tasks - 1) == 0:
        gc.collect()
        gc.freeze()


_tasks = 0
