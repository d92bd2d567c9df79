"""Reads the broker of a run and writes its messages as lines: the header, the shard, the segment, the rows.

usage: python -m inside.messages rocksmq FOLDER OUT
       python -m inside.messages kafka ADDRESS OUT

Prints one line of JSON: the number of messages, how many the broker had thrown away, and how many with rows
stand at or below a tick that their topic already had. The last is a plain count beside the
judges, to compare them with.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .wire import fields, integer, part, text

CHANNELS = "rootcoord-dml"
"""Part of the names of the topics that carry rows and ticks."""

# Numbers of the server's message types.
_TYPES = {
    100: "create", 101: "drop", 106: "create-partition", 107: "drop-partition",
    400: "insert", 401: "delete", 402: "flush", 1200: "tick",
}  # fmt: skip
_INSERT, _DELETE = 400, 401


def describe(topic: str, number: int, value: bytes) -> dict[str, Any]:
    """One message as a line of ``broker.ndjson``."""
    message = fields(value)
    header = fields(part(message, 1))
    kind = integer(header, 1)
    with_rows = kind in {_INSERT, _DELETE}
    return {
        "kind": "broker", "topic": topic, "id": number, "type": _TYPES.get(kind, str(kind)),
        "ts": integer(header, 3), "source": integer(header, 4),
        "rows": integer(message, 14 if kind == _INSERT else 11) if with_rows else 0,
        "segment": integer(message, 9) if kind == _INSERT else 0,
        "shard": text(message, 2) if with_rows else "",
    }  # fmt: skip


def rocksmq(folder: Path) -> Iterator[tuple[str, int, bytes]]:
    """Topic, id and value of each message in the folder of RocksMQ's RocksDB, by topic and id."""
    from rocksdict import AccessType, Options, Rdict

    options = Options(raw_mode=True)
    others = {
        name: Options(raw_mode=True) for name in Rdict.list_cf(str(folder), options) if name != "default"
    }
    store = Rdict(str(folder), options, column_families=others, access_type=AccessType.read_only())
    try:
        for key, value in store.items():
            assert isinstance(key, bytes)
            assert isinstance(value, bytes)
            topic, _, number = key.decode("utf-8", "replace").rpartition("/")
            if CHANNELS in topic:
                yield topic, int(number), value
    finally:
        store.close()


def kafka(address: str) -> Iterator[tuple[str, int, bytes | None]]:
    """Topic, offset and value of each message of the Kafka broker; None for those that it has thrown away."""
    from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

    consumer = Consumer(
        {
            "bootstrap.servers": address, "group.id": "collect", "enable.auto.commit": False,
            "enable.partition.eof": True,
        }
    )  # fmt: skip
    try:
        for topic in sorted(name for name in consumer.list_topics(timeout=10).topics if CHANNELS in name):
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
            yield from ((topic, offset, None) for offset in range(low))
            consumer.assign([TopicPartition(topic, 0, low)])
            at = low
            while at < high:
                message = consumer.poll(10)
                if message is None:
                    raise RuntimeError(f"{topic} stops at offset {at} although it goes on to {high}")
                problem = message.error()
                if problem is not None and problem.code() == KafkaError._PARTITION_EOF:  # noqa: SLF001
                    break
                if problem is not None:
                    raise KafkaException(problem)
                offset = message.offset()
                assert offset is not None
                at = offset + 1
                yield topic, offset, message.value()
    finally:
        consumer.close()


def main() -> None:
    """Read the broker that the arguments name."""
    kind, place, out = sys.argv[1:]
    written = thrown_away = late = 0
    ticks: dict[str, int] = {}
    source = rocksmq(Path(place)) if kind == "rocksmq" else kafka(place)
    with Path(out).open("w") as file:
        for topic, number, value in source:
            if value is None:
                thrown_away += 1
                continue
            line = describe(topic, number, value)
            file.write(json.dumps(line, separators=(",", ":")) + "\n")
            written += 1
            if line["type"] == "tick":
                ticks[topic] = max(ticks.get(topic, 0), line["ts"])
            elif line["rows"] and line["ts"] <= ticks.get(topic, 0):
                late += 1
    print(json.dumps({"messages": written, "thrown away": thrown_away, "late": late}))


if __name__ == "__main__":
    main()
