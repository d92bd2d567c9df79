"""The possible numbers of an expression in an instance: which keys and values need no test."""

import math
from collections.abc import Sequence

from tidemark.models.instance import Instance
from tidemark.spec.language.expr import Apply, Choose, Const, Expr, Local, Quantified, Read, Select, Variable
from tidemark.spec.language.fold import select
from tidemark.spec.language.types import MapType, NumberType, Type

Span = tuple[int, int]


class Ranges:
    """Intervals of numbers in states within the bounds of an instance."""

    def __init__(self, instance: Instance) -> None:
        self.instance = instance
        self._scalars = {**instance.traced().options, **instance.constants}

    def covers(self, kind: Type, key: Expr) -> bool:
        """Does the key always lie in the instance's domain of that type?"""
        if not isinstance(kind, NumberType):
            return True
        domain = self.instance.domain(kind)
        low, high = self.span(key)
        return domain.low <= low and high < domain.low + domain.size

    def span(self, node: Expr) -> Span:
        """Least and greatest value of a number."""
        match node:
            case Const(value=value):
                return int(value), int(value)
            case Local(type=kind):
                return self.domain(kind)
            case Read(variable=variable):
                return self._variable(variable)
            case Select(map=Read(variable=variable)):
                return self._entry(variable)
            case Select(map=source, keys=keys):
                return self.span(select(source, keys))
            case Quantified(binders=binders):
                return 0, math.prod(self.instance.domain(binder.type).size for binder in binders)
            case Choose(binder=binder, default=default):
                return _hull(self.domain(binder.type), self.span(default))
            case Apply(op="ite", args=(_, then, other)):
                return _hull(self.span(then), self.span(other))
            case Apply(op=op, args=args):
                return _combined(op, [self.span(arg) for arg in args])
        raise TypeError(f"not a number: {node}")

    def domain(self, kind: Type) -> Span:
        """Least and greatest number of a type (of a sort: of its elements)."""
        domain = self.instance.domain(kind)
        return domain.low, domain.low + domain.size - 1

    def _variable(self, variable: Variable) -> Span:
        if variable.constant:
            value = int(self._scalars[variable.name])
            return value, value
        return self.domain(variable.type)

    def _entry(self, variable: Variable) -> Span:
        assert isinstance(variable.type, MapType)
        out_of_bounds = int(self.instance.out_of_bounds_value(variable))
        if variable.constant:
            values = [int(value) for value in self.instance.map_constants[variable.name]]
            return _hull((min(values), max(values)), (out_of_bounds, out_of_bounds))
        return _hull(self.domain(variable.type.value), (out_of_bounds, out_of_bounds))


def _hull(one: Span, two: Span) -> Span:
    return min(one[0], two[0]), max(one[1], two[1])


def _combined(op: str, spans: Sequence[Span]) -> Span:
    (a, b), (c, d) = spans
    match op:
        case "add":
            return a + c, b + d
        case "sub":
            return a - d, b - c
        case "mul":
            corners = (a * c, a * d, b * c, b * d)
            return min(corners), max(corners)
        case "div":
            return a // c, b // c
        case "mod":
            return 0, c - 1
        case "min":
            return min(a, c), min(b, d)
        case "max":
            return max(a, c), max(b, d)
    raise TypeError(f"no number: {op}")
