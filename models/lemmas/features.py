"""The parts of candidates: terms over a few bound variables, and the cases of each."""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tidemark.models.lemmas.samples import Batch, Column, code
from tidemark.spec.language.expr import (
    Apply,
    Const,
    Expr,
    Local,
    Read,
    Select,
    Variable,
    free_locals,
    map_type,
    walk,
)
from tidemark.spec.language.fold import equality, literal, negation
from tidemark.spec.language.protocol import initial_literal
from tidemark.spec.language.spec import Spec
from tidemark.spec.language.types import BOOL, BoolType, EnumType, MapType, NumberType, SortType, Type

Group = tuple[Local, ...]
"""The bound variables of a family of candidates."""


@dataclass(frozen=True)
class Feature:
    """A term with finitely many cases: one of its values, or how two numbers compare."""

    left: Expr
    right: Expr | None = None

    @property
    def locals(self) -> frozenset[str]:
        """Names of the bound variables that occur."""
        return free_locals(self.left) | (free_locals(self.right) if self.right is not None else frozenset())

    def variables(self) -> list[Variable]:
        """The variables that are read, in reading order."""
        parts = [self.left, *([self.right] if self.right is not None else [])]
        return [node.variable for part in parts for node in walk(part) if isinstance(node, Read)]

    @property
    def weight(self) -> int:
        """Its length for a reader."""
        parts = [self.left, *([self.right] if self.right is not None else [])]
        return sum(not isinstance(node, Local) for part in parts for node in walk(part))

    def cases(self) -> tuple[Expr, ...]:
        """Formulas of which exactly one is true, in the order of the codes."""
        kind = self.left.type
        if self.right is not None:
            same = Apply(BOOL, "eq", (self.left, self.right))
            if not isinstance(kind, NumberType):
                return negation(same), same
            below = Apply(BOOL, "lt", (self.left, self.right))
            return below, same, Apply(BOOL, "lt", (self.right, self.left))
        if isinstance(kind, EnumType):
            return tuple(equality(self.left, Const(kind, member)) for member in kind.members)
        return negation(self.left), self.left

    def codes(self, states: Batch, group: Group) -> Column:
        """Which case holds, by state (rows) and values of the bound variables (columns)."""
        left = evaluate(self.left, states, group)
        if self.right is None:
            return left
        right = evaluate(self.right, states, group)
        if isinstance(self.left.type, NumberType):
            return np.asarray(np.sign(left - right) + 1, dtype=np.int64)
        return np.asarray(left == right, dtype=np.int64)


def evaluate(node: Expr, states: Batch, group: Group) -> Column:
    """Values of a term as codes: a row for each state, a column for each assignment of ``group``."""
    match node:
        case Const(type=kind, value=value):
            return np.full((1, 1), code(kind, value), dtype=np.int64)
        case Local(name=name):
            place = [item.name for item in group].index(name)
            grid = itertools.product(*(states.instance.domain(item.type).values for item in group))
            return np.array([[int(values[place]) for values in grid]], dtype=np.int64)
        case Read(variable=variable):
            return states.columns[variable.name][:, :1]
        case Select(map=Read(variable=variable), keys=keys):
            return _entries(variable, [evaluate(key, states, group) for key in keys], states)
    raise TypeError(f"no term of a template: {node}")


def _entries(variable: Variable, keys: Sequence[Column], states: Batch) -> Column:
    kind = variable.type
    assert isinstance(kind, MapType)
    flat: Column = np.zeros((1, 1), dtype=np.int64)
    in_bounds = np.ones((1, 1), dtype=np.bool_)
    for key, domain in zip(keys, states.instance.domains(kind.keys), strict=True):
        at = key - domain.low
        fits = (at >= 0) & (at < domain.size)
        in_bounds = in_bounds & fits
        flat = flat * domain.size + np.where(fits, at, 0)
    table = states.columns[variable.name]
    flat = np.broadcast_to(flat, (states.size, flat.shape[1]))
    out_of_bounds = code(kind.value, initial_literal(states.instance.spec, variable))
    return np.where(in_bounds, np.take_along_axis(table, flat, axis=1), out_of_bounds)


