"""The compiled kernel of an instance: successors of whole blocks of packed states, and conditions on them.

A block is a ``uint64`` array of shape (states, words). Kernels release the interpreter lock while they run,
and are pickled as their instance.
"""

from __future__ import annotations

import ctypes
import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidemark.models.instance import Instance
from tidemark.models.interpreted.interpreter import Interpreter, Step
from tidemark.models.native.codec import Block, Codec
from tidemark.models.native.codegen.module import Plan, conditions_text, kernel_modules, plan
from tidemark.models.native.digest import digest_rows
from tidemark.models.native.jit import Library
from tidemark.spec.language.expr import Expr
from tidemark.spec.language.spec import Property

QUICK_ROWS = 2_000_000
"""A kernel that has expanded so many rows is compiled again with all passes."""
CHUNK = 4096
CHUNK_SUCCESSORS = 1 << 20


@dataclass(frozen=True)
class Expansion:
    """The successors of a block: the states inside the bounds, duplicates included, grouped by action within
    a chunk of rows; ``parent`` is the row of each one's predecessor and ``step`` its index in
    ``Interpreter.steps``. ``generated``, ``out_of_bounds`` and ``below`` count by action: enabled steps,
    those that leave the bounds, and those of them that make a natural number negative. ``guards``: whether
    each guard conjunct held at least once after those evaluated before it. ``enabled`` is 0 for a row without
    any enabled step. ``events``: index of a step claim (``Kernel.step_claims``) -> the first successor that
    decided it.
    """

    successors: Block
    parent: NDArray[np.int64]
    step: NDArray[np.int32]
    generated: NDArray[np.int64]
    out_of_bounds: NDArray[np.int64]
    below: NDArray[np.int64]
    guards: NDArray[np.bool_]
    enabled: NDArray[np.uint8]
    events: dict[int, int]


Room = tuple[Block, NDArray[np.int64], NDArray[np.int32]]


class Buffers:
    """Room for the results of ``expand`` on at most ``rows`` rows. ``store``: arrays for successors, parents
    and steps.
    """

    def __init__(self, kernel: Kernel, rows: int, store: Room | None = None) -> None:
        layout, room = kernel.plan, max(1, rows * kernel.plan.steps)
        self.rows = rows
        if store is None:
            store = (
                np.empty((room, kernel.words), dtype=np.uint64),
                np.empty(room, dtype=np.int64),
                np.empty(room, dtype=np.int32),
            )
        self.successors, self.parent, self.step = store
        self.cursor = np.zeros(1, dtype=np.int64)
        self.enabled = np.zeros(rows, dtype=np.uint8)
        self.stats = np.zeros((len(layout.first_step), 3), dtype=np.int64)
        self.flags = np.zeros(max(1, layout.guards), dtype=np.uint8)
        self.seen = np.zeros(max(1, len(layout.step_claims)), dtype=np.uint8)
        self.where = np.zeros(max(1, len(layout.step_claims)), dtype=np.int64)
        arrays = (
            self.successors, self.parent, self.step, self.cursor, self.enabled,
            self.stats, self.flags, self.seen, self.where,
        )  # fmt: skip
        self.addresses = tuple(array.ctypes.data for array in arrays)


