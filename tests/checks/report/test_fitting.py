"""A table that is wider than the terminal is split by columns: nothing is cut off, no word is broken."""

import io

import pytest
from rich import box
from rich.console import Console
from rich.table import Table

from tidemark.checks.report.forms.fitting import fit, full_width, groups, least_width

JUDGES = ("pins", "strength", "interpreted", "explore", "distribute", "interleave")
FIRST = 12


def table(judges=JUDGES) -> Table:
    made = Table(box=box.SIMPLE_HEAD, show_footer=True, pad_edge=False)
    made.add_column("property", footer="over\nin", overflow="fold")
    for name in judges:
        made.add_column(name, footer="37,933,747 states\n2 min 08 s", overflow="fold")
    made.add_row("a_rather_long_name_of_a_property", *("refuted as expected" for _ in judges))
    return made


def shown(width: int) -> list[str]:
    """The tables side by side in one terminal."""
    found = []
    for numbers in groups(table(), first=FIRST, width=width):
        part = table([JUDGES[number - 1] for number in numbers])
        fit(part, first=FIRST, width=width)
        printed = io.StringIO()
        Console(file=printed, width=width).print(part)
        found.append(printed.getvalue())
    return found


@pytest.mark.parametrize(("width", "tables"), [(40, 6), (60, 2), (80, 2), (100, 1), (200, 1)])
def test_each_judge_is_shown_once_and_no_word_is_broken(width, tables):
    found = shown(width)
    assert len(found) == tables
    words = " ".join(found).split()
    assert [word for word in words if word in JUDGES] == list(JUDGES)
    assert words.count("37,933,747") == words.count("expected") == len(JUDGES)
    assert max(len(line) for text in found for line in text.splitlines()) <= width


def test_a_table_that_has_room_is_not_folded():
    (found,) = shown(200)
    assert found.count("refuted as expected") == len(JUDGES)
    assert "a_rather_long_name_of_a_property" in found


def test_widths_are_those_of_words_and_lines():
    column = table().columns[1]
    assert (least_width(column), full_width(column)) == (10, 19)
