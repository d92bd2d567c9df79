"""Expressions as text that reads like the protocol."""

from spec.language.expr import (
    Apply,
    Const,
    Each,
    Expr,
    Extreme,
    Local,
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
        case Const(value=value):
            return repr(value) if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
        case Read(variable=variable, primed=primed):
            return variable.name + ("'" if primed else "")
        case Local(name=name):
            return name
        case Apply(op="not", args=(Apply(op="eq", args=(left, right)),)):
            return _bracket(f"{_render(left)} != {_render(right)}", nested=nested)
        case Apply(op="not", args=(part,)):
            return f"~{_render(part)}"
        case Apply(op=op, args=args) if op in _INFIX:
            return _bracket(_INFIX[op].join(_render(arg) for arg in args), nested=nested)
        case Apply(op=op, args=args):
            return f"{op}({', '.join(_render(arg, nested=False) for arg in args)})"
        case Select(map=source, keys=keys):
            return f"{_render(source)}[{', '.join(_render(key, nested=False) for key in keys)}]"
        case Store(map=source, keys=keys, value=value):
            at = ", ".join(_render(key, nested=False) for key in keys)
            return f"{_render(source)} with [{at}] = {_render(value, nested=False)}"
        case Each(binders=binders, body=body) | Quantified(binders=binders, body=body):
            word = node.kind if isinstance(node, Quantified) else "each"
            names = ", ".join(f"{binder.name}: {binder.type}" for binder in binders)
            return f"{word}({names}: {_render(body, nested=False)})"
        case Extreme(kind=kind, binder=binder, body=body, default=default):
            return f"{kind}({binder.name}: {_render(body, nested=False)}, default {_render(default, nested=False)})"
    raise TypeError(f"unknown node {node!r}")


def _bracket(text: str, *, nested: bool) -> str:
    return f"({text})" if nested else text
