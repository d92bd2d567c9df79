"""A client's calls: what is sent, returned and raised; its session, its known versions and its history."""

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.impl.parts import run
from tidemark.impl.client.client import Client, Result
from tidemark.impl.client.history import History, runs
from tidemark.impl.system.connection import ConnectionLostError, RequestRefusedError
from tidemark.impl.values.consistency import ConsistencyLevel

TS = {"ts": 5}
ROWS = [[9, "d"], [5, "b"], [6, "c"]]
FOUND = {"rows": ROWS, "guarantee": 90, "moments": {"x": 20, "y": 30}}
RESULT = Result({9: "d", 5: "b", 6: "c"}, 90, {"x": 20, "y": 30})
BOUNDED = {"level": "bounded", "ts": 0, "keys": None}
FAILURES = {
    RequestRefusedError("RpcError", "so it is"): "fail",
    RequestRefusedError("WriteFailedError", "so it is"): "unknown",
    RequestRefusedError("RpcTimeoutError", "so it is"): "unknown",
    RequestRefusedError("ProxyEndedError", "so it is"): "unknown",
    ConnectionLostError("it is gone"): "unknown",
}
"""What a call may raise, and the outcome of the operation in the history."""


class Proxy:
    """A connection that answers from a list, and keeps the calls. An error in the list is raised."""

    def __init__(self, *answers):
        self.answers, self.calls = list(answers), []

    async def call(self, method, **arguments):
        self.calls.append((method, arguments))
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def close(self):
        self.calls.append(("close", {}))


def found(moment, *keys):
    return {"rows": [[key, "v"] for key in keys], "guarantee": 3, "moments": {"x": moment, "y": 1}}


OPERATIONS = [
    # method, call; arguments that are sent, answer, result; operation and facts in the history
    ("create", lambda c: c.create("c", shards=3, schema="s"), {"shards": 3, "schema": "s"}, TS, 5, {}),
    ("create", lambda c: c.create("c"), {"shards": 1, "schema": ""}, TS, 5, {}),
    ("alter", lambda c: c.alter("c", "t"), {"schema": "t"}, TS, 5, {}),
    ("drop", lambda c: c.drop("c"), {}, TS, 5, {}),
    ("flush", lambda c: c.flush("c"), {}, TS, 5, {}),
    ("load", lambda c: c.load("c"), {}, {}, None, {}),
    ("release", lambda c: c.release("c"), {}, {}, None, {}),
    (
        "insert",
        lambda c: c.insert("c", {3: "x", 1: "y", 2: "z", 9: "w"}),
        {"rows": [[3, "x"], [1, "y"], [2, "z"], [9, "w"]], "version": 7},
        TS,
        5,
        {"keys": [[1, 3], [9, 9]]},
    ),
    ("delete", lambda c: c.delete("c", [90, 3, 3]), {"keys": [3, 90]}, TS, 5, {"keys": [[3, 3], [90, 90]]}),
    ("read", lambda c: c.query("c"), BOUNDED, FOUND, RESULT, {"op": "query", "level": "Bounded", "keys": []}),
    (
        "read",
        lambda c: c.query("c", keys=[90, 1, 5, 90], level=ConsistencyLevel.CUSTOMIZED, at_least=21),
        {"level": "customized", "ts": 21, "keys": [1, 5, 90]},
        FOUND,
        RESULT,
        {"op": "query", "level": "Customized", "guarantee": 21, "keys": [[1, 1], [5, 5], [90, 90]]},
    ),
    (
        "read",
        lambda c: c.search("c", near=4, limit=2, level=ConsistencyLevel.CUSTOMIZED, at_least=21),
        {"level": "customized", "ts": 21, "keys": None, "nearest": [4, 2]},
        FOUND,
        RESULT,
        {"op": "search", "level": "Customized", "guarantee": 21, "keys": []},
    ),
    (
        "read",
        lambda c: c.count("c", level=ConsistencyLevel.STRONG),
        BOUNDED | {"level": "strong"},
        FOUND,
        3,
        {"op": "query", "level": "Strong", "keys": []},
    ),
]


