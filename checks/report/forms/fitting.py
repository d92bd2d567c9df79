"""Tables that are wider than the terminal: split by columns, never cut off."""

from collections.abc import Sequence

from rich.table import Column, Table

_AROUND = 3
"""Blanks around a column, and between it and the next one."""


def least_width(column: Column) -> int:
    """The longest word of a column, its heading and its foot included."""
    return max((len(word) for text in _texts(column) for word in text.split()), default=0)


def full_width(column: Column) -> int:
    """The longest line of a column."""
    return max((len(line) for text in _texts(column) for line in text.splitlines()), default=0)


def _texts(column: Column) -> list[str]:
    return [str(each) for each in (column.header, column.footer, *column.cells)]


def groups(table: Table, *, first: int, width: int) -> list[list[int]]:
    """Which columns are shown side by side: numbers from 1 on, for column 0 stands in each group.

    first: least width of column 0. No word is broken, unless a single column is too wide.
    """
    found: list[list[int]] = []
    room = 0
    for number, column in enumerate(table.columns[1:], start=1):
        needed = least_width(column) + _AROUND
        if not found or needed > room:
            found.append([])
            room = width - first - _AROUND
        found[-1].append(number)
        room -= needed
    return found


def fit(table: Table, *, first: int, width: int) -> None:
    """Give each column its least width, and what is left to those that lack most.

    first: least width of column 0.
    """
    columns: Sequence[Column] = table.columns
    widths = [first, *map(least_width, columns[1:])]
    for _ in range(width - sum(widths) - _AROUND * len(columns)):
        lacking = [full_width(column) - has for column, has in zip(columns, widths, strict=True)]
        if max(lacking) <= 0:
            break
        widths[lacking.index(max(lacking))] += 1
    for column, has in zip(columns, widths, strict=True):
        column.width = has
