"""The compiled kernel of an instance as the distributed search wants it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tidemark.checks.spark.search.search_kernel import BELOW_ZERO, Expanded
from tidemark.checks.spark.states.packed_states import PackedStates
from tidemark.models.instance import Instance
from tidemark.models.native.kernel import Buffers, Kernel, compile_kernel

FACTORY = "tidemark.checks.spark.search.native_kernel:native"


def native(instance: Instance) -> NativeKernel:
    """The compiled kernel. Raises NativeError, BadInstance."""
    return NativeKernel(compile_kernel(instance))


class NativeKernel:
    """See ``SearchKernel``; results are views of buffers that
    are used again.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._buffers = Buffers(kernel, kernel.chunk)
        self._claims = [claim.id for claim in kernel.step_claims]

    @property
    def words(self) -> int:
        """Words of a state."""
        return self._kernel.words

    @property
    def chunk(self) -> int:
        """States that may be expanded in one call."""
        return self._kernel.chunk

    def initial(self) -> PackedStates:
        """The initial states."""
        return self._kernel.initial_block()

    def expand(self, block: PackedStates) -> Expanded:
        """Successors of a block of at most ``chunk`` states."""
        buffers = self._buffers
        for counters in (buffers.stats, buffers.flags, buffers.seen):
            counters.fill(0)
        count = self._kernel.run(block, buffers)
        guards = np.packbits(buffers.flags[: self._kernel.plan.guards] != 0, bitorder="little").tobytes()
        return Expanded(
            successors=buffers.successors[:count],
            parent=buffers.parent[:count],
            step=buffers.step[:count],
            generated=tuple(buffers.stats[:, 0].tolist()),
            out_of_bounds=tuple(buffers.stats[:, 1].tolist()),
            deadlocks=int(np.count_nonzero(buffers.enabled[: block.shape[0]] == 0)),
            guards=int.from_bytes(guards, "little"),
            events=frozenset(
                self._claims[index] for index in np.flatnonzero(buffers.seen[: len(self._claims)])
            )
            | ({BELOW_ZERO} if buffers.stats[:, 2].any() else set()),
        )

    def failing(self, block: PackedStates) -> Mapping[str, npt.NDArray[np.bool_]]:
        """By invariant the rows where it fails."""
        bits = self._kernel.check(block)
        union = np.bitwise_or.reduce(bits, axis=0) if bits.size else np.zeros(1, np.uint64)
        found = {}
        for index, claim in enumerate(self._kernel.state_claims):
            bit = np.uint64(1 << (index % 64))
            if union[index // 64] & bit:
                found[claim.id] = (bits[:, index // 64] & bit) != 0
        return found

    def unpack(self, row: tuple[int, ...]) -> tuple[Any, ...]:
        """The interpreter's state of one packed state."""
        return self._kernel.codec.unpack(row)