def groups(spec: Spec) -> list[Group]:
    """Bound variables: none, one of each key type, the keys of each map, and these with one doubled."""
    kinds: set[tuple[Type, ...]] = {()}
    for variable in (*spec.variables, *spec.constants):
        keys = map_type(Read(variable.type, variable)).keys if isinstance(variable.type, MapType) else ()
        keys = tuple(key for key in keys if isinstance(key, SortType | NumberType))
        kinds |= {(key,) for key in keys} | {_sorted(keys)}
        kinds |= {_sorted((*keys, key)) for key in keys}
    small = sorted((k for k in kinds if len(k) <= 3), key=lambda k: (len(k), [kind.name for kind in k]))
    return [_named(item) for item in small]


def _sorted(kinds: Iterable[Type]) -> tuple[Type, ...]:
    return tuple(sorted(kinds, key=lambda kind: (isinstance(kind, NumberType), kind.name)))


def _named(kinds: Sequence[Type]) -> Group:
    """Initials of the types, then the letters that follow."""
    names: list[str] = []
    for kind in kinds:
        letter = kind.name[0].lower()
        while letter in names or letter == "s":
            letter = chr((ord(letter) - 96) % 26 + 97)
        names.append(letter)
    return tuple(Local(kind, name) for kind, name in zip(kinds, names, strict=True))


def terms(spec: Spec, group: Group) -> dict[Type, list[Expr]]:
    """Terms by type: bound variables, scalars, map entries, and entries of entries."""
    variables = (*spec.variables, *spec.constants)
    maps = [v for v in variables if isinstance(v.type, MapType)]
    known: dict[Type, list[Expr]] = {}
    for local in group:
        known.setdefault(local.type, []).append(local)
    levels = [dict(known)]
    for depth in range(3):
        fresh: dict[Type, list[Expr]] = {}
        for variable in maps:
            for node in _selects(variable, known, new=levels[-1], depth=depth):
                fresh.setdefault(node.type, []).append(node)
        for kind, nodes in fresh.items():
            known[kind] = [*known.get(kind, []), *nodes]
        levels.append(fresh)
    for variable in variables:
        if not isinstance(variable.type, MapType):
            known.setdefault(variable.type, []).append(Read(variable.type, variable))
    return known


def _selects(
    variable: Variable, known: dict[Type, list[Expr]], *, new: dict[Type, list[Expr]], depth: int
) -> Iterator[Expr]:
    """Entries of a map with at least one key of the last level. A key that is an entry itself is of a sort,
    goes with another key, or leads from a number to something else.
    """
    kind = variable.type
    assert isinstance(kind, MapType)
    for keys in itertools.product(*(known.get(key, ()) for key in kind.keys)):
        if not any(key in new.get(key.type, ()) for key in keys):
            continue
        if len(keys) == 1 and depth > 0 and isinstance(keys[0].type, NumberType) and not _chosen(kind, depth):
            continue
        if depth > 1 and len(keys) == 1:
            continue
        yield Select(kind.value, Read(kind, variable), keys)


def _chosen(kind: MapType, depth: int) -> bool:
    """Is an entry at a number that is an entry itself a candidate? Only where it is not a number again."""
    return depth == 1 and not isinstance(kind.value, NumberType)


def features(spec: Spec, group: Group) -> list[Feature]:
    """All features of candidates over ``group``."""
    found: list[Feature] = []
    literals = _literals(spec)
    for kind, nodes in terms(spec, group).items():
        if isinstance(kind, BoolType | EnumType):
            found += [Feature(node) for node in nodes]
            continue
        pairs = itertools.combinations(nodes, 2)
        found += [Feature(one, two) for one, two in pairs if not (one in group and two in group)]
        if isinstance(kind, NumberType):
            found += [Feature(node, literal(value)) for node in nodes for value in literals.get(kind, ())]
    return found


def _literals(spec: Spec) -> dict[Type, tuple[int, ...]]:
    """Small numbers that the protocol compares or assigns, by the type of the other side; zero always."""
    found: dict[Type, set[int]] = {kind: {0} for kind in spec.types if isinstance(kind, NumberType)}
    roots = [guard.expr for action in spec.actions for guard in action.guards]
    roots += [value for action in spec.actions for _, value in action.updates]
    roots += [prop.expr for prop in spec.properties]
    for node in itertools.chain.from_iterable(map(walk, roots)):
        if isinstance(node, Apply) and node.op in ("eq", "lt", "le"):
            for one, two in itertools.permutations(node.args, 2):
                if isinstance(one, Const) and two.type in found and -4 <= int(one.value) <= 4:
                    found[two.type].add(int(one.value))
    return {kind: tuple(sorted(values)) for kind, values in found.items()}
