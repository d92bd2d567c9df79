"""A live Kafka broker (librdkafka's own mock, which other clients can use) is read and judged."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.checks.evidence import parts
from tests.checks.evidence.parts import ts
from tidemark.checks.cli import app
from tidemark.checks.verdicts.exit_codes import ExitCode

CHANNEL = "by-dev-rootcoord-dml_0"


def tick(at: int) -> bytes:
    return parts.proto((1, parts.proto((1, 1200), (3, ts(at)), (4, 1))))


def insert(at: int) -> bytes:
    header = parts.proto((1, 400), (3, ts(at)), (4, 2))
    return parts.proto((1, header), (2, f"{CHANNEL}_1v0".encode()), (9, 7), (14, 5))


@pytest.fixture
def broker() -> Iterator[tuple[str, Any]]:
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
    tmp_path: Path, broker: tuple[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    address, producer = broker
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
    tmp_path: Path, broker: tuple[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    address, producer = broker
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
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    status, said = judge(f"127.0.0.1:{port}", tmp_path, capsys)
    assert status == ExitCode.BAD_INPUT
    assert "does not answer" in said
