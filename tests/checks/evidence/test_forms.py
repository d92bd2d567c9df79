"""Evidence in the forms in which people hand it over: packed, wrapped, beside the logs of other systems."""

import gzip
import io
import json
import os
import socket
from pathlib import Path

import pytest

from tests.checks.evidence import parts
from tests.checks.evidence.forms import ETCD, FORMS, PACKED, archived, text, zipped
from tests.checks.evidence.parts import line, ts
from tidemark.checks.cli import app
from tidemark.checks.evidence.judge import judge_evidence
from tidemark.checks.evidence.readers.wrapped import unwrapped
from tidemark.checks.evidence.table import packing
from tidemark.checks.evidence.table.files import Sort, Source, find
from tidemark.checks.evidence.table.plain import Evidence, gather

ANSWERED = line(
    1001, "datanode/flow_graph_time_tick_node.go:142", "UpdateChannelCheckpoint success",
    channel=parts.SHARD, cpTs=ts(1000), cpTime=parts.stamp(1000),
)  # fmt: skip
SOUND = [parts.stored(1000, ts(1000)), ANSWERED, parts.stored(2000, ts(2000))]
WRONG = [*SOUND, parts.stored(3000, ts(2000) - 1)]


def read(path: Path, place: Path) -> Evidence:
    return gather(find([path], unpacked=place))


ALL = FORMS | {name: lambda lines, pack=pack: pack(text(lines)) for name, pack in PACKED.items()}


@pytest.mark.parametrize("form", ALL)
def test_every_form_says_the_same(tmp_path: Path, form: str) -> None:
    """Sound lines hold, a checkpoint that goes back is refuted, and nothing is said to be damaged."""
    for lines, broken in ((SOUND, 0), (WRONG, 1)):
        path = tmp_path / "given"
        path.write_bytes(ALL[form](lines))
        found = judge_evidence(read(path, tmp_path / "unpacked"))
        said = {one.monitor: one for one in found.answers if one.events}
        assert said["log-checkpoint"].broken == broken
        assert said["log-checkpoint"].events == len(lines) - 1
        assert said["log-checkpoint-answer"].events == 1
        assert not found.gaps
        assert not any(one.left_out for one in said.values())


def test_a_wrapping_names_who_writes(tmp_path: Path) -> None:
    """Two pods in one file of JSON, the newest line first: each is judged by itself."""
    lines = [
        json.dumps({"log": entry, "kubernetes": {"pod_name": f"m-{number}"}})
        for entry in WRONG[::-1]
        for number in (1, 2)
    ]
    found = judge_evidence(gather(find([parts.write(tmp_path / "a.log", [*lines])])))
    (answer,) = [one for one in found.answers if one.monitor == "log-checkpoint"]
    assert {one.places[-1].source for one in answer.breaches} == {"a.log (m-1)", "a.log (m-2)"}
    assert {one.places[-1].line for one in answer.breaches} == {1, 2}


@pytest.mark.parametrize(
    "raw", ['{"log": "[2023/11/14 22:13', "plain", '{"a": 1}', "[1]", "{" * 99_999, '{"MESSAGE": [999]}']
)
def test_what_wraps_nothing_stays_as_it_is(raw: str) -> None:
    assert unwrapped(raw.encode()) == raw.encode()


def test_a_second_entry_behind_an_idle_one_is_not_lost(tmp_path: Path) -> None:
    """Neither what stands behind a line without a rule, nor the rest of an entry that is cut by the next."""
    idle = line(900, "proxy/impl.go:9", "all is well", note="x")
    log = parts.write(tmp_path / "a.log", [idle, idle + parts.stored(1000, ts(1000)), ANSWERED, idle])
    assert {one.monitor: one.broken for one in judge_evidence(gather(find([log]))).answers if one.events} == {
        "log-checkpoint": 0, "log-checkpoint-answer": 0,
    }  # fmt: skip
    log = parts.write(tmp_path / "b.log", [parts.stored(900, ts(900))[:90] + parts.stored(1000, ts(1000))])
    assert [str(one) for one in judge_evidence(gather(find([log]))).gaps] == [
        "b.log: lines that cannot be read from 1 on (1)"
    ]


def said(tmp_path: Path, content: bytes, name: str = "x") -> Source:
    (tmp_path / name).write_bytes(content)
    (found,) = find([tmp_path / name], unpacked=tmp_path / "unpacked")
    return found


