"""Which seeds, hazards and bugs a text names."""

import pytest

from tidemark.models.findings import sources_in


@pytest.mark.parametrize(
    ("text", "sources"),
    [
        ("H15, B13, seed 001 GetCheckpoint", ("seed 001", "hazard 15", "bug B13")),
        ("hazards 46 and 47, seed 003", ("seed 003", "hazard 46", "hazard 47")),
        ("Hazards 12 and 24 to 27", ("hazard 12", "hazard 24", "hazard 25", "hazard 26", "hazard 27")),
        ("B1 to B3; bugs B17 and B23", ("bug B1", "bug B2", "bug B3", "bug B17", "bug B23")),
        ("seeds 000 and 001", ("seed 000", "seed 001")),
        ("facts 10.2, 60 tries, HTTP2, B", ()),
        ("hazard 5, hazard 5", ("hazard 5",)),
    ],
)
def test_sources_of_a_text(text: str, sources: tuple[str, ...]) -> None:
    assert sources_in(text) == sources
