"""The digest of a tree: equal in every process, on every machine and under every version of Python.

A tree becomes plain lists before it is hashed, so that neither the order of a hash table nor the text of a
Python object counts. A type counts by its name: the definitions of types are part of the state.
"""

import hashlib
import json
from typing import Any

from tidemark.spec.language.expr import (
    Apply,
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
from tidemark.spec.language.spec import Action, Property

LENGTH = 16
"""Hexadecimal digits of a digest."""


def digest_of(plain: Any) -> str:
    """Digest of lists, texts, numbers and truth values."""
    text = json.dumps(plain, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:LENGTH]


def plain_tree(node: Expr) -> list[Any]:
    """The whole tree as lists: kind of the node, its type, what it names, its parts."""
    binders = [plain_local(binder) for binder in binders_of(node)]
    return [_kind(node), str(node.type), _own(node), binders, [plain_tree(part) for part in children(node)]]


def plain_local(local: Local) -> list[str]:
    """A parameter or a bound variable."""
    return [local.name, str(local.type)]


def plain_action(action: Action) -> list[Any]:
    """Everything that decides which steps an action has: not its words, nor the order of its assignments."""
    updates = sorted((variable.name, plain_tree(expr)) for variable, expr in action.updates)
    return [
        "action",
        [plain_local(param) for param in action.params],
        [plain_tree(guard.expr) for guard in action.guards],
        [list(update) for update in updates],
        action.fairness,
        list(action.relies_on),
    ]


def plain_property(prop: Property, *, kind: str = "") -> list[Any]:
    """Everything that decides the meaning of a property; ``kind`` if it is not the property's own."""
    return [
        kind or prop.kind,
        [plain_local(param) for param in prop.params],
        plain_tree(prop.premise),
        plain_tree(prop.expr),
        prop.after,
        list(prop.without),
        *([] if prop.frame is None else [["frame", prop.frame]]),
    ]


_KINDS: dict[type[Expr], str] = {
    Const: "const",
    Read: "read",
    Local: "local",
    Select: "select",
    Store: "store",
    MapComprehension: "each",
}
"""Names that do not change if a class of the language is renamed."""


def _kind(node: Expr) -> str:
    match node:
        case Apply(op=op):
            return op
        case Quantified(kind=kind) | Choose(kind=kind):
            return kind
    return _KINDS[type(node)]


def _own(node: Expr) -> list[Any]:
    """A node's own content beside its parts."""
    match node:
        case Const(value=value):
            return [value]
        case Read(variable=variable, primed=primed):
            return [variable.name, variable.constant, primed]
        case Local(name=name):
            return [name]
    return []