@pytest.mark.parametrize(
    ("content", "system"),
    [
        (ETCD, "etcd"),
        ("2023-11-14 22:13:20.1 I | etcdserver: published", "etcd"),
        ("MinIO Object Storage Server\nCopyright: 2015-2023 MinIO, Inc.", "MinIO"),
        ("2023-11-14T22:13:20,143+0000 [main] INFO org.apache.pulsar.PulsarStandalone - x", "Pulsar"),
        ("[2023-11-14 22:13:20,143] INFO [KafkaServer id=0] started (kafka.server.KafkaServer)", "Kafka"),
        ('{"level":"info","caller":"woodpecker/log.go:1","msg":"x"}', "Woodpecker"),
    ],
)
def test_logs_of_other_systems_are_named_and_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, system: str
) -> None:
    found = said(tmp_path, content.encode())
    assert (found.sort, found.problem) == (Sort.OTHER, f"a log of {system}, in which nothing is judged")
    parts.write(tmp_path / "a.log", [*SOUND])
    assert app.run(["evidence", str(tmp_path), "--build", str(tmp_path / "build")]) == 0
    assert f"note: x: a log of {system}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "checker"),
    [
        ("{:process 0, :type :invoke, :f :read, :value nil}", "Jepsen, Elle, Knossos or Porcupine (EDN)"),
        ("[{:type :ok, :f :txn, :value [[:r 1 2]]}]", "Jepsen, Elle, Knossos or Porcupine (EDN)"),
        ("INFO  jepsen.util - 0\t:invoke\t:write\t3", "Jepsen (text)"),
        ('{"type":"invoke","f":"txn","process":0}', "Jepsen (JSON)"),
        ('[{"ClientId":0,"Input":{"Op":1},"Call":3,"Output":"","Return":9}]', "Porcupine (JSON)"),
    ],
)
def test_a_history_of_another_checker_in_which_nothing_can_be_judged_is_told_the_format(
    tmp_path: Path, content: str, checker: str
) -> None:
    found = said(tmp_path, content.encode())
    assert found.sort is Sort.NONE
    assert found.problem.startswith(f"a history for {checker}: it has no read that can be judged")
    line_ = json.loads(found.problem.partition("write one operation a line, as ")[2])
    parts.write(tmp_path / "h.ndjson", [line_])
    assert gather(find([tmp_path / "h.ndjson"])).events.kinds() == {"op.insert": 1}


def test_an_archive_that_is_damaged_or_too_large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = archived({"a": text([*WRONG, *["x" * 200] * 4000])}, "w:bz2")
    assert "cannot be read" in said(tmp_path, whole[:-90]).problem
    assert "cannot be read" in said(tmp_path, zipped({"a": text(SOUND)})[:-9]).problem
    assert "cannot be read" in said(tmp_path, gzip.compress(os.urandom(9999))[:40] + b"x" * 400).problem
    monkeypatch.setattr(packing, "_MORE", 0)
    monkeypatch.setattr(packing, "_TIMES", 10)
    bomb = zipped({"a.log": text(["x" * 200] * 40_000)})
    assert "unpacks to more than 10 times" in said(tmp_path, bomb).problem
    monkeypatch.undo()
    content = archived({"a": text(SOUND)})
    for _ in range(3):
        content = zipped({"inner.zip": content})
    assert "not unpacked here" in said(tmp_path, content).problem


def test_a_damaged_archive_leaves_the_files_before_the_damage(tmp_path: Path) -> None:
    whole = archived({"a.log": text(WRONG), "b.log": text(WRONG)})
    (tmp_path / "x.tar").write_bytes(whole[:2200])
    problem, kept = find([tmp_path / "x.tar"], unpacked=tmp_path / "unpacked")
    assert "the rest of the archive cannot be read" in problem.problem
    assert (kept.name, kept.sort) == ("x.tar/a.log", Sort.LOG)


def test_folders_that_are_no_trees(tmp_path: Path) -> None:
    """A loop of links, a link to nothing, a socket, a file twice by another way."""
    parts.write(tmp_path / "run" / "a.log", [*SOUND])
    (tmp_path / "run" / "loop").symlink_to(tmp_path / "run")
    (tmp_path / "run" / "gone").symlink_to(tmp_path / "nowhere")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "run" / "s"))
        assert [one.name for one in find([tmp_path / "run"])] == ["a.log"]


def test_a_line_without_an_end_does_not_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tidemark.checks.evidence.table.read._LONGEST", 1000)
    monkeypatch.setattr("tidemark.checks.evidence.table.read.BLOCK", 500)
    path = parts.write(tmp_path / "a.log", [*SOUND, "x" * 5000])
    assert "a line of more than 1,000 bytes" in gather(find([path])).accounts["a.log"].problems[0]


def test_a_pipe_and_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Input:
        buffer = io.BytesIO(gzip.compress(text(WRONG)))

    monkeypatch.setattr("sys.stdin", Input)
    assert app.run(["evidence", "-", "--build", str(tmp_path / "build")]) == 1
