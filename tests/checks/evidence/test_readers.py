"""Readers: forms of log lines, damaged lines, the store, the broker, clients, traces, Kafka; bad input."""

import gzip
import json
import socket
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from tests.checks.etcd_gateway import gateway, pair
from tests.checks.evidence import parts
from tests.checks.evidence.parts import SHARD, fetched, line, stamp, stored, ts, write
from tidemark.checks.cli import app
from tidemark.checks.evidence.readers import broker, etcd, log_rules, protobuf
from tidemark.checks.evidence.readers.client import op_batch, op_row
from tidemark.checks.evidence.readers.lines import JsonReader, trace_row
from tidemark.checks.evidence.readers.log import LogReader
from tidemark.checks.evidence.table.files import Sort, find, pieces
from tidemark.checks.evidence.table.kinds import KINDS
from tidemark.checks.evidence.table.plain import gather
from tidemark.checks.evidence.table.schema import LARGEST, Row, batch
from tidemark.checks.evidence.table.whole import gaps, mixed, unknown_versions
from tidemark.checks.verdicts.exit_codes import ExitCode


def lines_of(text: str) -> tuple[list[Row], LogReader]:
    reader = LogReader("x.log")
    found = [*reader.block(text.rstrip("\n").encode()), *reader.end()]
    return found, reader


def test_a_line_becomes_a_row() -> None:
    (row,), reader = lines_of(fetched(120, 7, ts(110, 3)))
    at = ts(110, 3)
    assert (row.kind, row.segment, row.ts, row.ts2, row.rows) == ("fetch.insert", 7, at, at, 3)
    where = (row.component, row.level, row.at, row.line)
    assert where == ("pipeline/insert_node.go", "INFO", parts.BEGIN + 120, 1)
    assert reader.counts.damaged == 0


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "milvus-standalone  | ",
        "\x1b[36mmilvus |\x1b[0m ",
        "2023-07-17T16:49:21.144016445+08:00 stdout F ",
        "2025-07-18 12:46:34.170\t",
        "  |   | ",
    ],
)
def test_what_collectors_put_before_a_line(prefix: str) -> None:
    (row,), _ = lines_of(prefix + stored(900, ts(800)))
    assert (row.kind, row.channel, row.ts) == ("checkpoint.store", SHARD, ts(800))


def test_fields_of_all_forms() -> None:
    found = log_rules.fields(
        b'[a=1] ["# of x"="[2]"] [len(y)=0] [empty=] [q="a \\"b\\" ] = \\u00b5"] '
        b"[t=2025/01/08 04:58:32.924 +00:00] []"
    )
    assert found[b"# of x"] == b"[2]"
    assert found[b"len(y)"] == b"0"
    assert found[b"empty"] == b""
    assert log_rules.unescape(found[b"q"]) == 'a "b" ] = µ'
    assert log_rules.milliseconds(found[b"t"]) == 1736312312924
    assert log_rules.milliseconds(b"2025/01/08 05:58:32.924 +01:00") == 1736312312924
    assert log_rules.milliseconds(b"0001/01/01 00:00:00.000 +00:00") == 0
    assert log_rules.timestamp(b"18446744073709551615") == LARGEST
    assert log_rules.timestamp(b"soon") is None


def test_an_entry_over_several_lines() -> None:
    whole = stored(900, ts(800)).replace("[time=", '[note="first\nsecond"] [time=')
    rows, reader = lines_of(f"{whole}\ngoroutine 1\n\tat x.go:1\n{fetched(950, 7, ts(940))}")
    assert [row.kind for row in rows] == ["checkpoint.store", "fetch.insert"]
    assert [row.line for row in rows] == [1, 5]
    assert (reader.counts.damaged, reader.counts.continued) == (0, 3)


FIELDS = {
    "position": f"timestamp:{ts(1)}", "channel": f"{parts.CHANNEL}:rw@7", "message": "{type=INSERT}",
    "error": "skip ChannelTimeTickMsg from un-recognized session 7", "flushTs": stamp(1),
}  # fmt: skip
"""What rules with a function of their own look at."""


