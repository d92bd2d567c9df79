"""Pieces of a TLA+ module: lists of conjuncts, assignments, tuples, comments."""

from collections.abc import Sequence

from tidemark.models.exports.text.layout import Block, after, closed
from tidemark.spec.language.expr import Apply, Expr, Quantified

_BRANCHING = ("or", "implies", "ite")


def conjuncts(node: Expr) -> tuple[Expr, ...]:
    """The parts of a conjunction, of any depth."""
    if isinstance(node, Apply) and node.op == "and":
        return tuple(part for arg in node.args for part in conjuncts(arg))
    return (node,)


def condition(block: Block, node: Expr) -> Block:
    """A guard. TLC counts a successor for each part of a disjunction or of an existential quantifier; ``=
    TRUE`` makes them one Boolean.
    """
    branches = isinstance(node, Quantified) or (isinstance(node, Apply) and node.op in _BRANCHING)
    return closed("(", block, ") = TRUE") if branches else block


def bracket(block: Block) -> Block:
    """The block in brackets."""
    return closed("(", block, ")")


def bullets(parts: Sequence[Block]) -> Block:
    """A conjunction with one part a line, even if it is short."""
    return [line for part in parts for line in after("/\\ ", part)]


def tuple_of(names: Sequence[str]) -> Block:
    """``<<a, b>>``, broken where it is long."""
    lines, line = [], "<<"
    for number, name in enumerate(names):
        piece = name + (", " if number < len(names) - 1 else ">>")
        if len(line) + len(piece) > 90:
            lines.append(line.rstrip())
            line = "  "
        line += piece
    return [*lines, line]


def comment(text: str, source: str = "") -> Block:
    """Sentence and source, broken where they are long."""
    words = " ".join(text.split()) + (f" ({source})" if source else "")
    lines, line = [], "\\*"
    for word in words.split():
        if len(line) + len(word) > 100:
            lines.append(line)
            line = "\\*"
        line += f" {word}"
    return [*lines, line] if words else []
