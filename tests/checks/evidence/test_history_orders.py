"""The judge of histories against every order of the writes of thousands of tiny histories.

The model of a key is its number of rows. One read against all writes is judged exactly: it is refuted if, and
only if, no order allows its answer. About several reads only ``history.kept`` speaks, and in one direction:
what it refutes has no order, but where a delete of the row had begun it may miss that there is none.
Each key is judged by itself, since a batch is not atomic across shards; a count is the sum over its keys. For
numbers of rows at a level other than Strong and Bounded nothing is due.
"""

import json
import random
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any

import pyarrow as pa
import pytest

from tests.checks.evidence.parts import op
from tidemark.checks.evidence.histories import rows as row_counts
from tidemark.checks.evidence.histories.claims import BOUND, OF_LEVEL
from tidemark.checks.evidence.histories.judge import judge_history
from tidemark.checks.evidence.monitors import base
from tidemark.checks.evidence.readers.client import op_row
from tidemark.checks.evidence.table.schema import batch, table

KEYS = (1, 2, 3)
WRITES = ("insert", "upsert", "delete")
FOREVER = float("inf")
Op = dict[str, Any]


@pytest.fixture(autouse=True)
def _all_breaches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "SHOWN", 1_000_000)


def judged(histories: list[list[Op]]) -> set[tuple[int, int, str]]:
    """What one run of the judge refutes: number of the history, of its operation, and the claim."""
    rows = [
        op_row(str(number), line, one | {"collection": str(number)}, json.dumps(one))
        for number, history in enumerate(histories)
        for line, one in enumerate(history)
    ]
    found = judge_history(events(rows))
    assert not any(answer.unsure for answer in found)
    return {
        (int(breach.places[-1].source), breach.places[-1].line, answer.property_id)
        for answer in found
        for breach in answer.breaches
    }


def events(rows: list[Any]) -> pa.Table:
    return table([batch(rows)])


# ---- the model ----


def over(one: Op) -> float:
    """When a write has had its effect at the latest."""
    return float(one["end"]) if one["outcome"] == "ok" else FOREVER


def has(runs: list[list[int]], key: int) -> bool:
    return any(low <= key <= high for low, high in runs)


def of_key(history: list[Op], key: int) -> list[Op]:
    return [one for one in history if one["op"] in WRITES and has(one["keys"], key)]


def is_due(write: Op, read: Op, level: str) -> bool:
    """Does the level promise the write to the read?"""
    before = over(write) < float(read["start"])
    match level:
        case "Strong":
            return before
        case "Bounded":
            return over(write) < float(read["start"] - BOUND)
        case "Session":
            return before and bool(write["process"] == read["process"])
        case "Customized":
            return write["outcome"] == "ok" and bool(0 < write["ts"] <= (read["guarantee"] or 0))
    return False


def orders(writes: list[Op]) -> Iterator[tuple[Op, ...]]:
    """Every order of some of the writes: a write acknowledged before another begins comes first, and only one
    that was not acknowledged may be left out.
    """
    unsure = [one for one in writes if one["outcome"] != "ok"]
    for taken in product((True, False), repeat=len(unsure)):
        left_out = [id(one) for one, took in zip(unsure, taken, strict=True) if not took]
        chosen = [one for one in writes if id(one) not in left_out]
        for order in permutations(chosen):
            if all(not over(b) < a["start"] for n, a in enumerate(order) for b in order[n + 1 :]):
                yield order


def after(order: tuple[Op, ...]) -> set[int]:
    """Numbers of rows of the key: an insert that finds a row may add a second one, or not."""
    rows = {0}
    for one in order:
        match one["op"]:
            case "insert":
                rows = {more for n in rows for more in ((1,) if n == 0 else (n, n + 1))}
            case "upsert":
                rows = {1}
            case "delete":
                rows = {0}
    return rows


