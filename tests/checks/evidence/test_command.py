"""``tidemark evidence``: verdicts, exit statuses, files, messages."""

import json
import os
import re
import signal
import time
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.checks.evidence import parts
from tests.checks.evidence.parts import message, sound, ts, window, write
from tidemark.checks.cli import app
from tidemark.checks.evidence.command import violation
from tidemark.checks.evidence.follow import Memory, Say, held_interrupts
from tidemark.checks.evidence.monitors.base import Answer
from tidemark.checks.evidence.monitors.run import judge as judge_events
from tidemark.checks.evidence.table.files import find
from tidemark.checks.evidence.table.plain import gather
from tidemark.checks.evidence.table.plain import write as write_events


def judge(capsys: pytest.CaptureFixture[str], *arguments: object, build: Path) -> tuple[int, str]:
    status = app.run(["evidence", *map(str, arguments), "--build", str(build)])
    said = capsys.readouterr()
    return status, said.out + said.err


def test_a_sound_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, said = judge(capsys, sound(tmp_path / "run"), build=tmp_path / "build")
    assert status == 0, said
    assert "as expected" in said
    document = json.loads((tmp_path / "build" / "verdicts.json").read_text())
    assert {one["outcome"] for one in document["judgements"]} == {"holds"}
    assert len(document["judgements"]) >= 18
    assert all("no others" in one["bounds"] for one in document["judgements"])
    assert all(one["counts"]["events"] > 0 for one in document["judgements"])
    assert document["sentences" if "sentences" in document else "descriptions"]["history.strong"]
    page = (tmp_path / "build" / "report" / "index.html").read_text()
    assert page.count('<svg class="timeline"') >= 2
    ET.fromstring(page[page.index('<svg class="timeline"') : page.index("</svg>") + 6])
    assert (tmp_path / "build" / "events.parquet").stat().st_size > 0


def test_a_violation_names_its_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = sound(tmp_path / "run")
    log = run / "logs" / "standalone.log"
    log.write_text(log.read_text() + parts.fetched(1100, 7, ts(700)) + "\n")
    status, said = judge(capsys, run, build=tmp_path / "build")
    assert status == 1, said
    assert "timetick.watermark_promise is refuted" in said
    assert "logs/standalone.log:8" in said
    assert "logs/standalone.log:4" in said
    assert "flush.flushed_is_complete is refuted" in said
    suites = ET.parse(tmp_path / "build" / "junit.xml").getroot()
    assert len(suites.findall(".//failure")) == 2
    page = (tmp_path / "build" / "report" / "index.html").read_text()
    assert "violation (1)" in page


@pytest.mark.parametrize(
    ("monitor", "open_"),
    [("store-checkpoint", False), ("client-unique", False), ("log-checkpoint", True), ("store-issued", True),
     ("store-channels", True), ("log-report-order", False)],
)  # fmt: skip
def test_a_violation_that_later_events_may_take_back_is_marked(monitor: str, *, open_: bool) -> None:
    answer = Answer(monitor, "flush.x")
    answer.breach("It goes back.")
    assert violation(answer).endswith("It goes back.") is not open_


def test_an_info_log_alone_is_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write(
        tmp_path / "x.log",
        [parts.buffer(100, 8), parts.stored(900, ts(800)), parts.fetched(1000, 8, ts(700))],
    )
    status, said = judge(capsys, log, build=tmp_path / "build")
    assert status == 1
    assert "x.log:3" in said


def test_a_gap_is_inconclusive_and_a_violation_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = sound(tmp_path / "run")
    log = run / "logs" / "standalone.log"
    log.write_text(
        log.read_text() + parts.stored(1200, ts(900))[:70] + "\n" + parts.fetched(1300, 8, ts(1290)) + "\n"
    )
    status, said = judge(capsys, run, build=tmp_path / "build")
    assert status == 3, said
    assert "gap: logs/standalone.log: lines that cannot be read from 8 on (1)" in said
    document = json.loads((tmp_path / "build" / "verdicts.json").read_text())
    outcomes = {one["instance"].split(":")[1]: one["outcome"] for one in document["judgements"]}
    assert outcomes["log-watermark"] == "inconclusive"
    assert outcomes["broker-watermark"] == "holds"
    log.write_text(log.read_text() + parts.fetched(1400, 8, ts(700)) + "\n")
    status, said = judge(capsys, run, build=tmp_path / "build")
    assert status == 1


