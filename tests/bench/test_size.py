"""The repository does not grow: what is counted, and the bounds that hold."""

from __future__ import annotations

import pytest

from tidemark.bench.size import Size, code_lines, protocols, ratio_of_all, rooms

BOUNDS = {"lines": 218_450, "code": 128_900, "data": 13_550, "locks": 2_650}
"""Of all rooms together. A change that makes something shorter lowers them."""

RATIO, RATIO_OF_ONE, KINDS, TO_READ = 2.7, 5.1, 16, 36

TEXT = '''"""A docstring
of two lines."""

import os
from a import (
    b,
)

VALUE = """not a docstring
but two lines"""
"""A docstring of an attribute."""


def name(x):  # a comment
    """Of a function."""
    # another comment
    return [
        x,
    ]
'''


def test_code_lines_are_no_blank_lines_comments_docstrings_or_imports() -> None:
    assert code_lines(TEXT) == 2 + 4


def test_sizes_add_up() -> None:
    one = Size(1, 2, 3, 4, 5)
    assert one + one == Size(2, 4, 6, 8, 10)
    assert (one.by_hand, one.lines) == (6, 11)


@pytest.mark.parametrize("name", BOUNDS)
def test_all_rooms_together_are_within_their_bounds(name: str) -> None:
    assert getattr(sum(rooms().values(), Size()), name) <= BOUNDS[name]


def test_what_binds_the_protocols_to_the_judges_is_within_its_bounds() -> None:
    assert ratio_of_all() <= RATIO
    for one in protocols():
        assert one.ratio <= RATIO_OF_ONE, one
        assert one.kinds <= KINDS, one
        assert one.to_read <= TO_READ, one
    assert len(protocols()) > 20
