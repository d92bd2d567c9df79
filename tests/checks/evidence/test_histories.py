"""Client histories: what each level promises, and planted faults."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from tests.checks.evidence import parts
from tests.checks.evidence.parts import op, ts, write
from tidemark.checks.evidence.histories.claims import CLAIMS
from tidemark.checks.evidence.monitors.base import Answer

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


def test_one_ghost(tmp_path: Path) -> None:
    assert broken(tmp_path, [insert(0, 100, ALL), query(1, 200, [[1, 11]])]) == ["history.written"]


def test_a_row_before_anybody_writes_it(tmp_path: Path) -> None:
    early = [query(0, 100, [[1, 10]]), insert(1, 200, ALL)]
    assert broken(tmp_path, early) == ["history.written"]


def test_deleted_rows_that_come_back(tmp_path: Path) -> None:
    gone = [insert(0, 100, ALL), op(1, "delete", 200, keys=[[4, 4]], ts=ts(200, 1))]
    assert broken(tmp_path, [*gone, query(2, 300, ALL)]) == ["history.strong"]
    assert broken(tmp_path, [*gone, query(2, 205, ALL)]) == []  # at the same time: either is right


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


@pytest.mark.parametrize(
    ("level", "late", "claims"),
    [
        ("Bounded", 4000, []),
        ("Bounded", 6000, ["history.bounded"]),
        ("Eventually", 9000, []),
        ("Session", 100, ["history.session"]),
        ("Strong", 100, ["history.strong"]),
    ],
)
def test_how_late_a_read_may_be(tmp_path: Path, level: str, late: int, claims: list[str]) -> None:
    found = judged(tmp_path, [insert(0, 100, ALL), query(1, 110 + late, [], level)])
    assert [claim for claim, one in found.items() if one.broken] == claims
    if not claims:
        assert any("allowed at this level" in text for one in found.values() for text in one.reports)


def test_a_guarantee_that_the_client_chose(tmp_path: Path) -> None:
    first, second = insert(0, 100, [[1, 5]]), insert(1, 200, [[6, 9]])
    covered = query(2, 300, [[1, 5]], "Customized", guarantee=ts(150))
    assert broken(tmp_path, [first, second, covered]) == []
    assert broken(tmp_path, [first, second, covered | {"guarantee": ts(250)}]) == ["history.customized"]


def test_what_is_just_over_counts(tmp_path: Path) -> None:
    """A read begins a nanosecond after the answer; its guarantee is the timestamp; two timestamps are one."""
    first = insert(0, 100, ALL)
    after = first["end"] + 1
    assert broken(tmp_path, [first, query(1, 111, []) | {"start": after}]) == ["history.strong"]
    assert broken(tmp_path, [first, query(1, 111, []) | {"start": after - 1}]) == []
    chosen = query(1, 200, [], "Customized", guarantee=first["ts"])
    assert broken(tmp_path, [first, chosen]) == ["history.customized"]
    assert broken(tmp_path, [first, chosen | {"guarantee": first["ts"] - 1}]) == []
    again = insert(1, 200, [[20, 20]], ts=first["ts"])
    assert broken(tmp_path, [first, again]) == ["history.ordered"]


def test_acknowledged_rows_that_are_lost_in_a_crash(tmp_path: Path) -> None:
    lost = [insert(0, 100, ALL), query(1, 200, ALL), query(2, 9000, [[1, 4]])]
    assert broken(tmp_path, lost) == ["history.kept", "history.strong"]


def test_a_row_that_was_read_stays_although_its_insert_failed(tmp_path: Path) -> None:
    failed = insert(0, 100, ALL, outcome="unknown")
    assert broken(tmp_path, [failed, query(1, 200, [])]) == []
    assert broken(tmp_path, [failed, query(1, 200, ALL), query(2, 9000, [[1, 4]])]) == ["history.kept"]


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


def test_written_again_after_a_delete(tmp_path: Path) -> None:
    again = [
        insert(0, 100, ALL),
        op(1, "delete", 200, keys=[[4, 4]]),
        insert(2, 300, [[4, 4]]),
        query(3, 400, ALL),
    ]
    assert broken(tmp_path, again) == []
    assert broken(tmp_path, [*again[:3], query(3, 400, [[1, 3], [5, 10]])]) == ["history.strong"]
    assert broken(tmp_path, [*again, op(4, "delete", 500, keys=[[4, 4]]), query(5, 600, ALL)]) == [
        "history.strong"
    ]


def test_a_dropped_collection_is_empty(tmp_path: Path) -> None:
    dropped = [insert(0, 100, ALL), op(1, "drop", 200), query(2, 300, [])]
    assert broken(tmp_path, dropped) == []
    assert "history.strong" in broken(tmp_path, [*dropped[:2], query(2, 300, ALL)])


def test_every_claim_has_a_fault_that_breaks_it() -> None:
    text = Path(__file__).read_text()
    assert [claim for claim in CLAIMS if text.count(f'"{claim}"') < 1] == []


# ---- against a plain judge ----


def plain(operations: list[dict[str, Any]], level: str) -> set[tuple[int, str]]:
    """The rules word by word, key by key: line of the read, and what is wrong."""
    wrong: set[tuple[int, str]] = set()
    writes = [one for one in operations if one["op"] in ("insert", "delete")]

    def hits(one: dict[str, Any], key: int) -> bool:
        return any(low <= key <= high for low, high in one["keys"])

    def over(one: dict[str, Any]) -> float:
        return one["end"] if one["outcome"] == "ok" else float("inf")

    def due(one: dict[str, Any], read: dict[str, Any]) -> bool:
        lead = 5_000_000_000 if level == "Bounded" else 0
        return over(one) < read["start"] - lead and (level != "Session" or one["process"] == read["process"])

    for number, read in enumerate(operations, start=1):
        if read["op"] != "query" or read["level"] != level:
            continue
        for key in range(40):
            if read["keys"] and not hits(read, key):
                continue
            begun = [one for one in writes if hits(one, key) and one["start"] < read["end"]]
            inserts = [one for one in begun if one["op"] == "insert"]
            deletes = [one for one in begun if one["op"] == "delete"]
            if not any(low <= key <= high for low, high in read["seen"]):
                if any(due(i, read) and all(over(d) < i["start"] for d in deletes) for i in inserts):
                    wrong.add((number, "missing"))
            elif not inserts:
                wrong.add((number, "unwritten"))
            elif any(due(d, read) and all(over(i) < d["start"] for i in inserts) for d in deletes):
                wrong.add((number, "ghost"))
    return wrong


@pytest.mark.parametrize("seed", range(30))
def test_the_sweep_agrees_with_the_rules(tmp_path: Path, seed: int) -> None:
    """Small wild histories: overlapping operations, keys written twice, failures, reads of anything."""
    rng = random.Random(seed)
    level = rng.choice(["Strong", "Session", "Bounded"])
    operations: list[dict[str, Any]] = []
    now = 0
    for _ in range(40):
        now += rng.choice([1, 30, 3000])
        low = rng.randrange(30)
        keys = [[low, low + rng.randrange(8)]]
        what = rng.choice(["insert", "delete", "query", "query"])
        rest: dict[str, Any] = {
            "process": rng.choice(["p0", "p1"]),
            "outcome": rng.choice(["ok"] * 5 + ["unknown"]),
        }
        if what == "query":
            seen = sorted(rng.sample(range(20), rng.randrange(3) * 2))
            runs = [[one, two - 1] for one, two in zip(seen[::2], seen[1::2], strict=True)]
            rest = {"process": rest["process"], "level": level, "seen": runs}
            keys = rng.choice([[], [], keys])
        process = rest["process"]
        rest["client"] = process
        turn = sum(one["process"] == process for one in operations)
        operations.append(op(turn, what, now, end=now + rng.choice([2, 50]), keys=keys, **rest))
    found = judged(tmp_path, operations)
    named = {"Strong": "history.strong", "Session": "history.session", "Bounded": "history.bounded"}[level]
    words = {
        "missing": "missing",
        "there although deleted": "ghost",
        "there although it was not written": "unwritten",
    }
    wrong = {
        (breach.places[-1].line, word)
        for claim in (named, "history.written")
        for breach in _every(found, claim)
        for text, word in words.items()
        if f" {text}," in breach.sentence
    }
    assert wrong == plain(operations, level)


def _every(found: dict[str, Answer], claim: str) -> list[Any]:
    return found[claim].breaches if claim in found else []


@pytest.fixture(autouse=True)
def _all_breaches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep all of them, so that they can be compared."""
    from tidemark.checks.evidence.monitors import base

    monkeypatch.setattr(base, "SHOWN", 10_000)
