"""Labels of ``source`` texts, and the page that explains them."""

import pytest

from tidemark.models.sources import (
    Label,
    SourceError,
    entries_of,
    labels_in,
    not_labels,
    read_catalogue,
    repository_catalogue,
    segments,
)

PARTS = {"002": ("tick", "GenerateTSO"), "004": ("6.6.1",)}

PAGE = """# Sources

- <a id="seed-002"></a>**seed 002** An *article*.
- <a id="seed-002-tick"></a>**seed 002, tick** Its part
  about `tick`.

## More

- <a id="facts-7-3"></a>**facts 7.3** See [the code](https://example.org/code).
- <a id="b59"></a>**B59** A bug.
"""


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("H15, B13; seed 002, GenerateTSO", ("seed 002, GenerateTSO", "hazard 15", "B13")),
        ("hazards 46 and 47; seed 003", ("seed 003", "hazard 46", "hazard 47")),
        ("Hazards 12 and 24 to 27", ("hazard 12", "hazard 24", "hazard 25", "hazard 26", "hazard 27")),
        ("B1 to B3; bugs B17 and B23", ("B1", "B2", "B3", "B17", "B23")),
        ("H1 to H3", ("hazard 1", "hazard 2", "hazard 3")),
        ("seeds 000 and 001", ("seed 000", "seed 001")),
        ("seed 002, which says", ("seed 002",)),
        ("seed 002, tick: the error; seed 004, 6.6.1", ("seed 002, tick", "seed 004, 6.6.1")),
        ("facts 2.1 to 2.3, 4", ("facts 2.1", "facts 2.2", "facts 2.3", "facts 4")),
        ("facts 7.5. property WL, property 1", ("facts 7.5", "property WL", "property 1")),
        ("milvus-lite #40", ("milvus-lite #40",)),
        ("hazard 5, hazard 5", ("hazard 5",)),
        ("HTTP2, B, hazard 3rd, seed 2, facts", ()),
        ("tidemark observe crash --seed 301", ()),
    ],
)
def test_labels_of_a_text(text: str, labels: tuple[str, ...]) -> None:
    assert tuple(label.text for label in labels_in(text, parts=PARTS)) == labels


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("facts 7.6: retry, also of a save; hazards 5 to 7 and 9", ""),
        ("seed 002, tick: the error; H42: with, a condition", ""),
        ("hazard 25 (at the coordinator), B6", ""),
        ("facts 10.3, 60 tries", "tries"),
        ("hazard 30, restart", "restart"),
        ("seed 002, tock", "tock"),
        ("the idea of a window", "the idea of a window"),
    ],
)
def test_what_is_no_label(text: str, rest: str) -> None:
    assert not_labels(text, parts=PARTS) == rest


def test_a_text_is_cut_at_its_labels() -> None:
    pieces = [(piece, label and label.text) for piece, label in segments("B6: see hazards 5 and 6")]
    assert pieces == [
        ("B6", "B6"),
        (": see ", None),
        ("hazards 5", "hazard 5"),
        (" and ", None),
        ("6", "hazard 6"),
    ]


def test_a_page() -> None:
    page = read_catalogue(PAGE)
    assert [entry.link for entry in page.entries.values()] == [
        "docs/sources.md#seed-002",
        "docs/sources.md#seed-002-tick",
        "docs/sources.md#facts-7-3",
        "docs/sources.md#b59",
    ]
    assert page.parts == {"002": ("tick",)}
    (tick,) = page.resolve("seed 002, tick: why")
    assert tick.words == "Its part about `tick`."
    assert tick.plain == "Its part about tick."
    assert page.entries["facts 7.3"].plain == "See the code."
    assert [entry.label.text for entry in page.known("B59, B60")] == ["B59"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("B60", "B60"),
        ("facts 7.3, 60 tries", "facts 60"),
        ("seed 002, tock", "tock"),
        ("suggested", "no label"),
        ("B59 somewhere", "somewhere"),
    ],
)
def test_a_source_that_cannot_be_looked_up(text: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_catalogue(PAGE).resolve(text)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ('- <a id="b59"></a>**B59** Again.', "two entries"),
        ('- <a id="h-5"></a>**hazard 5** An anchor of another kind.', "hazard-5"),
        ('- <a id="h5"></a>**H5** The short spelling.', "hazard 5"),
        ('- <a id="nowhere"></a>**nowhere** No label.', "not a label"),
        ('- <a id="hazard-5-x"></a>**hazard 5, x** A part of no seed.', "not a label"),
        ('- <a id="hazard-5"></a>hazard 5 Not bold.', "begins with"),
    ],
)
def test_a_page_that_cannot_be_read(entry: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        read_catalogue(f"{PAGE}{entry}\n")


def test_labels_of_others_are_their_own() -> None:
    assert entries_of("hazard 22", protocol="tidemark.spec.flush.claims:FlushClaims")
    assert not entries_of("hazard 22", protocol="mine.shop:Shop")


def test_anchors_of_the_page_are_unique() -> None:
    anchors = [entry.label.anchor for entry in repository_catalogue().entries.values()]
    assert len(anchors) > 100
    assert len(set(anchors)) == len(anchors)


def test_the_order_of_labels() -> None:
    labels = [Label(label.family, label.name) for label in labels_in("facts 10.1, 2.3; H9, H10; seed 001")]
    found = [label.text for label in labels]
    assert found == ["seed 001", "hazard 9", "hazard 10", "facts 2.3", "facts 10.1"]
