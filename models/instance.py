"""A bounded instance of a protocol: how many elements each sort has, the range of each number, the constants.

An instance is the protocol restricted to the states whose numbers lie within the bounds and whose maps hold
their initial value at every key outside. A step that leaves this part is generated but neither counted nor
followed, as under a constraint in TLC. Quantifiers range over the bounded domains. What holds of an instance
holds within these bounds only.
"""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

from tidemark.models.frozen import FrozenMap
from tidemark.spec.language.expr import Const, Value, Variable
from tidemark.spec.language.protocol import initial_literal, resolve
from tidemark.spec.language.spec import Spec
from tidemark.spec.language.types import BoolType, EnumType, MapType, NumberType, SortType, Type

Bound = int | tuple[int, int]


LARGEST_DOMAIN = 1 << 20
"""Greatest number of values of one type: larger domains cannot be enumerated, let alone searched."""


class BadInstance(ValueError):  # noqa: N818 - reads as what it says
    """An instance that does not fit its protocol; the message names the value and the remedy."""


@dataclass(frozen=True)
class Domain:
    """The finite values of a scalar type in an instance, in order; numbers form a range from ``low`` on."""

    type: Type
    values: tuple[Value, ...]
    low: int = 0

    @property
    def size(self) -> int:
        """Number of values."""
        return len(self.values)

    def index(self, value: Value) -> int | None:
        """Position of the value, or None if it lies outside the instance."""
        if isinstance(self.type, EnumType):
            return self.values.index(value)
        place = int(value) - self.low
        return place if 0 <= place < len(self.values) else None


@dataclass(frozen=True)
class Instance:
    """Bounds by type name (sorts: how many; ``Nat``: greatest; ``Int``: lowest, greatest) and constants, of
    maps as nested lists in key order. Equal instances are one key. Another process traces the protocol
    itself. Raises BadInstance.
    """

    protocol: str
    bounds: Mapping[str, Bound] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    name: str = "instance"

    def __post_init__(self) -> None:
        object.__setattr__(self, "bounds", FrozenMap(self.bounds))
        object.__setattr__(self, "constants", FrozenMap(self.constants))

    def __getstate__(self) -> dict[str, Any]:
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def traced(self) -> Spec:
        """The protocol as its author wrote it; a mutant overrides this. Raises SpecError."""
        return resolve(self.protocol).trace()

    @cached_property
    def spec(self) -> Spec:
        """The traced protocol with scalar constants put in."""
        raw = self.traced()
        known = {variable.name: variable for variable in raw.constants}
        self._known(self.constants, list(known), "constant")
        self._known(
            self.bounds, [t.name for t in raw.types if isinstance(t, SortType | NumberType)], "sort or number"
        )
        scalars = {n: v for n, v in self.constants.items() if not isinstance(known[n].type, MapType)}
        for name, value in scalars.items():
            self._check(known[name], value)
        return raw.with_options(scalars)

    def _known(self, given: Mapping[str, Any], names: Sequence[str], what: str) -> None:
        for name in given:
            if name not in names:
                raise BadInstance(
                    f"{self.name}: no {what} {name!r} in {self.protocol}; it has {', '.join(names) or 'none'}"
                )

    def _check(self, variable: Variable, value: Value) -> Value:
        kind = variable.type.value if isinstance(variable.type, MapType) else variable.type
        fits = {
            BoolType: isinstance(value, bool),
            EnumType: isinstance(kind, EnumType) and value in kind.members,
            NumberType: isinstance(value, int) and not isinstance(value, bool),
            SortType: isinstance(value, int) and not isinstance(value, bool),
        }[type(kind)]
        if isinstance(kind, NumberType) and not kind.signed and fits:
            fits = int(value) >= 0
        if not fits or (isinstance(kind, SortType) and self.domain(kind).index(value) is None):
            raise BadInstance(
                f"{self.name}: {value!r} is not a value of {kind} for the constant {variable.name}"
            )
        return value

    def domain(self, kind: Type) -> Domain:
        """The values of a scalar type. Raises BadInstance if the instance gives no bound for it."""
        if isinstance(kind, BoolType):
            return Domain(kind, (False, True))
        if isinstance(kind, EnumType):
            return Domain(kind, kind.members)
        bound = self.bounds.get(kind.name)
        if bound is None:
            raise BadInstance(
                f"{self.name}: no bound for {kind.name or 'a number without a name'}; "
                f"add it to the bounds of the instance"
            )
        if isinstance(kind, SortType):
            low, high = 0, self._whole(kind, bound) - 1
        elif isinstance(bound, int):
            low, high = (0, bound)
        else:
            low, high = bound
        if high < low or (low < 0 and not (isinstance(kind, NumberType) and kind.signed)):
            raise BadInstance(f"{self.name}: the bound {bound!r} leaves no value of {kind.name}")
        if high - low >= LARGEST_DOMAIN:
            raise BadInstance(
                f"{self.name}: the bound {bound!r} gives {kind.name} {high - low + 1} values, more than "
                f"{LARGEST_DOMAIN}; give a smaller bound"
            )
        return Domain(kind, tuple(range(low, high + 1)), low)

    def _whole(self, kind: Type, bound: Bound) -> int:
        if not isinstance(bound, int):
            raise BadInstance(
                f"{self.name}: the bound {bound!r} of the sort {kind.name}; give the number of elements"
            )
        return bound

    def domains(self, keys: tuple[Type, ...]) -> tuple[Domain, ...]:
        """Domains of a map's keys."""
        return tuple(self.domain(key) for key in keys)

    def entries(self, kind: MapType) -> Iterator[tuple[Value, ...]]:
        """All keys of a map in the order in which its values are stored (row-major)."""
        return itertools.product(*(domain.values for domain in self.domains(kind.keys)))

    def keys(self, kind: MapType) -> Iterator[tuple[Const, ...]]:
        """The same as literals."""
        for entry in self.entries(kind):
            yield tuple(Const(key, value) for key, value in zip(kind.keys, entry, strict=True))

    @cached_property
    def map_constants(self) -> dict[str, tuple[Value, ...]]:
        """Values of the map constants, flattened. Raises BadInstance for a missing or a misshapen one."""
        found = {}
        for variable in self.spec.constants:
            if not isinstance(variable.type, MapType):
                raise BadInstance(
                    f"{self.name}: the constant {variable.name} has no value; give it under constants"
                )
            if variable.name not in self.constants:
                raise BadInstance(
                    f"{self.name}: the constant {variable.name} has no value; give {variable.type} as lists"
                )
            found[variable.name] = self._flatten(variable, variable.type)
        return found

    def _flatten(self, variable: Variable, kind: MapType) -> tuple[Value, ...]:
        level: list[Any] = [self.constants[variable.name]]
        for domain in self.domains(kind.keys):
            for part in level:
                if not isinstance(part, tuple) or len(part) != domain.size:
                    given = list(part) if isinstance(part, tuple) else part
                    raise BadInstance(
                        f"{self.name}: the constant {variable.name} wants {domain.size} entries "
                        f"for {domain.type}, not {given!r}"
                    )
            level = [item for part in level for item in part]
        return tuple(self._check(variable, item) for item in level)

    def out_of_bounds_value(self, variable: Variable) -> Value:
        """What a map variable holds at keys outside the instance."""
        return initial_literal(self.spec, variable)

    def bounds_text(self) -> str:
        """The bounds as they must stand in every claim about the instance."""
        parts = [
            f"{n} {b}" if isinstance(b, int) else f"{n} {b[0]}..{b[1]}"
            for n, b in sorted(self.bounds.items())
        ]
        return ", ".join(parts) or "finite by type"