@pytest.mark.parametrize("message", log_rules.RULES, ids=bytes.decode)
def test_each_rule_makes_an_event_of_an_invented_line(message: bytes) -> None:
    """With the first of the names that a field may have; it says who writes the line, and since when."""
    rule = log_rules.RULES[message]
    values = (
        dict.fromkeys((names[0] for names in rule.integers.values()), "7")
        | dict.fromkeys((names[0] for names in rule.timestamps.values()), str(ts(1)))
        | dict.fromkeys((names[0] for names in rule.texts.values()), "x")
        | ({rule.each[1][0].decode(): "[7,8]"} if rule.each else {})
    )
    named = FIELDS | {name if isinstance(name, str) else name.decode(): one for name, one in values.items()}
    found, reader = lines_of(line(1, "a/b.go:1", message.decode(), **named))
    assert {row.kind for row in found} == {rule.kind}
    assert len(found) == (2 if rule.each else 1)
    assert reader.counts.damaged == 0
    assert rule.of
    assert rule.since >= "2.0"


def test_damaged_lines_are_counted() -> None:
    cut = stored(900, ts(800))[:90]
    no_field = line(910, "pipeline/insert_node.go:80", "pipeline fetch insert msg", collectionID=1)
    text = "\n".join(
        [fetched(1, 7, ts(1)), cut, fetched(2, 7, ts(2)), no_field, "\x00\x00\x00", fetched(3, 7, ts(3))]
    )
    rows, reader = lines_of(text)
    assert [row.line for row in rows] == [1, 3, 6]
    assert (reader.counts.damaged, reader.counts.first_damaged, reader.counts.lines) == (3, 2, 6)


def test_a_line_that_only_looks_like_a_head_is_damaged() -> None:
    rows, reader = lines_of("\n".join([fetched(1, 7, ts(1)), "[2026 is no time]", fetched(2, 7, ts(2))]))
    assert [row.line for row in rows] == [1, 3]
    assert (reader.counts.damaged, reader.counts.first_damaged) == (1, 2)


@pytest.mark.parametrize("cut", ["[meta.go:1]", "[2023/11"])
def test_a_line_that_is_cut_where_it_looks_whole_is_damaged(cut: str) -> None:
    """After its caller, or within its stamp, before any other line of its writer."""
    whole = f"[m-0] {line(1, 'meta.go:1', 'hello')}"
    _, reader = lines_of(f"{whole[: whole.index(cut) + len(cut)]}\n{whole}\n")
    assert (reader.counts.damaged, reader.counts.lost) == (1, {"": 1})


def test_a_line_of_no_known_kind_is_damaged(tmp_path: Path) -> None:
    lines = [parts.window(1, 1), {"kind": "strange", "rev": 2}, [1, 2]]
    read = gather(find([write(tmp_path / "etcd.ndjson", lines)]))
    (account,) = read.accounts.values()
    assert (account.counts.damaged, account.counts.first_damaged, read.events.num_rows) == (2, 2, 1)
    assert account.problems[0] == "line 2: no known kind of evidence"


def test_versions_name_fields_differently() -> None:
    old = line(1, "datacoord/meta.go:1", "UpdateChannelCheckpoint done", channel=SHARD, ts=ts(5))
    fields_ = '["source id"=1] ["prev ts"=9] ["curr ts"=7]'
    oldest = f'[{stamp(1)}] [DEBUG] [timeticksync.go:106] ["timestamp go back"] {fields_}'
    rows, _ = lines_of(f"{old}\n{oldest}")
    assert [(row.kind, row.channel, row.ts) for row in rows] == [
        ("checkpoint.store", SHARD, ts(5)),
        ("tick.back", None, 7),
    ]


