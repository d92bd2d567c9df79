"""Expressions as text that reads like the protocol."""

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
)

_INFIX = {
    "and": " & ",
    "or": " | ",
    "implies": " => ",
    "eq": " == ",
    "lt": " < ",
    "le": " <= ",
    "add": " + ",
    "sub": " - ",
    "mul": " * ",
    "div": " // ",
    "mod": " % ",
}


def render(node: Expr) -> str:
    """One line of text; operators are bracketed wherever they are nested."""
    return _render(node, nested=False)


def _render(node: Expr, *, nested: bool = True) -> str:
    match node:
        case Const(value=str() as value):
            return repr(value)
        case Const(value=value):
            return str(value).lower() if isinstance(value, bool) else str(value)
        case Read(variable=variable, primed=primed):
            return variable.name + ("'" if primed else "")
        case Local(name=name):
            return name
        case Apply():
            return _operator(node, nested=nested)
        case Select(map=source, keys=keys):
            return f"{_render(source)}[{_list(keys)}]"
        case Store(map=source, keys=keys, value=value):
            return f"{_render(source)} with [{_list(keys)}] = {render(value)}"
        case MapComprehension(binders=binders, body=body) | Quantified(binders=binders, body=body):
            word = node.kind if isinstance(node, Quantified) else "each"
            names = ", ".join(f"{binder.name}: {binder.type}" for binder in binders)
            return f"{word}({names}: {render(body)})"
        case Choose(kind=kind, binder=binder, body=body, default=default):
            return f"{kind}({binder.name}: {render(body)}, default {render(default)})"
    raise TypeError(f"unknown node {node!r}")


def _operator(node: Apply, *, nested: bool) -> str:
    match node:
        case Apply(op="not", args=(Apply(op="eq", args=(left, right)),)):
            return _bracket(f"{_render(left)} != {_render(right)}", nested=nested)
        case Apply(op="not", args=(part,)):
            return f"~{_render(part)}"
        case Apply(op=op, args=args) if op in _INFIX:
            return _bracket(_INFIX[op].join(_render(arg) for arg in args), nested=nested)
    return f"{node.op}({_list(node.args)})"


def _list(nodes: tuple[Expr, ...]) -> str:
    return ", ".join(map(render, nodes))


def _bracket(text: str, *, nested: bool) -> str:
    return f"({text})" if nested else text
