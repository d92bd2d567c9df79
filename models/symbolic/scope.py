"""The ranges of numbers: open for a proof, closed for an instance. The two encodings share all else."""

from dataclasses import dataclass

from tidemark.models.instance import Instance
from tidemark.spec.language.expr import (
    TRUE,
    Apply,
    Const,
    Expr,
    Local,
    Quantified,
    Read,
    Select,
    Store,
    Variable,
    children,
    map_type,
    rebuild,
)
from tidemark.spec.language.fold import choice, conjunction, equality, fold, literal, non_negative, select
from tidemark.spec.language.protocol import initial_literal
from tidemark.spec.language.spec import Spec
from tidemark.spec.language.types import BOOL, MapType, NumberType, Type, least_of

Range = tuple[int | None, int | None]


@dataclass(frozen=True)
class Scope:
    """The values of a type. Without an instance: naturals from zero on, integers and sorts without limit."""

    spec: Spec
    instance: Instance | None = None

    def range_of(self, kind: Type) -> Range:
        """Lowest and greatest value of a number type, None for "no limit"."""
        if not isinstance(kind, NumberType):
            return None, None
        if self.instance is None:
            return least_of(kind), None
        domain = self.instance.domain(kind)
        return domain.low, domain.low + domain.size - 1

    def within(self, value: Expr, kind: Type) -> Expr:
        """The condition that a value lies in the range of a type; true where its form shows it."""
        low, high = self.range_of(kind)
        parts: list[Expr] = []
        if low is not None and not (low <= 0 and non_negative(value)):
            parts.append(fold(Apply(BOOL, "le", (literal(low), value))))
        if high is not None:
            parts.append(fold(Apply(BOOL, "le", (value, literal(high)))))
        return conjunction(*parts)

    def out_of_bounds_value(self, variable: Variable) -> Const:
        """The value of a map at keys out of range."""
        return Const(map_type(Read(variable.type, variable)).value, initial_literal(self.spec, variable))

    def total(self, node: Expr) -> Expr:
        """``node`` with every read of a stored map at a key that may be out of range spelled out as a choice:
        to be done before the post-state is substituted, which hides the keys in range.
        """
        return fold(self._total(fold(node)))

    def _total(self, node: Expr) -> Expr:
        node = rebuild(node, tuple(self._total(part) for part in children(node)))
        if not (isinstance(node, Select) and isinstance(node.map, Read)):
            return node
        in_bounds = conjunction(
            *(
                self._key_within(key, kind)
                for key, kind in zip(node.keys, map_type(node.map).keys, strict=True)
            )
        )
        return (
            node
            if in_bounds == TRUE
            else choice(in_bounds, node, self.out_of_bounds_value(node.map.variable))
        )

    def _key_within(self, key: Expr, kind: Type) -> Expr:
        if isinstance(key, Local) and key.type == kind:
            return TRUE  # binders and parameters range over their type
        return self.within(key, kind)

    def well_typed(self, variable: Variable, update: Expr) -> Expr:
        """A new value is of the type: numbers in range, no map changed at a key out of range."""
        kind = variable.type
        if not isinstance(kind, MapType):
            return self.within(update, kind)
        binders = tuple(Local(key, f"cell_{place}") for place, key in enumerate(kind.keys))
        cell = self.within(select(update, binders), kind.value)
        cells = TRUE if cell == TRUE else fold(Quantified(BOOL, "forall", binders, cell))
        return conjunction(self._stores_within(update, kind), cells)

    def _stores_within(self, update: Expr, kind: MapType) -> Expr:
        match update:
            case Store(map=inner, keys=keys, value=value):
                in_bounds = conjunction(
                    *(self._key_within(k, t) for k, t in zip(keys, kind.keys, strict=True))
                )
                harmless = (
                    in_bounds
                    if in_bounds == TRUE
                    else fold(Apply(BOOL, "or", (in_bounds, equality(value, select(inner, keys)))))
                )
                return conjunction(self._stores_within(inner, kind), harmless)
            case Apply(op="ite", args=(condition, then, other)):
                return choice(condition, self._stores_within(then, kind), self._stores_within(other, kind))
        return TRUE
