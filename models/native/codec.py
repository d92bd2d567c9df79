"""Packed states: the layout of an instance's variables in 64-bit words, packing and unpacking.

A scalar takes the bits that its domain needs and holds the index of the value in the domain. The entries of a
map are placed one after another (a *run*); no entry straddles a word, and a map may be cut into several runs.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tidemark.models.instance import Domain, Instance
from tidemark.models.native.errors import NativeError
from tidemark.spec.language.expr import Value, Variable
from tidemark.spec.language.types import MapType

WORD = 64
MAX_WORDS = 64
MAX_BITS = 62
Block = NDArray[np.uint64]
State = tuple[Any, ...]


@dataclass(frozen=True)
class WordRun:
    """Entries ``first`` .. ``first + count - 1`` of a map, from bit ``shift`` of word ``word`` upwards."""

    first: int
    count: int
    word: int
    shift: int


@dataclass(frozen=True)
class Field:
    """Where a variable is. ``keys`` is empty for a scalar; ``runs`` is empty if the value takes no bits."""

    variable: Variable
    slot: int
    keys: tuple[Domain, ...]
    value: Domain
    runs: tuple[WordRun, ...]

    @property
    def bits(self) -> int:
        """Bits of one entry; 0 if there is only one value."""
        return (self.value.size - 1).bit_length()

    @property
    def entries(self) -> int:
        """Number of entries; 1 for a scalar."""
        return math.prod(domain.size for domain in self.keys)

    @property
    def is_map(self) -> bool:
        """True for a map."""
        return bool(self.keys)

    def places(self) -> list[tuple[int, int]]:
        """Word and shift of each entry, in key order; empty if the value takes no bits."""
        return [(run.word, run.shift + i * self.bits) for run in self.runs for i in range(run.count)]


class Codec:
    """The packed layout of an instance. Raises NativeError if a domain or the whole state is too wide."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        bare = [
            _bare_field(instance, slot, variable) for slot, variable in enumerate(instance.spec.variables)
        ]
        whole, cut = _place(bare, split=False), _place(bare, split=True)
        layout = cut if _words(cut) < _words(whole) else whole
        self.words = max(1, _words(layout))
        if self.words > MAX_WORDS:
            raise NativeError(_too_wide(instance, bare, self.words))
        self.fields = tuple(layout)
        self.by_name = {field.variable.name: field for field in self.fields}

    @property
    def bits(self) -> int:
        """Bits in use."""
        return sum(field.bits * field.entries for field in self.fields)

    @cached_property
    def _plans(self) -> list[tuple[Field, list[tuple[int, int]]]]:
        return [(field, field.places()) for field in self.fields]

    def pack(self, state: State) -> tuple[int, ...]:
        """The words of an interpreter's state. Raises NativeError for a value outside the instance."""
        words = [0] * self.words
        for (field, places), value in zip(self._plans, state, strict=True):
            for number, item in enumerate(value if field.is_map else (value,)):
                index = field.value.index(item)
                if index is None:
                    raise NativeError(
                        f"{self.instance.name}: {field.variable.name} holds {item!r}, outside the bounds of "
                        f"{field.value.type} ({self.instance.bounds_text()}); widen the bound"
                    )
                if places:
                    word, shift = places[number]
                    words[word] |= index << shift
        return tuple(words)

    def unpack(self, words: Sequence[int] | NDArray[np.uint64]) -> State:
        """The interpreter's state of one packed row."""
        plain = [int(word) for word in words]
        return tuple(self._value(field, places, plain) for field, places in self._plans)

    @staticmethod
    def _value(field: Field, places: list[tuple[int, int]], words: list[int]) -> Any:
        values, mask = field.value.values, (1 << field.bits) - 1
        if not places:
            found: tuple[Value, ...] = (values[0],) * field.entries
        else:
            found = tuple(values[(words[word] >> shift) & mask] for word, shift in places)
        return found if field.is_map else found[0]

    def pack_all(self, states: Iterable[State]) -> Block:
        """One row of words per state."""
        rows = [self.pack(state) for state in states]
        return np.array(rows, dtype=np.uint64).reshape(len(rows), self.words)

    def unpack_all(self, block: Block) -> list[State]:
        """The states of all rows."""
        return [self.unpack(row) for row in block.tolist()]


def _bare_field(instance: Instance, slot: int, variable: Variable) -> Field:
    kind = variable.type
    value = instance.domain(kind.value if isinstance(kind, MapType) else kind)
    keys = instance.domains(kind.keys) if isinstance(kind, MapType) else ()
    field = Field(variable, slot, keys, value, ())
    if field.bits > MAX_BITS:
        raise NativeError(
            f"{instance.name}: a value of {variable.name} takes {field.bits} bits, more than {MAX_BITS}; "
            f"lower the bound of {value.type}"
        )
    return field


def _place(fields: Sequence[Field], *, split: bool) -> list[Field]:
    """First fit by decreasing size; with ``split``, a map may continue in the next word."""
    used: list[int] = []
    placed: dict[int, tuple[WordRun, ...]] = {}
    for field in sorted(fields, key=lambda f: (-f.bits * f.entries, f.slot)):
        placed[field.slot] = _fit(field, used, split=split) if field.bits else ()
    return [Field(f.variable, f.slot, f.keys, f.value, placed[f.slot]) for f in fields]


def _fit(field: Field, used: list[int], *, split: bool) -> tuple[WordRun, ...]:
    runs: list[WordRun] = []
    first, bits = 0, field.bits
    while first < field.entries:
        left = field.entries - first
        wanted = 1 if split else min(left, WORD // bits)
        word = next((w for w, taken in enumerate(used) if WORD - taken >= wanted * bits), len(used))
        if word == len(used):
            used.append(0)
        count = min(left, (WORD - used[word]) // bits)
        runs.append(WordRun(first, count, word, used[word]))
        used[word] += count * bits
        first += count
    return tuple(runs)


def _words(fields: Sequence[Field]) -> int:
    return max((run.word + 1 for field in fields for run in field.runs), default=0)


def _too_wide(instance: Instance, fields: Sequence[Field], words: int) -> str:
    widest = max(fields, key=lambda field: field.bits * field.entries)
    shape = f"{widest.entries} entries of {widest.bits} bits" if widest.is_map else f"{widest.bits} bits"
    return (
        f"{instance.name}: a state takes {words} words of {WORD} bits, more than {MAX_WORDS}; the widest "
        f"variable is {widest.variable.name} with {shape}; lower the bounds ({instance.bounds_text()})"
    )