def views(writes: list[Op], read: Op, level: str) -> set[int]:
    """Numbers of rows that a read may find: after a prefix of an order that has all that is due."""
    found: set[int] = set()
    due = [id(one) for one in writes if is_due(one, read, level)]
    for order in orders([one for one in writes if one["start"] < read["end"]]):
        for size in range(len(order) + 1):
            if set(due) <= {id(one) for one in order[:size]}:
                found |= after(order[:size])
    return found


def expected(history: list[Op]) -> set[tuple[int, str]]:
    """Which reads and counts no order explains, and the claim that says so."""
    wrong: set[tuple[int, str]] = set()
    for number, read in enumerate(history):
        found = {key: of_key(history, key) for key in KEYS}
        level = read["level"] if read["level"] in ("Strong", "Bounded") else "Eventually"
        if read["op"] == "count":
            sums = {sum(rows) for rows in product(*(views(found[key], read, level) for key in KEYS))}
            if read["count"] not in sums:
                wrong.add((number, "history.count"))
        if read["op"] != "query":
            continue
        asked = [key for key in KEYS if not read["keys"] or has(read["keys"], key)]
        for key in asked:
            possible = views(found[key], read, read["level"])
            written = any(one["op"] != "delete" and one["start"] < read["end"] for one in found[key])
            seen = has(read["seen"], key)
            if seen and not written:
                wrong.add((number, "history.written"))
            elif not max(possible) if seen else 0 not in possible:
                wrong.add((number, OF_LEVEL[read["level"]]))
        shown = [key for key in asked if has(read["seen"], key)]
        most = sum(max(1, *views(found[key], read, level)) for key in shown)
        if sum(high - low + 1 for low, high in read["seen"]) > most:
            wrong.add((number, "history.count"))
    return wrong


# ---- histories ----


def drawn(rng: random.Random, number: int) -> list[Op]:
    """Up to five writes that overlap or not, some not acknowledged, and three reads or counts of anything."""
    history: list[Op] = []
    now = 0
    kinds = [*rng.choices(WRITES, k=rng.randint(1, 5)), *rng.choices(("query", "count"), k=3)]
    rng.shuffle(kinds)
    turns = {"p0": 0, "p1": 0}
    for what in kinds:
        now += rng.choice([1, 20, 5100])
        process = rng.choice(list(turns))
        some = sorted(rng.sample(KEYS, rng.randint(1, 2)))
        chosen = rng.choice([[[key, key] for key in some], [[some[0], some[-1]]]])
        rest: dict[str, Any] = {"process": process, "client": f"{process}-{number}", "keys": chosen}
        if what in WRITES:
            rest |= {"outcome": rng.choice(["ok", "ok", "ok", "ok", "unknown", "fail"]), "ts": now + 1}
        else:
            rest["level"] = rng.choice(["Strong", "Strong", "Session", "Bounded", "Eventually", "Customized"])
            rest["guarantee"] = rng.randint(0, now) if rest["level"] == "Customized" else None
        if what == "query":
            rest["seen"] = rng.choices(chosen, k=rng.randint(0, 3))
            rest["keys"] = rng.choice([chosen, chosen, []])
        if what == "count":
            rest["count"] = rng.randint(0, 3)
        history.append(op(turns[process], what, now, end=now + rng.choice([2, 2, 15, 60, 6000]), **rest))
        turns[process] += 1
    return history