class Kernel:
    """The compiled transition relation of an instance. Use ``compile_kernel``."""

    def __init__(self, instance: Instance, *, folder: Path | None = None) -> None:
        self.instance = instance
        self.folder = folder
        self.codec = Codec(instance)
        self.plan: Plan = plan(instance)
        modules = kernel_modules(instance, self.codec)
        self.text = "\n".join(modules)
        self._modules = modules
        self._rows: float = QUICK_ROWS
        self._compiling = threading.Lock()
        self._libraries = [Library(modules, folder, quick=True)]
        self.warm = self._libraries[0].warm
        self._bind()

    def _bind(self) -> None:
        """Call the code that was compiled last. Other threads finish with the old one."""
        library, pointer, size = self._libraries[-1], ctypes.c_void_p, ctypes.c_int64
        self._expand = ctypes.CFUNCTYPE(None, pointer, size, *[pointer] * 9)(library.address("expand"))
        self._check = ctypes.CFUNCTYPE(ctypes.c_uint64, pointer, size, pointer)(library.address("check"))

    def _optimise(self) -> None:
        with self._compiling:
            if len(self._libraries) == 1:
                self._rows = math.inf
                self._libraries.append(Library(self._modules, self.folder))
                self._bind()

    def __reduce__(self) -> tuple[Any, ...]:
        return (compile_kernel, (self.instance,))  # an instance is pickled without its computed properties

    @property
    def words(self) -> int:
        """Words of a state."""
        return self.codec.words

    @property
    def chunk(self) -> int:
        """Rows that are expanded in one call: fewer if a state has very many steps."""
        return max(16, min(CHUNK, CHUNK_SUCCESSORS // max(1, self.plan.steps)))

    @cached_property
    def interpreter(self) -> Interpreter:
        """The interpreter of the same instance."""
        return Interpreter(self.instance)

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps that ``Expansion.step`` counts."""
        return self.interpreter.steps

    @property
    def state_claims(self) -> tuple[Property, ...]:
        """Invariants and lemmas, in the order of the bits that ``check`` gives."""
        return self.plan.state_claims

    @property
    def step_claims(self) -> tuple[Property, ...]:
        """Transition invariants and witnesses, in the order of the indices in ``Expansion.events``."""
        return self.plan.step_claims

    def initial_block(self) -> Block:
        """The initial states. Raises NativeError if one lies outside the bounds."""
        return self.codec.pack_all(self.interpreter.initial())

    def run(self, block: Block, buffers: Buffers) -> int:
        """Expand a block into the buffers; gives the number of successors. ``stats``, ``flags`` and ``seen``
        accumulate.
        """
        if block.dtype != np.uint64 or block.shape[1] != self.words or not block.flags.c_contiguous:
            raise ValueError(
                f"a block of {self.words} uint64 words a row is expected, not {block.dtype} {block.shape}"
            )
        if len(block) > buffers.rows:
            raise ValueError(f"{len(block)} rows for buffers of {buffers.rows}")
        buffers.cursor[0] = 0
        buffers.enabled[: len(block)] = 0
        self.append(block, buffers)
        return int(buffers.cursor[0])

    def append(self, block: Block, buffers: Buffers) -> None:
        """Append the successors of a block to the buffers; see ``run``."""
        self.append_at(block, *buffers.addresses)

    def append_at(self, block: Block, *addresses: int) -> None:
        """The same with the addresses of the arrays of ``Buffers``, in their order."""
        self._rows -= len(block)
        if self._rows < 0:
            self._optimise()
        self._expand(block.ctypes.data, len(block), *addresses)

    def expand(self, block: Block) -> Expansion:
        """Successors of all rows of a block of any size."""
        block = np.ascontiguousarray(block)
        buffers = Buffers(self, min(self.chunk, max(1, len(block))))
        found: list[tuple[Block, NDArray[np.int64], NDArray[np.int32]]] = []
        enabled, events, total = [], dict[int, int](), 0
        for first in range(0, len(block), buffers.rows):
            part = block[first : first + buffers.rows]
            seen = buffers.seen.copy()
            count = self.run(part, buffers)
            for index in np.flatnonzero(buffers.seen & ~seen):
                events[int(index)] = total + int(buffers.where[index])
            found.append(
                (
                    buffers.successors[:count].copy(),
                    buffers.parent[:count] + first,
                    buffers.step[:count].copy(),
                )
            )
            enabled.append(buffers.enabled[: len(part)].copy())
            total += count
        empty = (np.empty((0, self.words), np.uint64), np.empty(0, np.int64), np.empty(0, np.int32))
        rows, parents, steps = zip(*found, strict=True) if found else tuple((part,) for part in empty)
        return Expansion(
            np.concatenate(rows),
            np.concatenate(parents),
            np.concatenate(steps),
            buffers.stats[:, 0].copy(),
            buffers.stats[:, 1].copy(),
            buffers.stats[:, 2].copy(),
            buffers.flags[: self.plan.guards].astype(np.bool_),
            np.concatenate(enabled) if enabled else np.empty(0, np.uint8),
            events,
        )

    def falls(self, block: Block) -> int:
        """The first row from which a step makes a natural number negative, in a block that has one."""
        first, last = 0, len(block)
        while last - first > 1:
            middle = (first + last) // 2
            if self.expand(block[first:middle]).below.any():
                last = middle
            else:
                first = middle
        return first

    def check(self, block: Block) -> NDArray[np.uint64]:
        """For each row the failing invariants: bit i % 64 of column i // 64 is ``state_claims[i]``."""
        return _conditions(self._check, block, len(self.state_claims))

    def breaks(self, block: Block) -> NDArray[np.uint64] | None:
        """As ``check``, but None if no invariant fails in any row."""
        found = np.empty((len(block), max(1, -(-len(self.state_claims) // 64))), dtype=np.uint64)
        return found if self._check(block.ctypes.data, len(block), found.ctypes.data) else None

    def broken(self, block: Block) -> list[tuple[int, int]]:
        """Broken invariants: the number of each, and the first row that breaks it."""
        marks = self.breaks(block) if len(block) and self.state_claims else None
        if marks is None:
            return []
        rows = (
            (n, np.flatnonzero(marks[:, n // 64] & np.uint64(1 << n % 64)))
            for n in range(len(self.state_claims))
        )
        return [(number, int(own[0])) for number, own in rows if len(own)]

    def digest(self, block: Block) -> NDArray[np.uint64]:
        """A fixed 64-bit mix of each row, the same on every machine."""
        return digest_rows(np.ascontiguousarray(block))


class Conditions:
    """Any conditions on single states, compiled."""

    def __init__(self, instance: Instance, conditions: Sequence[Expr]) -> None:
        self.size = len(conditions)
        text = conditions_text(instance, Codec(instance), conditions)
        self._library = Library((text,), None, quick=True)
        pointer = ctypes.c_void_p
        self._check = ctypes.CFUNCTYPE(ctypes.c_uint64, pointer, ctypes.c_int64, pointer)(
            self._library.address("check")
        )

    def evaluate(self, block: Block) -> NDArray[np.uint64]:
        """For each row, bit i % 64 of column i // 64: condition i holds."""
        return _conditions(self._check, block, self.size)


def _conditions(function: Any, block: Block, size: int) -> NDArray[np.uint64]:
    block = np.ascontiguousarray(block)
    found = np.empty((len(block), max(1, -(-size // 64))), dtype=np.uint64)
    function(block.ctypes.data, len(block), found.ctypes.data)
    return found


def compile_kernel(instance: Instance, *, folder: Path | None = None) -> Kernel:
    """The kernel of an instance; compiled code is kept in ``folder`` (``build/kernels`` by default). Raises
    NativeError if the instance is too wide; BadInstance if its constants break an assumption.
    """
    kernel = Kernel(instance, folder=folder)
    _ = kernel.interpreter  # checks the assumptions on the constants
    return kernel
