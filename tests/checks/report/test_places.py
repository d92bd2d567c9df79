"""The table of mutants made by rule is that of the manifests."""

import pytest

from tidemark.checks.report.places import left_out, places, places_text
from tidemark.models.manifest import load, manifest_files


@pytest.fixture(scope="module")
def manifests():
    return [load(path) for path in manifest_files()]


def test_the_table_has_a_row_for_each_entry(manifests):
    rows = [line for line in places_text(manifests).splitlines() if line.startswith("| ")]
    assert len(rows) == 2 + len(places(manifests))


def test_no_mutant_is_counted_twice(manifests):
    found = places(manifests)
    assert len(found) > 20
    for place in found:
        assert place.not_seen >= 0, place
        assert 0.95 <= place.share <= 1.0, place


def test_a_file_is_tried_once_or_told_to_be_left_out(manifests):
    tried = [file for place in places(manifests) for file in place.files]
    assert len(tried) == len(set(tried))
    rest = left_out(manifests)
    assert rest.keys().isdisjoint(tried)
    assert "proxy/ids.py" in tried
    assert all(number > 0 for number in rest.values())
