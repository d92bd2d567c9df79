"""Expressions on several lines: a block is a list of lines that keeps its alignment."""

from collections.abc import Sequence

Block = list[str]
WIDTH = 92
"""Longest piece of an expression that stays on one line, in characters."""


def one_line(block: Block) -> str:
    """The block on one line; only for blocks without lists of conjuncts on several lines."""
    return " ".join(line.strip() for line in block)


def after(prefix: str, block: Block) -> Block:
    """The block behind a prefix; its further lines begin in the same column."""
    blank = " " * len(prefix)
    return [(prefix if number == 0 else blank) + line for number, line in enumerate(block)]


def closed(opening: str, block: Block, closing: str) -> Block:
    """The block between brackets."""
    inner = after(opening, block)
    return [*inner[:-1], inner[-1] + closing]


def joined(parts: Sequence[Block], infix: str) -> Block:
    """``a infix b infix c`` on one line, or a part a line with the infix in front of all but the first."""
    line = f" {infix} ".join(part[0] for part in parts)
    if all(len(part) == 1 for part in parts) and len(line) <= WIDTH:
        return [line]
    blank = " " * (len(infix) + 1)
    first = after(blank, parts[0])
    return first + [line for part in parts[1:] for line in after(f"{infix} ", part)]


def listed(parts: Sequence[Block], *, opening: str, closing: str) -> Block:
    """``opening a, b, c closing``, with arguments on lines of their own where they are long."""
    line = opening + ", ".join(part[0] for part in parts) + closing
    if all(len(part) == 1 for part in parts) and len(line) <= WIDTH:
        return [line]
    rows: Block = []
    for number, part in enumerate(parts):
        end = closing if number == len(parts) - 1 else ","
        rows += [*part[:-1], part[-1] + end]
    return after(opening, rows)


def indented(block: Block, by: int = 2) -> Block:
    """The block moved to the right."""
    return [" " * by + line for line in block]


def headed(head: str, block: Block, *, closing: str = "") -> Block:
    """``head block``, with the block below the head where it is long."""
    if len(block) == 1 and len(head) + len(block[0]) + len(closing) < WIDTH:
        return [f"{head} {block[0]}{closing}"]
    body = indented(block)
    return [head, *body[:-1], body[-1] + closing]