@pytest.mark.parametrize("seed", range(3))
def test_one_read_is_refuted_if_and_only_if_no_order_allows_it(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(row_counts, "TOGETHER", (1 << 18, 1, 9)[seed])
    histories = [drawn(rng, number) for number in range(1700)]
    found = {one for one in judged(histories) if one[2] not in ("history.kept", "history.ordered")}
    wanted = {(n, line, claim) for n, history in enumerate(histories) for line, claim in expected(history)}
    assert [(histories[n], line, claim) for n, line, claim in found ^ wanted] == []
    claims = {*OF_LEVEL.values(), "history.written", "history.count"}
    by_claim = {claim: sum(one[2] == claim for one in wanted) for claim in claims}
    assert min(by_claim.values()) >= 20, by_claim
    replaced = sum(any(one["op"] == "upsert" for one in histories[n]) for n, _, _ in wanted)
    assert replaced > 500


def together(writes: list[Op], first: Op, second: Op) -> bool:
    """Is there an order in which the first read finds a row, and the second finds none? What the first one
    has seen applied, the second one sees applied, too.
    """
    begun = [id(one) for one in writes if one["start"] < first["end"]]
    for order in orders([one for one in writes if one["start"] < second["end"]]):
        ids = [id(one) for one in order]
        of_first = {id(one) for one in writes if is_due(one, first, first["level"])}
        of_second = {id(one) for one in writes if is_due(one, second, second["level"])}
        for size in range(len(order) + 1):
            if not (of_first <= set(ids[:size]) <= set(begun) and max(after(order[:size]))):
                continue
            for later in range(size, len(order) + 1):
                if of_second <= set(ids[:later]) and 0 in after(order[:later]):
                    return True
    return False


def lost(history: list[Op]) -> Iterator[tuple[int, bool]]:
    """Strong reads that miss a row that was read before, where no order explains the two; and whether no
    delete had begun, so that the judge has to say so.
    """
    for number, read in enumerate(history):
        if read["op"] != "query" or read["level"] != "Strong":
            continue
        for key in KEYS:
            if has(read["seen"], key) or (read["keys"] and not has(read["keys"], key)):
                continue
            writes = of_key(history, key)
            earlier = [
                one
                for one in history[:number]
                if one["op"] == "query" and has(one["seen"], key) and one["end"] < read["start"]
            ]
            if not all(together(writes, one, read) for one in earlier):
                yield number, not any(o["op"] == "delete" and o["start"] < read["end"] for o in writes)


@pytest.mark.parametrize("seed", range(3))
def test_a_row_that_was_read_is_missed_only_if_no_order_allows_it(seed: int) -> None:
    rng = random.Random(100 + seed)
    histories = [drawn(rng, number) for number in range(1500)]
    found = {(n, line) for n, line, claim in judged(histories) if claim == "history.kept"}
    wanted = {(n, line): must for n, history in enumerate(histories) for line, must in lost(history)}
    surely = {place for place, must in wanted.items() if must}
    assert surely <= found <= wanted.keys()
    assert len(surely) >= 10


def test_all_reads_of_a_history_that_was_run_in_some_order_are_right() -> None:
    """Histories that a store of one row a key has answered, write by write at a moment of its interval."""
    rng = random.Random(7)
    histories = [answered(drawn(rng, number), rng) for number in range(1700)]
    assert judged(histories) == set()
    assert sum(bool(one["seen"]) for history in histories for one in history) > 1000


def answered(history: list[Op], rng: random.Random) -> list[Op]:
    """The history as a store answers it that takes each operation at one moment; every read is up to date."""
    rows: dict[int, int] = {}
    moments = []
    for one in history:
        late = rng.choice([0, 5_000_000_000]) if one["op"] in WRITES and one["outcome"] != "ok" else 0
        moments.append(rng.randint(one["start"], one["end"] + late))
    for number in sorted(range(len(history)), key=lambda n: moments[n]):
        one = history[number]
        for key in (key for key in KEYS if has(one["keys"], key)):
            if one["op"] == "insert":
                rows[key] = rows.get(key, 0) + 1
            elif one["op"] == "upsert":
                rows[key] = 1
            elif one["op"] == "delete":
                rows.pop(key, None)
        asked = [key for key in KEYS if not one["keys"] or has(one["keys"], key)]
        history[number] |= {
            "seen": [[k, k] for k in asked if rows.get(k)] if one["op"] == "query" else [],
            "count": sum(rows.values()) if one["op"] == "count" else None,
            "ts": (moments[number] if one["op"] in WRITES else 0),
        }
    return history