def test_one_line_with_several_events() -> None:
    order = line(1, "datacoord/services.go:1", "flush response with segments", collectionID=100,
                 sealSegments="[7,8]", flushTs=stamp(700))  # fmt: skip
    rows, _ = lines_of(order)
    assert [(row.kind, row.segment, row.ts) for row in rows] == [
        ("flush.order", 7, ts(700)),
        ("flush.order", 8, ts(700)),
    ]


def test_kinds_are_documented(tmp_path: Path) -> None:
    from tidemark.checks.evidence.readers.log_rules import RULES

    assert {rule.kind for rule in RULES.values()} <= KINDS.keys()
    made = set(parts.read(parts.sound(tmp_path)).events.table().column("kind").to_pylist())
    assert made <= KINDS.keys()
    page = (Path(__file__).parents[3] / "docs" / "evidence.md").read_text()
    assert [kind for kind in KINDS if f"`{kind}`" not in page] == []
    assert [name for name in Row._fields if f"`{name}`" not in page] == []


# ---- the store ----


def test_the_store_is_decoded() -> None:
    found = [etcd.etcd_row("e", one) for one in (
        parts.window(3, 5000), parts.checkpoint(4, ts(800), 77), parts.segment(5, 7, 4, 3, ts(500)),
        parts.binlog(6, 7, 3, 41, 42), parts.session(7, "proxy-2", 2),
        parts.session(8, "proxy-2", 2, "delete"),
        parts.change(9, f"meta/snapshots/root-coord/fields/1/100_ts{ts(9)}", b"x"),
        parts.change(10, "other", b"?"),
    )]  # fmt: skip
    assert [row.kind for row in found] == [
        "etcd.window", "etcd.checkpoint", "etcd.segment", "etcd.binlog", "etcd.session", "etcd.session_end",
        "etcd.ddl", "etcd.other",
    ]  # fmt: skip
    assert (found[0].ts, found[1].ts, found[1].msg_id, found[1].channel) == (ts(5000), ts(800), 77, SHARD)
    assert (found[2].segment, found[2].text, found[2].rows, found[2].ts) == (7, "Flushed", 3, ts(500))
    assert (found[3].segment, found[3].rows, found[3].value) == (7, 3, '["41", "42"]')
    assert (found[4].node, found[4].text, found[6].ts) == ("2", "2.3.5", ts(9))


def test_a_broken_value_is_damaged(tmp_path: Path) -> None:
    bad = [
        parts.change(2, "kv/gid/timestamp", b"123"),
        parts.change(3, f"meta/datacoord-meta/channel-cp/{SHARD}", b"\x0a\xff"),
    ]
    lines = [parts.window(1, 1), *bad, {"kind": "etcd", "rev": "x", "key": "k"}]
    read = gather(find([write(tmp_path / "etcd.ndjson", lines)]))
    (account,) = read.accounts.values()
    assert (account.counts.damaged, account.counts.first_damaged, read.events.num_rows) == (3, 2, 1)
    assert "3 bytes, not 8" in account.problems[0]


def test_protobuf_that_is_none() -> None:
    for data in (b"\xff", b"\x0a\x05ab", b"\x03", b"\xff" * 12):
        with pytest.raises(protobuf.WireError):
            protobuf.message(data)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def windows(*ends: int) -> list[dict[str, object]]:
    """What a store says of saved windows, from revision 3 on."""
    told: list[dict[str, object]] = [{"created": True}]
    for revision, end in enumerate(ends, 3):
        one = parts.window(revision, end)
        told.append({"events": [{"kv": pair(one["key"], revision) | {"value": one["value"]}}]})
    return told


def test_a_live_store_is_read_until_it_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [*(json.dumps({"result": one}).encode() for one in windows(5000)), TimeoutError]
    monkeypatch.setattr(etcd, "_asked", lambda *_: nullcontext(iter(Mock(side_effect=lines), None)))
    assert [etcd.etcd_row("", one) for one in etcd.watch("")] == [etcd.etcd_row("", parts.window(3, 5000))]


