"""Client histories: what each level promises, and planted faults."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.checks.evidence import parts
from tests.checks.evidence.parts import op, ts, write
from tidemark.checks.evidence.histories.claims import CLAIMS
from tidemark.checks.evidence.judge import verdicts
from tidemark.checks.evidence.monitors.base import Answer
from tidemark.checks.verdicts.verdict import Outcome

ALL = [[1, 10]]


def judged(folder: Path, operations: list[dict[str, Any]]) -> dict[str, Answer]:
    write(folder / "history.ndjson", operations)
    return {claim: one for (name, claim), one in parts.answers(folder).items() if name == "client-history"}


def broken(folder: Path, operations: list[dict[str, Any]]) -> list[str]:
    return [claim for claim, one in judged(folder, operations).items() if one.broken]


def insert(seq: int, start: int, keys: list[list[int]], **rest: Any) -> dict[str, Any]:
    return op(seq, "insert", start, keys=keys, **({"ts": ts(start, 1)} | rest))


def query(seq: int, start: int, seen: list[list[int]], level: str = "Strong", **rest: Any) -> dict[str, Any]:
    return op(seq, "query", start, seen=seen, level=level, **rest)


def test_a_sound_history(tmp_path: Path) -> None:
    found = judged(tmp_path, parts.history())
    assert [claim for claim, one in found.items() if one.broken or one.unsure] == []
    assert found["history.strong"].events == 2
    assert found["history.count"].events == 1


def test_one_lost_row(tmp_path: Path) -> None:
    found = judged(tmp_path, [insert(0, 100, ALL), query(1, 200, [[1, 6], [8, 10]])])
    (breach,) = found["history.strong"].breaches
    assert "1 row is missing, for example key 7" in breach.sentence
    assert [place.line for place in breach.places] == [1, 2]


@pytest.mark.parametrize("last", [(1 << 63) - 1, (1 << 63) - 2])
def test_a_read_of_every_key_there_can_be(tmp_path: Path, last: int) -> None:
    """The place after the greatest key is no number of 64 bits any more."""
    found = judged(tmp_path, [insert(0, 100, ALL), query(1, 200, [[1, 6], [8, 10]], keys=[[0, last]])])
    assert found["history.strong"].broken == 1


@pytest.mark.parametrize(("seen", "later"), [([[2, 2]], []), ([[1, 1]], []), ([[2, 2]], [("delete", 1)])])
def test_a_read_of_no_one_moment_is_reported(
    tmp_path: Path, seen: list[list[int]], later: list[tuple[str, int]]
) -> None:
    """It overlaps both writes, shows the later one, and not the earlier one, which nothing deletes."""
    given = [insert(0, 100, [[1, 1]]), insert(1, 200, [[2, 2]])]
    given += [op(2 + n, what, 300, keys=[[key, key]]) for n, (what, key) in enumerate(later)]
    read = query(0, 50, seen, keys=[[1, 2]], client="r1", end=900)
    told = judged(tmp_path, [*given, read])["history.written"].reports
    assert bool(told) == (seen == [[2, 2]] and not later)
    assert not told or f"shows what has timestamp {ts(200, 1)}, not what has {ts(100, 1)}" in next(iter(told))
    for shards, claims in (
        ({"shards": 1}, ["history.moment"]),
        ({"num_shards": 2}, []),
        ({"shards": 10}, []),
    ):
        created = op(0, "create", 0, client="admin", **shards)
        assert broken(tmp_path, [created, *given, read]) == (claims if told else [])
    twice = [op(n, "create", n, client="admin", shards=1 + n) for n in range(2)]
    assert broken(tmp_path, [*twice, *given, read]) == []


FIRST = insert(0, 100, ALL)
AFTER = FIRST["end"] + 1
GONE = [FIRST, op(1, "delete", 200, keys=[[4, 4]], ts=ts(200, 1))]
TWO = [insert(0, 100, [[1, 5]]), insert(1, 200, [[6, 9]])]
FAILED = insert(0, 100, ALL, outcome="unknown")
AGAIN = [*GONE, insert(2, 300, [[4, 4]])]
LEFT = [[1, 3], [5, 10]]
HISTORIES: dict[str, tuple[list[dict[str, Any]], list[str]]] = {
    "a ghost": ([FIRST, query(1, 200, [[1, 11]])], ["history.written"]),
    "a row before anybody writes it": ([query(0, 100, ALL), insert(1, 200, ALL)], ["history.written"]),
    "deleted rows come back": ([*GONE, query(2, 300, ALL)], ["history.strong"]),
    "a read at the time of a delete": ([*GONE, query(2, 205, ALL)], []),
    "beyond the guarantee": ([*TWO, query(2, 300, [[1, 5]], "Customized", guarantee=ts(150))], []),
    "below the guarantee": (
        [*TWO, query(2, 300, [[1, 5]], "Customized", guarantee=ts(250))],
        ["history.customized"],
    ),
    "a read a nanosecond after": ([FIRST, query(1, 111, []) | {"start": AFTER}], ["history.strong"]),
    "a read at the answer": ([FIRST, query(1, 111, []) | {"start": AFTER - 1}], []),
    "at the guarantee": (
        [FIRST, query(1, 200, [], "Customized", guarantee=FIRST["ts"])],
        ["history.customized"],
    ),
    "just below it": ([FIRST, query(1, 200, [], "Customized", guarantee=FIRST["ts"] - 1)], []),
    "a timestamp twice": ([FIRST, insert(1, 200, [[20, 20]], ts=FIRST["ts"])], ["history.ordered"]),
    "lost in a crash": (
        [FIRST, query(1, 200, ALL), query(2, 9000, [[1, 4]])],
        ["history.kept", "history.strong"],
    ),
    "a failed insert": ([FAILED, query(1, 200, [])], []),
    "a failed insert that was read": (
        [FAILED, query(1, 200, ALL), query(2, 9000, [[1, 4]])],
        ["history.kept"],
    ),
    "a dropped collection": ([FIRST, op(1, "drop", 200), query(2, 300, [])], []),
    "rows of a dropped collection": ([FIRST, op(1, "drop", 200), query(2, 300, ALL)], ["history.strong"]),
    "written again": ([*AGAIN, query(3, 400, ALL)], []),
    "written again and lost": ([*AGAIN, query(3, 400, LEFT)], ["history.strong"]),
    "deleted again": (
        [*AGAIN, query(3, 400, ALL), op(4, "delete", 500, keys=[[4, 4]]), query(5, 600, ALL)],
        ["history.strong"],
    ),
}


@pytest.mark.parametrize("name", HISTORIES)
def test_what_a_history_breaks(tmp_path: Path, name: str) -> None:
    operations, claims = HISTORIES[name]
    assert broken(tmp_path, operations) == claims


def test_a_session_does_not_see_its_own_delete(tmp_path: Path) -> None:
    own = [
        insert(0, 100, ALL),
        op(1, "delete", 200, keys=[[4, 4]]),  # answered with timestamp 0
        query(2, 300, ALL, "Session", keys=ALL),
    ]
    assert broken(tmp_path, own) == ["history.session"]
    own[2] |= {"process": "p9", "seq": 0}
    found = judged(tmp_path, own)
    assert not found["history.session"].broken
    assert any("allowed at this level" in text for text in found["history.session"].reports)


@pytest.mark.parametrize("what", ["insert", "upsert"])
@pytest.mark.parametrize(
    ("level", "late", "claims"),
    [
        ("Bounded", 4000, []),
        ("Bounded", 6000, ["history.bounded"]),
        ("Eventually", 9000, []),
        ("Session", 100, ["history.session"]),
        ("Strong", 100, ["history.strong"]),
        ("Customized", 100, ["history.customized"]),
    ],
)
def test_how_late_a_read_may_be(tmp_path: Path, level: str, late: int, claims: list[str], what: str) -> None:
    write_it = op(0, what, 100, keys=ALL, ts=ts(100, 1))
    read = query(1, 110 + late, [], level, guarantee=ts(105) if level == "Customized" else None)
    found = judged(tmp_path, [write_it, read])
    assert [claim for claim, one in found.items() if one.broken] == claims
    if not claims:
        assert any("allowed at this level" in text for one in found.values() for text in one.reports)


def test_a_part_of_a_batch_is_reported(tmp_path: Path) -> None:
    torn = [insert(0, 100, ALL, end=400), query(1, 200, [[1, 4]], client="r1")]
    torn[1]["seq"] = 0
    found = judged(tmp_path, torn)
    assert not any(one.broken for one in found.values())
    assert any("part of an insert" in text for text in found["history.written"].reports)


def test_counts_have_bounds(tmp_path: Path) -> None:
    def counted(count: int, start: int = 300) -> list[str]:
        return broken(tmp_path, [
            insert(0, 100, ALL), insert(1, 150, [[11, 12]], outcome="unknown"),
            op(2, "delete", 200, keys=[[1, 1]]), op(3, "count", start, level="Strong", count=count),
        ])  # fmt: skip

    assert [n for n in range(14) if not counted(n)] == [9, 10, 11]
    assert counted(12) == ["history.count"]
    assert [n for n in range(14) if not counted(n, start=205)] == [9, 10, 11, 12]


def test_a_swapped_acknowledgement(tmp_path: Path) -> None:
    swapped = [insert(0, 100, [[1, 2]], ts=ts(300)), insert(1, 200, [[3, 4]], ts=ts(200))]
    found = judged(tmp_path, swapped)
    (breach,) = found["history.ordered"].breaches
    assert [place.line for place in breach.places] == [1, 2]
    overlapping = [insert(0, 100, [[1, 2]], ts=ts(300), end=250), insert(1, 200, [[3, 4]], ts=ts(200))]
    assert broken(tmp_path, overlapping) == []


def test_a_gap_makes_what_follows_inconclusive(tmp_path: Path) -> None:
    rest = [
        insert(0, 100, ALL),
        query(1, 200, ALL),
        query(3, 300, [[1, 4]]),
        op(4, "count", 400, level="Strong", count=99),
    ]
    found = judged(tmp_path, rest)
    assert [claim for claim, one in found.items() if one.broken] == []
    assert found["history.strong"].events == 1
    assert found["history.strong"].unsure
    assert found["history.count"].unsure


@pytest.mark.parametrize(
    ("apart", "given", "unsure"),
    [(0, ts, False), (60_000, ts, True), (-60_000, ts, True), (0, lambda ms: ms // 100 + 1, False)],
    ids=["one clock", "later", "earlier", "numbers that are no times"],
)
def test_times_of_two_clocks_decide_nothing(
    tmp_path: Path, apart: int, given: Callable[[int], int], *, unsure: bool
) -> None:
    """On a clock of its own a reader seems to be late, or to see what nobody has written yet."""
    writes = [insert(n, 1000 * n, [[n, n]], ts=given(1000 * n + 5)) for n in range(5)]
    reads = [
        query(n, at + apart, [[0, n]], ts=given(at + 5), client="r", process="p1")
        for n, at in ((n, 1000 * n + 500) for n in range(5))
    ]
    found = judged(tmp_path, [*writes, *reads])
    assert [claim for claim, one in found.items() if one.broken] == []
    assert found["history.strong"].events == (0 if unsure else 5)
    reasons = {reason for one in found.values() for reason in one.unsure}
    assert bool(reasons) == unsure
    assert all("are of two clocks, 60 s apart" in reason for reason in reasons)
    old = [one | {"level": "Eventually", "ts": ts(0) - ts(60_000) + one["ts"]} for one in reads]
    assert not any(one.unsure for one in judged(tmp_path, [*writes, *old]).values())


# ---- upserts ----


def upsert(seq: int, start: int, keys: list[list[int]], **rest: Any) -> dict[str, Any]:
    return op(seq, "upsert", start, keys=keys, **({"ts": ts(start, 1)} | rest))


def counted(seq: int, start: int, count: int, level: str = "Strong") -> dict[str, Any]:
    return op(seq, "count", start, level=level, count=count)


def test_an_upsert_inserts_and_replaces(tmp_path: Path) -> None:
    """Ten rows; six are upserted, five of them new."""
    written = [insert(0, 100, ALL), upsert(1, 200, [[10, 15]])]
    found = judged(tmp_path, [*written, query(2, 300, [[1, 15]]), counted(3, 400, 15)])
    assert [claim for claim, one in found.items() if one.broken or one.unsure] == []
    assert found["history.count"].events == 1
    assert broken(tmp_path, [*written, query(2, 300, ALL)]) == ["history.strong"]
    assert broken(tmp_path, [*written, query(2, 300, [[1, 16]])]) == ["history.written"]
    assert [n for n in range(18) if not broken(tmp_path, [*written, counted(2, 300, n)])] == [15]


def test_a_lost_upsert_names_it(tmp_path: Path) -> None:
    found = judged(tmp_path, [insert(0, 100, ALL), upsert(1, 200, [[11, 15]]), query(2, 300, ALL)])
    (breach,) = found["history.strong"].breaches
    assert "5 rows are missing, for example keys 11 to 15" in breach.sentence
    assert [place.line for place in breach.places] == [2, 3]
    assert breach.places[0].shown.startswith("upsert with timestamp")


def test_a_read_that_shows_the_old_row_and_the_new_one(tmp_path: Path) -> None:
    written = [insert(0, 100, ALL), upsert(1, 200, [[4, 5]])]
    for read in (query(2, 300, ALL, count=12), query(2, 300, [[1, 10], [4, 5]])):
        (breach,) = judged(tmp_path, [*written, read])["history.count"].breaches
        assert "12 rows of 10 keys; at most 10" in breach.sentence
    assert broken(tmp_path, [*written, query(2, 300, ALL, count=10)]) == []
    assert broken(tmp_path, [*written, query(2, 300, [[4, 10], [1, 3]])]) == []
    twice = [insert(0, 100, ALL), insert(1, 200, [[4, 5]])]
    assert broken(tmp_path, [*twice, query(2, 300, ALL, count=12)]) == []


def test_a_part_of_an_upsert_is_reported_once_it_put_the_rows(tmp_path: Path) -> None:
    torn = [upsert(0, 100, ALL, end=400), query(0, 200, [[1, 4]], client="r1")]
    assert "history.written" in judged(tmp_path, torn)
    assert any("part of an insert" in text for text in judged(tmp_path, torn)["history.written"].reports)
    replaced = [
        insert(0, 10, [[1, 4]]),
        upsert(1, 100, [[1, 4]], end=400),
        query(0, 200, [[1, 4]], client="r1"),
    ]
    assert judged(tmp_path, replaced)["history.written"].reports == {}


def test_a_swapped_acknowledgement_of_an_upsert(tmp_path: Path) -> None:
    swapped = [upsert(0, 100, [[1, 2]], ts=ts(300)), insert(1, 200, [[3, 4]], ts=ts(200))]
    assert broken(tmp_path, swapped) == ["history.ordered"]
    write(tmp_path / "history.ndjson", [swapped[0], swapped[1] | {"ts": swapped[0]["ts"]}])
    assert parts.of(tmp_path, "client-unique").broken == 1


# ---- operations whose lines do not say which rows they changed ----

LATER = [query(2, 300, []), query(3, 400, [[1, 10], [99, 99]], "Session"), counted(4, 500, 77)]
UNKNOWN = [
    (op(1, "drop_partition", 200), "1 drop_partition"),
    (op(1, "create", 200, properties={"collection.ttl.seconds": "5"}), "1 operation with a time to live"),
    (op(1, "delete", 200, keys=[[1, 2]], partition="p"), "1 delete of a part"),
    (op(1, "drop_partition", 200, outcome="unknown"), "1 drop_partition"),
    (op(1, "delete", 200), "1 delete by expression"),
    (op(1, "delete", 200, keys=None), "1 delete by expression"),
    (op(1, "insert", 200), "1 insert without keys"),
    (op(1, "upsert", 200), "1 upsert without keys"),
    (op(1, "Upsert", 200, keys=ALL), "1 Upsert"),
    (op(1, "bulk_insert", 200, keys=ALL), "1 bulk_insert"),
    (op(1, "anything", 200, collection=""), "1 anything"),
    (op(1, "rename", 200, collection="d", options={"to": ["c"]}), "1 rename"),
]


@pytest.mark.parametrize(("strange", "name"), UNKNOWN, ids=[name for _, name in UNKNOWN])
def test_what_an_unknown_operation_may_touch_is_not_judged(
    tmp_path: Path, strange: dict[str, Any], name: str
) -> None:
    """Neither green nor red: its later reads and counts are counted by level, with the name in the reason."""
    found = judged(tmp_path, [insert(0, 100, ALL), strange, *LATER])
    unsure = {claim: sum(one.unsure.values()) for claim, one in found.items() if one.unsure}
    assert unsure.pop("history.written") == 2
    assert unsure == dict.fromkeys(("history.strong", "history.kept", "history.session", "history.count"), 1)
    assert {(one.events, one.broken) for one in found.values() if one.unsure} == {(0, 0)}
    (reason,) = {reason for one in found.values() for reason in one.unsure}
    assert reason.startswith(f"{name}, the first at history.ndjson:2: ")
    assert "collection 'c'" in reason


def test_what_an_unknown_operation_cannot_touch_is_judged(tmp_path: Path) -> None:
    """Another collection, and reads that ended before it began."""
    strange = op(1, "drop_partition", 200)
    early = query(0, 150, [[1, 9]], client="r1", end=200)
    assert broken(tmp_path, [insert(0, 100, ALL), strange, early]) == ["history.strong"]
    over = query(0, 150, [[1, 9]], client="r1", end=201)
    found = judged(tmp_path, [insert(0, 100, ALL), strange, over])
    assert (found["history.strong"].broken, sum(found["history.strong"].unsure.values())) == (0, 1)
    elsewhere = strange | {"collection": "d", "client": "r1", "seq": 0}
    found = judged(tmp_path, [insert(0, 100, ALL), elsewhere, query(1, 300, [[1, 9]])])
    assert [claim for claim, one in found.items() if one.broken] == ["history.strong"]
    assert not any(one.unsure for one in found.values())


def test_unknown_operations_are_named_and_counted(tmp_path: Path) -> None:
    strange = [op(1, "truncate", 200), op(2, "delete", 210), op(3, "truncate", 190)]
    found = judged(tmp_path, [insert(0, 100, ALL), *strange, query(4, 300, [])])
    (reason,) = found["history.strong"].unsure
    assert reason.startswith("1 delete by expression, 2 truncate, the first at history.ndjson:4: ")


@pytest.mark.parametrize("part", [{"expr": "id < 3"}, {"limit": 2}, {"partition_names": ["p"]}])
def test_a_read_of_a_part_is_not_judged(tmp_path: Path, part: dict[str, Any]) -> None:
    few = [[1, 2]]
    given = [
        insert(0, 100, ALL),
        query(1, 200, few, **part),
        op(2, "count", 300, level="Strong", count=2, **part),
    ]
    found = judged(tmp_path, [*given, query(3, 400, few, expr="", limit=None)])
    assert [claim for claim, one in found.items() if one.broken] == ["history.strong"]
    assert found["history.strong"].events == 1
    assert any("a read of a part" in one for one in found["history.written"].reports)


def test_a_violation_before_an_unknown_operation_stays_one(tmp_path: Path) -> None:
    lost = [insert(0, 100, ALL), query(1, 150, []), op(2, "truncate", 200), query(3, 300, [])]
    found = judged(tmp_path, lost)["history.strong"]
    assert (found.events, found.broken, sum(found.unsure.values())) == (1, 1, 1)


@pytest.mark.parametrize("left_out", [2, 4])
def test_the_first_doubt_decides(tmp_path: Path, left_out: int) -> None:
    """A number is left out before or after an unknown operation: both are named, each with its reads."""
    whole = [
        insert(0, 100, ALL),
        query(1, 150, ALL),
        op(2, "flush", 200),
        query(3, 300, []),
        query(4, 400, []),
    ]
    rest = [one for one in whole if one["seq"] != left_out] + [query(5, 500, [])]
    strange = op(0, "truncate", {2: 350, 4: 250}[left_out], client="r1")
    found = judged(tmp_path, [*rest, strange])["history.strong"]
    assert (found.events, found.broken, len(found.unsure)) == (1, 0, 2)
    assert sorted(found.unsure.values()) == {2: [2, 3], 4: [1, 2]}[left_out]


@pytest.mark.parametrize("name", ["create", "load", "release", "flush", "search"])
def test_what_changes_no_row_leaves_the_rest_as_it_is(tmp_path: Path, name: str) -> None:
    found = judged(tmp_path, [insert(0, 100, ALL), op(1, name, 200), query(2, 300, [[1, 9]])])
    assert [claim for claim, one in found.items() if one.broken] == ["history.strong"]
    assert not any(one.unsure for one in found.values())
    assert any("search" in one for one in found["history.written"].reports) == (name == "search")


def test_a_history_of_which_nothing_can_be_judged_is_inconclusive(tmp_path: Path) -> None:
    """Also beside evidence that holds: no verdict would be green over it."""
    write(tmp_path / "history.ndjson", [insert(0, 100, ALL), op(1, "truncate", 200), query(2, 300, [])])
    found = parts.judged(tmp_path)
    decided = {
        one.subject.property_id: one.outcome for one in verdicts(found, instance="run", replay="again")
    }
    assert decided.pop("tso.unique") is Outcome.HOLDS
    assert decided == dict.fromkeys(
        ("history.kept", "history.strong", "history.written"), Outcome.INCONCLUSIVE
    )
    assert "client-history" not in dict(found.idle)


def test_every_claim_has_a_fault_that_breaks_it() -> None:
    text = Path(__file__).read_text()
    assert [claim for claim in CLAIMS if text.count(f'"{claim}"') < 1] == []
