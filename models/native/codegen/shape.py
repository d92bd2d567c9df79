"""Size and free locals of expressions, cached by identity, since trees share parts."""

from tidemark.models.instance import Instance
from tidemark.spec.language.expr import (
    Choose,
    Const,
    Expr,
    Local,
    MapComprehension,
    Quantified,
    Read,
    Select,
    Store,
    binders_of,
    children,
)
from tidemark.spec.language.types import MapType

LARGEST = 1_000_000


class Shape:
    """Facts about expressions of one instance."""

    def __init__(self, instance: Instance) -> None:
        self._instance = instance
        self._costs: dict[int, tuple[Expr, int]] = {}
        self._free: dict[int, tuple[Expr, frozenset[str]]] = {}

    def cost(self, node: Expr) -> int:
        """About how many instructions the value takes, loops included."""
        known = self._costs.get(id(node))
        if known is None:
            known = self._costs[id(node)] = (node, min(LARGEST, self._cost(node)))
        return known[1]

    def _cost(self, node: Expr) -> int:
        parts = sum(self.cost(part) for part in children(node))
        match node:
            case Const() | Local():
                return 0
            case Read() if not isinstance(node.type, MapType):
                return 2
            case Read():
                return 0
            case Quantified(binders=binders):
                return self.product(*(binder.type for binder in binders)) * (parts + 1)
            case Choose(binder=binder, body=body, default=default):
                return self.product(binder.type) * (self.cost(body) + 1) + self.cost(default)
            case MapComprehension(binders=binders):
                return self.product(*(binder.type for binder in binders)) * (parts + 2)
            case Select(keys=keys):
                return parts + (2 if all(isinstance(key, Const) for key in keys) else 4 * len(keys))
            case Store(keys=keys):
                return parts + 6 * len(keys)
        return parts + 1

    def product(self, *kinds: object) -> int:
        """Number of combinations of values of scalar types."""
        size = 1
        for kind in kinds:
            size *= self._instance.domain(kind).size  # type: ignore[arg-type]
        return size

    def free(self, node: Expr) -> frozenset[str]:
        """Names of locals that occur free."""
        known = self._free.get(id(node))
        if known is None:
            known = self._free[id(node)] = (node, self._free_of(node))
        return known[1]

    def _free_of(self, node: Expr) -> frozenset[str]:
        if isinstance(node, Local):
            return frozenset((node.name,))
        bound = frozenset(binder.name for binder in binders_of(node))
        if isinstance(node, Choose):
            return (self.free(node.body) - bound) | self.free(node.default)
        return frozenset[str]().union(*(self.free(part) for part in children(node))) - bound
