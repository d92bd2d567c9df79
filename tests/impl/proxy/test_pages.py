"""Which rows a page shows, and what is no page."""

import pytest

from tidemark.impl.proxy.pages import Page

ROWS = [(0, "a"), (2, "b"), (2, "c"), (10, "d")]


@pytest.mark.parametrize(
    ("limit", "after", "keys"),
    [
        (1, None, [0]),
        (2, None, [0, 2, 2]),
        (9, None, [0, 2, 2, 10]),
        (1, 0, [2, 2]),
        (2, 2, [10]),
        (1, 10, []),
    ],
)
def test_a_page_has_all_rows_of_its_keys(limit, after, keys):
    page = Page(limit, after, {} if after is None else {"x": 7})
    assert [key for key, _ in page.cut(ROWS)] == keys
    assert [key for key, _ in page.cut(ROWS[::-1])] == keys[::-1]
    assert (page.first is None) == (after is None)


def test_a_further_page_has_the_moments_of_the_first():
    first = Page(2, 3, {"x": 7, "y": 9}).first
    assert first is not None
    assert first.moments == {"x": 7, "y": 9}
    for after, moments in ((3, {}), (None, {"x": 7})):
        with pytest.raises(ValueError, match="a further page has both"):
            Page(2, after, moments)
    with pytest.raises(ValueError, match="ask for at least 1 row"):
        Page(0)
