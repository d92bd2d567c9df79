"""The types of the specification language: ``Bool``, ``Enum``, ``Nat``/``Int``, opaque ``Sort``, total maps.

There are no others: so one text serves an unbounded proof and a packed native kernel. A type is named by the
class attribute that it is assigned to; two numbers with different names do not mix (a position is no
counter).
"""

from dataclasses import dataclass, field
from typing import ClassVar

from tidemark.spec.language.errors import SpecError


@dataclass(frozen=True)
class Type:
    """Base of all types. ``name`` is how messages, traces and bounds speak of it."""

    name: str

    def __set_name__(self, owner: type, name: str) -> None:
        if not self.name:
            object.__setattr__(self, "name", name)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class BoolType(Type):
    """True or false."""

    name: str = "Bool"


@dataclass(frozen=True)
class EnumType(Type):
    """A fixed list of named members; the first one is the default."""

    members: tuple[str, ...] = ()

    def index(self, member: str) -> int:
        """Position of ``member``; ValueError if there is none."""
        return self.members.index(member)


@dataclass(frozen=True)
class NumberType(Type):
    """Whole numbers: from zero on (``Nat``) or of either sign (``Int``). A range of them in an instance.

    An empty name is the type of a bare literal, which mixes with every number.
    """

    signed: bool = False

    def __str__(self) -> str:
        return self.name or ("Int" if self.signed else "Nat")


@dataclass(frozen=True)
class SortType(Type):
    """An opaque sort: elements can only be compared. Any number of them in a proof, a few in an instance."""


@dataclass(frozen=True)
class MapType(Type):
    """A total map from scalar keys to a scalar. A set is a map to Bool, a log a map from position."""

    name: str = ""
    keys: tuple[Type, ...] = field(default=())
    value: Type = field(default_factory=BoolType)

    def __set_name__(self, owner: type, name: str) -> None:
        """Name the map by its keys and value."""

    def __str__(self) -> str:
        return f"Map[{', '.join(map(str, self.keys))}, {self.value}]"


BOOL = BoolType()
LITERAL = NumberType("", signed=False)
LITERAL_INT = NumberType("", signed=True)


def Nat() -> NumberType:
    """A named type of whole numbers from zero on: ``Position: TypeAlias = Nat``, or ``= Nat()``."""
    return NumberType("")


def Int() -> NumberType:
    """A named type of whole numbers of either sign."""
    return NumberType("", signed=True)


def Sort() -> SortType:
    """A named opaque sort: ``Segment: TypeAlias = Sort``, or ``= Sort()``."""
    return SortType("")


class _Enumeration:
    """A named enumeration: ``Phase: TypeAlias = Enum["growing", "sealed"]``, or ``= Enum(...)``.

    Raises SpecError for no member, or a member twice.
    """

    def __call__(self, *members: str) -> EnumType:
        if not members or len(set(members)) != len(members):
            raise SpecError(
                f"an enumeration with the members {list(members)}",
                remedy="Give at least one member and each one once",
            )
        return EnumType("", members)

    def __getitem__(self, members: str | tuple[str, ...]) -> EnumType:
        return self(*members) if isinstance(members, tuple) else self(members)


Enum = _Enumeration()
NAMED = (Nat, Int, Sort)
"""In the body of a protocol they stand for what they return: ``Position: TypeAlias = Nat``."""


class Map:
    """``Map[Key, Value]`` or ``Map[Key1, Key2, Value]``: the type of a total map."""

    _scalar: ClassVar[tuple[type, ...]] = (BoolType, EnumType, NumberType, SortType)

    def __class_getitem__(cls, parts: object) -> MapType:
        items = parts if isinstance(parts, tuple) else (parts,)
        if len(items) < 2:
            raise SpecError("a map needs keys and a value", remedy="Write Map[Key, Value] or Set[Key]")
        for item in items:
            if any(item is kind for kind in NAMED):
                raise SpecError(
                    f"{item.__name__} has no name here: the class is no protocol",
                    remedy="Derive the class from Protocol",
                )
            if not isinstance(item, cls._scalar):
                raise SpecError(
                    f"{item!r} cannot be a key or a value of a map",
                    remedy="Keys and values are Bool, Enum, Nat, Int or Sort; "
                    "use several keys instead of a map of maps",
                )
        return MapType("", tuple(items[:-1]), items[-1])


class Set:
    """``Set[Key]`` is ``Map[Key, Bool]``."""

    def __class_getitem__(cls, parts: object) -> MapType:
        items = parts if isinstance(parts, tuple) else (parts,)
        return Map.__class_getitem__((*items, BOOL))


def least_of(kind: Type) -> int | None:
    """The least value that a type has in every instance: 0 for ``Nat``, none for the others."""
    return 0 if isinstance(kind, NumberType) and not kind.signed else None


def zero_of(kind: Type) -> bool | int | str:
    """The value of a scalar outside every instance's domain: false, 0, the first member, element 0."""
    if isinstance(kind, BoolType):
        return False
    if isinstance(kind, EnumType):
        return kind.members[0]
    return 0