def test_a_missing_message_of_the_broker(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = sound(tmp_path / "run")
    lines = (run / "broker.ndjson").read_text().splitlines()
    write(run / "broker.ndjson", lines[:2] + lines[3:])
    status, said = judge(capsys, run, build=tmp_path / "build")
    assert status == 3
    assert "messages of by-dev-rootcoord-dml_0 missing from 1 on (1)" in said


def test_nothing_is_never_green(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "empty.log").write_bytes(b"")
    idle = write(tmp_path / "idle.log", [parts.line(1, "proxy/impl.go:1", "hello")])
    for path, code, text in (
        (tmp_path / "nowhere", 5, "there is no"),
        (tmp_path / "empty", 5, "there is no file"),
        (tmp_path / "bad", 5, "the file is empty"),
        (idle, 3, "nothing in these files that a claim speaks about"),
    ):
        status, said = judge(capsys, path, build=tmp_path / "build")
        assert status == code, said
        assert text in said
    assert app.run(["evidence"]) == 5


def test_lines_without_a_rule_are_counted_by_who_wrote_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A streaming node's log is one of Milvus, in which nothing can be judged."""
    wal = parts.line(1, "adaptor/wal_adaptor.go:256", "wal begin to close scanners...")
    old = parts.line(2, "root_coord.go:465", "send timetick", "DEBUG")
    log = write(tmp_path / "node.log", [wal, wal, old])
    status, said = judge(capsys, log, build=tmp_path / "build")
    assert status == 3
    assert "another product" not in said
    assert "no rule for node.log (lines of adaptor 2, root_coord.go 1)" in said
    run = sound(tmp_path / "run")
    write(run / "logs" / "node.log", [wal])
    status, said = judge(capsys, run, build=tmp_path / "build")
    assert status == 0, said
    assert "note: no rule for logs/node.log (lines of adaptor 1)" in said
    ((entries, ruled),) = re.findall(r"of (\d+) entries of logs (\d+) have a rule", said)
    write(run / "logs" / "node.log", [wal, wal, parts.stored(1, parts.ts(1))])
    said = judge(capsys, run, build=tmp_path / "build")[1]
    assert f"of {int(entries) + 2} entries of logs {int(ruled) + 1} have a rule" in said


def test_what_is_understood_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Lines with a rule by component, versions, and which lines a claim lacks."""
    session = parts.line(
        1, "sessionutil/session_util.go:1", "put session key into etcd", key="session/proxy-2",
        value='{"ServerID":2,"Version":"2.6.1"}',
    )  # fmt: skip
    idle = parts.line(2, "gc/gc_tuner.go:9", "GC Tune done")
    lines = [session, *[f"{parts.stored(3, ts(3))}{idle}"] * 2, parts.stored(9, ts(9)), idle]
    log = write(tmp_path / "x.log", lines)
    status, said = judge(capsys, log, "--understood", build=tmp_path / "build")
    assert status == 0
    assert "4 of 7 entries have a rule (57.1 %)\nversions: 2.6.1\n" in said
    assert re.search(r"^datacoord +3 +3$", said, re.MULTILINE)
    assert "without any: 1 components, 3 entries: gc\n" in said
    assert "flush.stored_never_goes_back (log-checkpoint): nothing\n" in said
    lacks = (
        "  flush.confirmed_means_durable (log-flush):\n    flush.order: 'flush response with segments' of the"
    )
    assert f"{lacks} data coordinator, since 2.2\n" in said
    store = write(tmp_path / "etcd.ndjson", [json.dumps(parts.window(2, 3000))])
    assert judge(capsys, store, "--understood", build=tmp_path / "build")[0] == 3


def test_a_folder_of_many_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each costs the same, however many there are: with pairs of files this took minutes."""
    for number in range(1000):
        name = f"by-dev-rootcoord-dml_0_{number}v0"
        lines = [parts.stored(at, ts(0), name) for at in (0, 900_000 + number)]
        write(tmp_path / "run" / str(number // 100) / f"{number}.log", lines[:: -1 if number % 50 else 1])
    before = time.process_time()
    status, said = judge(capsys, tmp_path / "run", build=tmp_path / "build")
    assert (status, time.process_time() - before < 30) == (0, True)
    assert re.search(r"stored_never_goes_back: [\d,]+ more like these", said)


def test_what_is_not_judged_is_said_in_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = write(tmp_path / "x.log", [parts.stored(900, ts(800))])
    _, said = judge(capsys, log, build=tmp_path / "build")
    (told,) = [one for one in said.splitlines() if one.startswith("not judged, for want of events")]
    assert "33 rules (2 about broker, 2 about broker and store, 1 about clients, 16 about log" in told
    assert "store-window" not in said


def test_a_gap_is_said_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In a file that holds nothing else, the lines may have been of any kind."""
    torn = write(tmp_path / "h.ndjson", [parts.op(0, "insert", 1, keys=[[1, 2]]) | {"start": 1.5}])
    status, said = judge(capsys, torn, build=tmp_path / "build")
    assert status == 3
    assert said.count("lines that cannot be read from 1 on (1)") == 1
    assert "h.ndjson: no verdict rests on its 1 lines that cannot be read" in said


def test_time_that_is_over_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not said that the files hold nothing without a hint that nobody has looked into them."""
    monkeypatch.setattr("tidemark.checks.evidence.command.follow", lambda *_, **__: Memory())
    monkeypatch.setattr("tidemark.checks.spark.session.spark_session", lambda **_: None)
    run = sound(tmp_path / "run")
    status, said = judge(capsys, run, "--follow", "--seconds", "1", build=tmp_path / "build")
    assert status == 3
    assert "nothing was read before the end" in said


def test_lines_out_of_order_raise_no_alarm_while_they_come(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [parts.stored(1000 * number, ts(number)) for number in range(4)]

    def follow(_spark: object, paths: list[Path], *, folder: Path, say: Say, **_: object) -> Memory:
        memory, read = Memory(), gather(find(paths))
        memory.feed(read.events.table())
        write_events(read.events.table(), folder / "events" / "0.parquet")
        memory.accounts = read.accounts
        say(memory.answers())
        return memory

    monkeypatch.setattr("tidemark.checks.evidence.command.follow", follow)
    monkeypatch.setattr("tidemark.checks.spark.session.spark_session", lambda **_: None)
    for name, given, code, alarms in (
        ("back", lines[::-1], 0, 0),
        ("mixed", [lines[number] for number in (1, 3, 0, 2)], 3, 0),
        ("wrong", [*lines, parts.stored(9000, ts(1))], 1, 1),
    ):
        log = write(tmp_path / f"{name}.log", given)
        status, said = judge(capsys, log, "--follow", build=tmp_path / name)
        assert status == code, said
        assert said.count("flush.stored_never_goes_back (log-checkpoint): The checkpoint of") == alarms


def test_an_interrupt_waits_for_the_end_of_a_call_and_a_second_does_not() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt), held_interrupts() as noted:  # noqa: PT012 - two interrupts
        signal.raise_signal(signal.SIGINT)
        assert noted == [signal.SIGINT]
        signal.raise_signal(signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_what_comes_too_late_is_judged_in_order_at_the_end(tmp_path: Path) -> None:
    """Two files of one topic, the later one first; the same of a store."""
    late = [message(90, "tick", ts(9000)), message(91, "insert", ts(8000)), message(92, "tick", ts(9001))]
    for broken, more in ((0, []), (1, late)):
        run = sound(tmp_path / str(broken))
        write(run / "further.ndjson", [*more, message(93, "tick", ts(9500)), window(90, 99_000)])
        events = gather(find([run])).events
        ordered = events.table().sort_by("line")
        memory, folder = Memory(), tmp_path / f"memory-{broken}.json"
        for start in range(ordered.num_rows // 8 * 8, -1, -8):
            memory.feed(ordered.slice(start, 8))
            assert sum(one.broken for one in memory.answers()) <= broken, "a false alarm while they come"
            memory.save(folder)
            memory = Memory.load(folder)
        assert {"broker-watermark", "broker-ticks", "store-window"} <= memory.apart
        expected = {one.monitor: (one.broken, one.events) for one in judge_events(events.table())}
        found = {one.monitor: (one.broken, one.events) for one in memory.answers(events)}
        again = memory.apart & expected.keys()
        assert {name: found[name] for name in again} == {name: expected[name] for name in again}
        assert found["broker-watermark"][0] == broken


def test_a_bad_file_beside_good_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = sound(tmp_path / "run")
    (run / "logs" / "other.log").write_bytes(bytes(range(256)) * 30)
    (run / "notes.md").write_text("what we did\n")
    write(run / "scenario.json", [{"scenario": "clean", "seed": 1}])
    status, said = judge(capsys, run, build=tmp_path / "build")
    assert status == 3
    assert "other.log: a binary file" in said
    assert "note: notes.md" in said
    assert "scenario.json" not in said


def test_two_clusters(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sound(tmp_path / "run" / "one")
    sound(tmp_path / "run" / "two")
    write(
        tmp_path / "run" / "two" / "broker.ndjson", [message(0, "tick", ts(7)), message(1, "insert", ts(3))]
    )
    status, said = judge(capsys, tmp_path / "run", build=tmp_path / "build")
    assert status == 3
    assert "more than one cluster" in said
    document = json.loads((tmp_path / "build" / "verdicts.json").read_text())
    assert {one["instance"].split(":")[1][:4] for one in document["judgements"]} == {"log-"}


def test_the_table_of_claims(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.run(["evidence", "--claims"]) == 0
    said = capsys.readouterr().out
    assert "timetick.watermark_promise" in said
    assert "not judged; it needs a trace that sees `" in said


def test_what_is_compared_is_the_same_each_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = sound(tmp_path / "run")
    texts = []
    for _ in range(2):
        judge(capsys, run, build=tmp_path / "build")
        document = json.loads((tmp_path / "build" / "verdicts.json").read_text())
        document.pop("measured")
        texts.append(json.dumps(document))
        os.utime(run / "etcd.ndjson", (1, 1))
    assert texts[0] == texts[1]