def test_the_command_judges_a_live_store(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    build = ["--build", str(tmp_path)]
    with gateway(*windows(5000, 4000)) as address:
        assert app.run(["evidence", "--etcd", address, *build]) == ExitCode.UNEXPECTED_REFUTATION
    said = capsys.readouterr().out
    assert "tso.saved_never_goes_back is refuted" in said
    assert f"tidemark evidence {tmp_path.as_posix()}/live/etcd.ndjson" in said
    assert app.run(["evidence", "--etcd", address, *build]) == ExitCode.BAD_INPUT
    assert "does not answer" in capsys.readouterr().err


def test_a_store_that_has_forgotten_or_is_not_there() -> None:
    with gateway({"compact_revision": "100"}) as address, pytest.raises(etcd.GatewayError, match=" 100"):
        list(etcd.watch(address, seconds=2))
    with pytest.raises(etcd.GatewayError, match="does not answer"):
        list(etcd.watch(f"http://127.0.0.1:{free_port()}", seconds=1))


# ---- broker, clients, traces ----


def test_a_message_of_the_broker() -> None:
    header = parts.proto((1, 400), (3, ts(9)), (4, 2))
    value = parts.proto((1, header), (2, SHARD.encode()), (9, 7), (14, 5))
    assert broker.decode("dml_0", 11, value) == {
        "kind": "broker", "topic": "dml_0", "id": 11, "type": "insert", "ts": ts(9), "source": 2, "rows": 5,
        "segment": 7, "shard": SHARD,
    }  # fmt: skip
    stamps = b"".join(parts.varint(ts(n)) for n in range(3))
    assert broker.decode("dml_0", 11, parts.proto((1, header), (10, stamps)))["rows"] == 3
    tick = broker.decode("dml_0", 12, parts.proto((1, parts.proto((1, 1200), (3, ts(9))))))
    assert (tick["type"], tick["ts"]) == ("tick", ts(9))
    with pytest.raises(ValueError, match="message 13 of dml_0"):
        broker.decode("dml_0", 13, b"\xff\xff")


def test_rocksmq_is_read(tmp_path: Path) -> None:
    rocksdict = pytest.importorskip("rocksdict", reason="rocksdict is an optional extra")
    options = rocksdict.Options(raw_mode=True)
    options.create_if_missing(True)
    store = rocksdict.Rdict(str(tmp_path / "run" / "broker"), options)
    for one in (5, 4):
        header = parts.proto((1, 1200), (3, ts(one)), (4, 1))
        store[f"dml_0/{one}".encode()] = parts.proto((1, header))
    store.close()
    read = gather(find([tmp_path / "run"]))
    assert [source.sort for source in read.sources] == [Sort.ROCKSMQ]
    assert read.events.table().column("msg_id").to_pylist() == [4, 5]
    assert read.events.table().column("ts").to_pylist() == [ts(4), ts(5)]


@pytest.mark.parametrize(
    "change",
    [
        {}, {"outcome": "perhaps"}, {"level": "Stronger"},
        {"end": 0}, {"keys": [[5, 4]]}, {"seen": [[1]]}, {"v": 2},
        {"client": ""}, {"seq": -1}, {"seq": None}, {"ts": -1}, {"keys": [["a", "b"]]},
    ],
)  # fmt: skip
def test_operations_are_checked_one_by_one_and_at_once(change: dict[str, object]) -> None:
    given = parts.op(0, "query", 100, level="Strong", keys=[[1, 3]], seen=[[1, 2]]) | change
    text = json.dumps(given)
    with nullcontext() if change == {} else pytest.raises((ValueError, TypeError)):
        op_row("h", 1, given, text)
    assert (op_batch("h", 1, f"{text}\n{text}".encode()) is not None) == (change == {})


def test_a_history_is_read_at_once_as_it_is_line_by_line() -> None:
    given = [
        *parts.history(),
        parts.op(7, "drop", 7000, collection="é"),
        parts.op(8, "delete", 8000, outcome="unknown", error="no\nanswer", keys=[[1, 1], [3, 4]]),
        {
            name: value
            for name, value in parts.op(9, "insert", 9000).items()
            if name not in ("v", "keys", "level")
        },
        parts.op(10, "query", 10_000, level="Customized", guarantee=ts(5), seen=[[1, (1 << 63) - 1]]),
        parts.op(11, "upsert", 11_000, keys=[[1, 2], [2, 3]], ts=ts(7)),
        parts.op(12, "rename", 12_000, options={"to": ["d", 5], "level": None}, partition="p"),
        parts.op(13, "delete", 13_000, keys=None, expression="pk > 5"),
    ]
    data = "\n".join(map(json.dumps, given)).encode()
    at_once = op_batch("h", 3, data)
    one_by_one = JsonReader("h", first_line=3)
    assert at_once == batch(list(one_by_one.block(data)))
    assert one_by_one.counts.entries == len(given)
    kinds = at_once.column(at_once.schema.get_field_index("kind")).to_pylist()
    assert kinds[-3:] == ["op.upsert", "op.other", "op.delete"]


@pytest.mark.parametrize("spoil", [
    lambda data: data.replace(b"}\n{", b"}\n\n{", 1),
    lambda data: data.replace(b'"kind"', b'\n"kind"', 1),
    lambda data: data[:-1],
    lambda data: data.replace(b'"op"', b'"etcd"', 1),
    lambda data: data + b"\n{}",
    lambda data: data.replace(b"w1", b"w\xff", 1),
    lambda data: data.replace(b'"seq": 0', b'"seq": 0.5', 1),
])  # fmt: skip
def test_a_block_that_is_not_sound_is_read_line_by_line(spoil: Callable[[bytes], bytes]) -> None:
    """Then each damaged line is counted, and the others are read."""
    data = "\n".join(map(json.dumps, parts.history())).encode()
    assert op_batch("h", 1, data) is not None
    assert op_batch("h", 1, spoil(data)) is None


def test_steps_of_a_trace() -> None:
    begin = trace_row("t", 1, {"kind": "trace", "v": 1, "protocol": "timetick"})
    step = trace_row("t", 2, {"n": "rc", "s": 0, "a": "send_tick", "k": "c0", "ts": 5, "args": {"c": "c0"}})
    lost = trace_row("t", 3, {"n": "rc", "s": 9, "dropped": 4})
    assert (begin.kind, begin.text) == ("trace.begin", "timetick")
    assert (step.kind, step.text, step.ts) == ("trace.step", "send_tick", 5)
    assert (lost.kind, lost.rows) == ("trace.dropped", 4)
    with pytest.raises(ValueError, match="validation error"):
        trace_row("t", 4, {"n": "rc", "s": -1})


# ---- files ----


def test_what_is_no_evidence_has_its_message(tmp_path: Path) -> None:
    (tmp_path / "empty.log").write_bytes(b"")
    (tmp_path / "binary.log").write_bytes(bytes(range(256)) * 40)
    (tmp_path / "text.log").write_text("hello\nworld\n")
    (tmp_path / "other.log").write_text(fetched(1, 7, 1).replace("pipeline/insert_node", "coprocessor/cop"))
    (tmp_path / "balancer.log").write_text(
        line(1, "balancer/balancer_impl.go:637", "channel is not assigned")
    )
    (tmp_path / "old.log").write_text(line(1, "root_coord.go:465", "send timetick"))
    (tmp_path / "torn.log.gz").write_bytes(gzip.compress(fetched(1, 7, 1).encode() * 9999)[:50])
    (tmp_path / "settings.json").write_text('{"a": 1}')
    said = {one.name: one.problem for one in find([tmp_path])}
    assert "empty" in said["empty.log"]
    assert "binary" in said["binary.log"]
    assert "not a log of Milvus" in said["text.log"]
    assert said["other.log"] == "a log in the format of Milvus, but of another product: TiKV"
    assert said["balancer.log"] == said["old.log"] == ""
    assert "cannot be read" in said["torn.log.gz"]
    assert "no line has a known kind" in said["settings.json"]


def test_a_duplicate_is_read_once(tmp_path: Path) -> None:
    write(tmp_path / "a.log", [fetched(1, 7, 1)])
    write(tmp_path / "b.log", [fetched(1, 7, 1)])
    (tmp_path / "c.log.gz").write_bytes(gzip.compress((tmp_path / "a.log").read_bytes()))
    found = find([tmp_path])
    assert [one.problem for one in found] == ["", *["the same content as a.log; read once"] * 2]
    assert gather(found).events.num_rows == 1


def test_a_file_that_is_being_written(tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", [fetched(1, 7, 1)])
    path.write_text(path.read_text() + fetched(2, 7, 2)[:50])
    read = gather(find([path]))
    assert read.events.num_rows == 1
    assert read.accounts["a.log"].unfinished
    assert not read.accounts["a.log"].counts.damaged


def test_a_packed_file_that_is_cut(tmp_path: Path) -> None:
    text = "".join(fetched(n, 7, n) + "\n" for n in range(30_000)).encode()
    (tmp_path / "a.log.gz").write_bytes(gzip.compress(text)[:-2000])
    read = gather(find([tmp_path]))
    assert 0 < read.events.num_rows < 30_000
    assert read.accounts["a.log.gz"].counts.damaged == 1
    assert [gap.family for gap in gaps(read.events, read.accounts.values())] == ["log"]


def test_pieces_are_cut_at_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "a.log", [fetched(n, 7, n) for n in range(500)])
    whole = gather(find([path]))
    cut = gather(find([path]), size=1000)
    assert len(list(pieces(find([path]), size=1000))) > 50
    assert cut.events.table().equals(whole.events.table())
    assert cut.accounts == whole.accounts
    assert cut.events.table().column("line").to_pylist() == list(range(1, 501))


def gaps_in(folder: Path) -> list[tuple[str, int, int]]:
    read = gather(find([folder]))
    return [(gap.family, gap.after, gap.count) for gap in gaps(read.events, read.accounts.values())]


def test_gaps_in_revisions_and_offsets(tmp_path: Path) -> None:
    parts.sound(tmp_path)
    for name, place in (("etcd.ndjson", 5), ("broker.ndjson", 3)):
        kept = (tmp_path / name).read_text().splitlines()
        del kept[place]
        write(tmp_path / name, kept)
    assert gaps_in(tmp_path) == [("broker", 2, 1)]
    write(tmp_path / "etcd.ndjson", [parts.window(3, 1), parts.window(4, 2), parts.window(9, 3)])
    assert ("etcd", 4, 4) in gaps_in(tmp_path)


def test_two_clusters_in_one_folder(tmp_path: Path) -> None:
    parts.sound(tmp_path / "one")
    parts.sound(tmp_path / "two")
    other = tmp_path / "two"
    write(other / "etcd.ndjson", [parts.window(3, 77), parts.change(4, "other")])
    write(other / "broker.ndjson", [parts.message(0, "tick", ts(5)), parts.message(1, "tick", ts(6))])
    said = mixed(gather(find([tmp_path])).events)
    assert any("revision 4" in text for text in said)
    assert any("message 0" in text for text in said)
    write(other / "x.log", [stored(1, 2, "prod-rootcoord-dml_0_1v0")])
    assert any("prefixes" in text for text in mixed(gather(find([tmp_path])).events))
    assert mixed(gather(find([tmp_path / "one"])).events) == []


def test_versions_that_are_not_known(tmp_path: Path) -> None:
    read = gather(find([write(tmp_path / "etcd.ndjson", [parts.session(2, "proxy-1", 1, version="3.7.0")])]))
    assert unknown_versions(read.events) == ["3.7.0"]


CHANNEL = "by-dev-rootcoord-dml_0"


def tick(at: int) -> bytes:
    return parts.proto((1, parts.proto((1, 1200), (3, ts(at)), (4, 1))))


def insert(at: int) -> bytes:
    header = parts.proto((1, 400), (3, ts(at)), (4, 2))
    return parts.proto((1, header), (2, f"{CHANNEL}_1v0".encode()), (9, 7), (14, 5))


@pytest.fixture
def kafka_broker() -> Iterator[tuple[str, Any]]:
    from confluent_kafka import Producer

    producer = Producer({"test.mock.num.brokers": 1, "log_level": 0, "linger.ms": 0})
    (found,) = producer.list_topics(timeout=10).brokers.values()
    yield f"{found.host}:{found.port}", producer
    producer.flush(10)


def send(producer: Any, *values: bytes, topic: str = CHANNEL) -> None:
    for value in values:
        producer.produce(topic, value, partition=0)
    assert producer.flush(10) == 0


def judge(address: str, build: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = app.run(["evidence", "--kafka", address, "--build", str(build), *arguments])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_late_rows_are_found(
    tmp_path: Path, kafka_broker: tuple[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    address, producer = kafka_broker
    send(producer, insert(5), tick(10), insert(15), tick(20))
    status, said = judge(address, tmp_path, capsys)
    assert status == ExitCode.AS_EXPECTED, said
    assert "4 events" in said
    send(producer, insert(20))
    status, said = judge(address, tmp_path, capsys)
    assert status == ExitCode.UNEXPECTED_REFUTATION
    assert "broker.ndjson:4" in said
    assert f"tidemark evidence {tmp_path.as_posix()}/live/broker.ndjson" in said


def test_a_broker_that_cannot_be_judged(
    tmp_path: Path, kafka_broker: tuple[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    address, producer = kafka_broker
    send(producer, tick(1), topic="orders")
    status, said = judge(address, tmp_path, capsys)
    assert (status, "no topic" in said, "--topics" in said) == (ExitCode.BAD_INPUT, True, True), said
    send(producer, b"\xff\xff")
    status, said = judge(address, tmp_path, capsys)
    assert status == ExitCode.BAD_INPUT
    assert f"message 0 of {CHANNEL}" in said


def test_no_broker(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemark.checks.evidence.command._SECONDS", 1.0)
    status, said = judge(f"127.0.0.1:{free_port()}", tmp_path, capsys)
    assert status == ExitCode.BAD_INPUT
    assert "does not answer" in said


# ---- files that grow ----


def test_rotated_and_cut_files_while_they_are_followed(tmp_path: Path) -> None:
    """Each line is read once, whatever its file is called then; what takes its place is another source."""
    from tidemark.checks.evidence.table.growing import GrowingReader

    reader = GrowingReader([str(tmp_path)])
    offset = reader.initialOffset()

    def more() -> list[tuple[str, int, int]]:
        nonlocal offset
        before, offset = offset, reader.latestOffset(offset, None)
        tables = [table for one in reader.partitions(before, offset) for table in reader.read(one)]
        rows = [row for table in tables for row in table.to_pylist() if row["kind"] == "checkpoint.store"]
        return sorted((row["source"], row["line"], row["ts"]) for row in rows)

    log = write(tmp_path / "a.log", [parts.stored(1, ts(1)), parts.stored(2, ts(2))])
    assert more() == [("a.log", 1, ts(1)), ("a.log", 2, ts(2))]
    old = log.rename(tmp_path / "a.log.1")
    old.write_text(old.read_text() + parts.stored(3, ts(3)) + "\n")
    write(log, [parts.stored(4, ts(4)), parts.stored(5, ts(5))])
    assert more() == [("a.log", 3, ts(3)), ("a.log~", 1, ts(4)), ("a.log~", 2, ts(5))]
    write(log, [parts.stored(6, ts(6))])
    assert more() == [("a.log~~", 1, ts(6))]
    assert more() == []