@pytest.mark.parametrize(("method", "call", "sent", "answer", "result", "facts"), OPERATIONS)
def test_an_operation_is_one_call_and_one_line_of_history(
    method, call, sent, answer, result, facts, tmp_path
):
    async def scenario():
        fault = RuntimeError("a fault of the client")
        proxy = Proxy(answer, *FAILURES, fault)
        history = History(tmp_path / "h", client="u", process="p", clock=itertools.count(1).__next__)
        client = Client(proxy, history=history)
        client.schemas.versions["c"] = 7
        assert await call(client) == result
        for failure in (*FAILURES, fault):
            with pytest.raises(type(failure)) as raised:
                await call(client)
            assert raised.value is failure
        assert proxy.calls == [(method, {"collection": "c", **sent})] * 7

    run(scenario())
    seen = {"ts": answer.get("ts", 0), "seen": [[5, 6], [9, 9]] if "rows" in answer else []}
    ends = [
        {"outcome": "ok", "error": "", **seen},
        *({"outcome": outcome, "error": str(e), "ts": 0, "seen": []} for e, outcome in FAILURES.items()),
        {"outcome": "unknown", "error": "", "ts": 0, "seen": []},
    ]
    about = {"kind": "op", "v": 1, "client": "u", "process": "p", "op": method, "collection": "c"} | facts
    assert [json.loads(line) for line in (tmp_path / "h").read_text().splitlines()] == [
        {**about, "seq": seq, "start": 2 * seq + 1, "end": 2 * seq + 2, **end} for seq, end in enumerate(ends)
    ]


async def test_a_session_read_names_the_greatest_timestamp_of_writes_and_answers():
    proxy = Proxy({"ts": 25}, {"ts": 8}, *(found(20) for _ in ConsistencyLevel), found(31), found(1))
    client = Client(proxy)
    await client.create("c")
    await client.flush("c")
    for level in ConsistencyLevel:
        await client.query("c", keys=[], level=level, at_least=21)
    assert {sent["level"]: (sent["ts"], sent["keys"]) for _, sent in proxy.calls[2:]} == {
        level.value: (25 if level is ConsistencyLevel.SESSION else 21, []) for level in ConsistencyLevel
    }
    await client.search("c", near=1)
    assert client.session.timestamp == 31
    await client.count("c", level=ConsistencyLevel.SESSION)
    assert (proxy.calls[-1][1]["ts"], client.session.timestamp) == (31, 31)


async def test_pages_name_the_last_key_and_the_moments_of_the_first_page():
    proxy = Proxy(found(30, 4, 1), found(31, 9, 5), found(29))
    client = Client(proxy)
    client.session.wrote(7)
    pages = client.pages("c", size=2, level=ConsistencyLevel.SESSION, at_least=21)
    assert [list(page.rows) async for page in pages] == [[4, 1], [9, 5], []]
    first: dict[str, object] = {"limit": 2, "after": None, "moments": {}}
    asked = [first, *({"limit": 2, "after": key, "moments": {"x": 30, "y": 1}} for key in (4, 9))]
    assert proxy.calls == [
        ("read", {"collection": "c", "level": "session", "ts": 7, "keys": None, "page": page})
        for page in asked
    ]
    assert client.session.timestamp == 31


async def test_a_page_has_at_least_one_row():
    client = Client(Proxy(found(40)))
    assert [list(page.rows) async for page in client.pages("c", size=1)] == [[]]
    for size in (0, -1):
        with pytest.raises(ValueError, match=f"the size of a page is {size}; ask for at least 1 row"):
            await anext(client.pages("c", size=size))


@pytest.mark.parametrize(
    ("call", "sent"),
    [
        (lambda c: c.create_alias("a", "c"), ("create_alias", {"alias": "a", "collection": "c"})),
        (lambda c: c.alter_alias("a", "d"), ("alter_alias", {"alias": "a", "collection": "d"})),
        (lambda c: c.drop_alias("a"), ("drop_alias", {"alias": "a"})),
    ],
)
async def test_a_changed_alias_has_an_unknown_version(call, sent):
    proxy = Proxy(RequestRefusedError("RpcError", "so it is"), {"ts": 9})
    client = Client(proxy)
    client.schemas.versions.update(a=1, b=2)
    with pytest.raises(RequestRefusedError):
        await call(client)
    assert client.schemas.versions == {"a": 1, "b": 2}
    assert await call(client) == client.session.timestamp == 9
    assert client.schemas.versions == {"b": 2}
    assert proxy.calls == [sent, sent]


async def test_an_insert_asks_for_the_version_of_its_collection_once():
    mismatch = RequestRefusedError("SchemaMismatchError", "so it is")
    proxy = Proxy({"version": 5}, TS, TS, mismatch, {"version": 6}, TS)
    client = Client(proxy)
    for _ in range(3):
        await client.insert("c", {1: "a"})
    await client.close()
    asked = ("describe", {"collection": "c"})
    old, new = (("insert", {"collection": "c", "rows": [[1, "a"]], "version": version}) for version in (5, 6))
    assert proxy.calls == [asked, old, old, old, asked, new, ("close", {})]


@given(st.lists(st.integers(-9, 9)))
def test_runs_have_all_keys_and_gaps_between_them(keys):
    found = runs(keys)
    assert [key for first, last in found for key in range(first, last + 1)] == sorted(set(keys))
    assert all(last + 1 < first for (_, last), (first, _) in itertools.pairwise(found))
