"""The programs of the private environment, as far as they need none of its packages."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.checks.evidence.parts import proto
from tidemark.checks.observe.inside.history import Answer, History, runs
from tidemark.checks.observe.inside.messages import describe
from tidemark.checks.observe.inside.wire import fields, integer, text


@given(st.sets(st.integers(0, 60)))
def test_runs_are_the_keys_and_are_apart(keys: set[int]) -> None:
    found = runs(keys)
    assert {key for first, last in found for key in range(first, last + 1)} == keys
    assert all(second[0] > first[1] + 1 for first, second in pairwise(found))


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_an_operation_is_one_line_with_its_interval(tmp_path: Path) -> None:
    history = History(tmp_path, client="w0", process="p0")
    assert not (tmp_path / "history-w0.ndjson").exists()
    history.record("insert", lambda: Answer(ts=7, count=2), collection="c", keys=[[1, 2]], writes=True)
    history.record("query", lambda: Answer(seen=[[1, 2]], guarantee=7), collection="c", level="Session")
    history.close()
    first, second = lines(tmp_path / "history-w0.ndjson")
    found = (first["op"], first["ts"], first["keys"], first["outcome"], first["seq"])
    assert found == ("insert", 7, [[1, 2]], "ok", 0)
    seen = (second["level"], second["guarantee"], second["seen"], second["seq"])
    assert seen == ("Session", 7, [[1, 2]], 1)
    assert first["start"] <= first["end"] <= second["start"]  # type: ignore[operator]


def refuse() -> Answer:
    raise OSError("not now")


def test_a_write_that_failed_may_have_been_done_and_a_read_was_not(tmp_path: Path) -> None:
    history = History(tmp_path, client="w0", process="p0")
    assert history.record("insert", refuse, collection="c", keys=[[1, 1]], writes=True) is None
    assert history.record("query", refuse, collection="c", level="Strong") is None
    history.close()
    written = lines(tmp_path / "history-w0.ndjson")
    assert [each["outcome"] for each in written] == ["unknown", "fail"]
    assert [each["error"] for each in written] == ["OSError: not now"] * 2


@given(st.integers(0, 2**64 - 1), st.binary(max_size=300))
def test_fields_of_a_message_are_read_back(value: int, data: bytes) -> None:
    found = fields(proto((3, value), (20, data), (3, 5)))
    assert found == {3: [value, 5], 20: [data]}
    assert (integer(found, 3), integer(found, 4)) == (5, 0)


@pytest.mark.parametrize("cut", [1, 2, 5])
def test_a_message_that_is_cut_off_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match="cut off"):
        fields(proto((1, 300), (2, b"name"))[: -5 if cut == 5 else -cut])


def test_an_insert_and_a_tick_are_described() -> None:
    header = proto((1, 400), (3, 99), (4, 2))
    insert = proto((1, header), (2, b"ch_1v0"), (9, 17), (14, 3))
    line = describe("ch", 5, insert)
    assert (line["type"], line["ts"], line["source"], line["rows"], line["segment"], line["shard"]) == (
        "insert", 99, 2, 3, 17, "ch_1v0",
    )  # fmt: skip
    tick = describe("ch", 6, proto((1, proto((1, 1200), (3, 100)))))
    assert (tick["type"], tick["ts"], tick["rows"], tick["id"]) == ("tick", 100, 0, 6)
    assert text(fields(insert), 2) == "ch_1v0"
