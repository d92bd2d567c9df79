"""Two walks over expressions, for readings of one protocol in the words of another."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from tidemark.spec.language.expr import Apply, Expr, Local, Read, binders_of, children, rebind, rebuild, walk
from tidemark.spec.language.spec import Action
from tidemark.spec.language.types import MapType, Type


def retyped(node: Expr, swap: Mapping[Type, Type]) -> Expr:
    """The expression with some of its types replaced."""
    if not swap:
        return node
    node = rebuild(node, tuple(retyped(part, swap) for part in children(node)))
    node = replace(node, type=_type(node.type, swap))
    if isinstance(node, Read):
        return replace(node, variable=replace(node.variable, type=_type(node.variable.type, swap)))
    return rebind(node, tuple(replace(b, type=_type(b.type, swap)) for b in binders_of(node)))


def _type(kind: Type, swap: Mapping[Type, Type]) -> Type:
    if isinstance(kind, MapType):
        keys = tuple(_type(key, swap) for key in kind.keys)
        return replace(kind, keys=keys, value=_type(kind.value, swap))
    return swap.get(kind, kind)


def occurs(pattern: Expr, action: Action) -> bool:
    """Is the pattern a part of the action's guards or of its assignments? Its free locals stand for locals. A
    conjunction may match some neighbouring conjuncts.
    """
    width = len(pattern.args) if isinstance(pattern, Apply) and pattern.op == "and" else 0
    return any(_Match().same(pattern, part) for part in _parts(action, width))


def _parts(action: Action, width: int) -> Iterator[Expr]:
    said: Iterable[Expr] = (*(guard.expr for guard in action.guards), *(new for _, new in action.updates))
    for node in (node for expr in said for node in walk(expr)):
        yield node
        if isinstance(node, Apply) and node.op == "and" and 0 < width < len(node.args):
            for start in range(len(node.args) - width + 1):
                yield replace(node, args=node.args[start : start + width])


@dataclass
class _Match:
    """One comparison: the meanings of the pattern's locals, one to one."""

    meant: dict[str, Local] = field(default_factory=dict)

    def same(self, pattern: Expr, node: Expr) -> bool:
        """The two are equal except for the names of locals."""
        if isinstance(pattern, Local):
            return isinstance(node, Local) and self._stands_for(pattern, node)
        if type(pattern) is not type(node) or pattern.type != node.type:
            return False
        mine, other = binders_of(pattern), binders_of(node)
        if len(mine) != len(other):
            return False
        outer = dict(self.meant)
        bound = all(a.type == b.type for a, b in zip(mine, other, strict=True))
        self.meant.update({a.name: b for a, b in zip(mine, other, strict=True)})
        parts, others = children(pattern), children(node)
        alike = bound and len(parts) == len(others) and _head(pattern) == _head(node)
        alike = alike and all(self.same(a, b) for a, b in zip(parts, others, strict=True))
        self.meant = {
            name: local for name, local in self.meant.items() if name not in {b.name for b in mine}
        } | {name: local for name, local in outer.items() if name in {b.name for b in mine}}
        return alike

    def _stands_for(self, pattern: Local, node: Local) -> bool:
        if pattern.type != node.type:
            return False
        known = self.meant.get(pattern.name)
        if known is not None:
            return known == node
        if node in self.meant.values():
            return False
        self.meant[pattern.name] = node
        return True


def _head(node: Expr) -> Expr:
    """The node without its parts and the names that it binds."""
    bare = rebuild(node, tuple(Local(part.type, "") for part in children(node)))
    return rebind(bare, tuple(replace(b, name="") for b in binders_of(bare)))
