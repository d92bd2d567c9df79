"""Expressions over several lines, for a reviewer: ``render`` where it fits, else one part a line."""

from tidemark.spec.language.expr import Apply, Choose, Expr, MapComprehension, Quantified, Select, Store
from tidemark.spec.language.render import render

WIDTH = 100
"""Columns of a line, if it can be broken."""

_STEP = "  "
_JOINED = {
    "and": "& ",
    "or": "| ",
    "implies": "=> ",
    "eq": "== ",
    "le": "<= ",
    "lt": "< ",
    "add": "+ ",
    "sub": "- ",
}


def layout(node: Expr, *, width: int = WIDTH) -> list[str]:
    """The lines of an expression. Each line is at most ``width`` columns long, where its parts allow it."""
    line = render(node)
    return [line] if len(line) <= width else _broken(node, width)


def _broken(node: Expr, width: int) -> list[str]:
    match node:
        case Apply(op="not", args=(part,)):
            return _enclosed("~(", [part], width)
        case Apply(op=op, args=args) if op in _JOINED:
            sign = _JOINED[op]
            parts = [_operand(arg, width - len(sign)) for arg in args]
            pad = " " * len(sign)
            return [
                (sign if place and not at else pad) + line
                for place, part in enumerate(parts)
                for at, line in enumerate(part)
            ]
        case Apply(op=op, args=args):
            return _enclosed(f"{op}(", list(args), width)
        case MapComprehension(binders=binders, body=body) | Quantified(binders=binders, body=body):
            word = node.kind if isinstance(node, Quantified) else "each"
            names = ", ".join(f"{binder.name}: {binder.type}" for binder in binders)
            return _enclosed(f"{word}({names}:", [body], width)
        case Choose(kind=kind, binder=binder, body=body, default=default):
            lines = _enclosed(f"{kind}({binder.name}:", [body], width, close=",")
            return [*lines, *_enclosed("default", [default], width)]
        case Store(map=source, keys=keys, value=value):
            place = f"with [{', '.join(map(render, keys))}] ="
            return [*_operand(source, width), place, *_indented(layout(value, width=width - 2))]
        case Select(map=source, keys=keys):
            return [*_operand(source, width), *_enclosed("[", list(keys), width, close="]")]
    return [render(node)]


def _operand(node: Expr, width: int) -> list[str]:
    """In parentheses, if it takes several lines or would be nested."""
    line = render(node)
    if isinstance(node, Apply) and node.op in _JOINED:
        if len(line) + 2 <= width:
            return [f"({line})"]
        lines = _broken(node, width - 1)
        return ["(" + lines[0], *(" " + each for each in lines[1:-1]), " " + lines[-1] + ")"]
    return layout(node, width=width)


def _enclosed(begin: str, parts: list[Expr], width: int, *, close: str = ")") -> list[str]:
    lines = [begin]
    for place, part in enumerate(parts):
        own = _indented(layout(part, width=width - len(_STEP)))
        own[-1] += "," if place + 1 < len(parts) else close
        lines += own
    return lines


def _indented(lines: list[str]) -> list[str]:
    return [_STEP + line for line in lines]
