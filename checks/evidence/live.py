"""What a live store and a live broker hold, saved beside the other evidence of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tidemark.checks.evidence.readers.broker import decode, lines
from tidemark.checks.evidence.readers.etcd import GatewayError, watch
from tidemark.checks.verdicts.errors import BadInputError

if TYPE_CHECKING:
    from confluent_kafka import Consumer

_SECONDS = 10.0
"""How long the broker may take to answer."""


class BrokerError(Exception):
    """Nothing answers, or what answers does not give what it says that it has."""


def messages(address: str, topics: str) -> Iterator[tuple[str, int, bytes]]:
    """Topic, offset and value of each message, topic by topic, from the first offset that is kept.

    Channels of Milvus have one partition. Raises BrokerError if nothing answers at the address, if no topic
    has ``topics`` in its name, or if a topic stops before its end.
    """
    from confluent_kafka import Consumer, KafkaException

    consumer = Consumer(
        {"bootstrap.servers": address, "group.id": "tidemark", "enable.auto.commit": False, "log_level": 0}
    )
    try:
        names = sorted(name for name in consumer.list_topics(timeout=_SECONDS).topics if topics in name)
        if not names:
            raise BrokerError(f"no topic of {address} has {topics!r} in its name")
        for name in names:
            yield from _topic(consumer, name)
    except KafkaException as error:
        raise BrokerError(f"the broker at {address} does not answer: {error.args[0].str()}") from error
    finally:
        consumer.close()


def _topic(consumer: Consumer, name: str) -> Iterator[tuple[str, int, bytes]]:
    from confluent_kafka import TopicPartition

    low, high = consumer.get_watermark_offsets(TopicPartition(name, 0), timeout=_SECONDS)
    consumer.assign([TopicPartition(name, 0, low)])
    at = low
    while at < high:
        message = consumer.poll(_SECONDS)
        problem = None if message is None else message.error()
        if message is None or problem is not None:
            why = f"no answer in {_SECONDS:.0f} s" if problem is None else problem.str()
            raise BrokerError(f"topic {name} stops at offset {at}, although it goes on to {high}: {why}")
        offset = message.offset()
        assert offset is not None  # only a message that was not sent yet has none
        at = offset + 1
        yield name, offset, message.value() or b""


FILE = Path("live") / "etcd.ndjson"
TOPICS_FILE = Path("live") / "broker.ndjson"
CHANNELS = "rootcoord-dml"
"""Part of the names of the topics that carry rows and ticks."""


def save_store(address: str, *, build: Path) -> Path:
    """Write the whole history of the etcd at a gateway to a file below the build folder; return its path.

    The history ends where no change comes for some seconds. Raises BadInputError if nothing answers at the
    address, if the first revisions are gone, or if the history is empty.
    """
    path = build / FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    changes = 0
    try:
        with path.open("w", encoding="utf-8") as file:
            for change in watch(address):
                file.write(f"{json.dumps(change)}\n")
                changes += 1
    except (GatewayError, ValueError) as error:
        raise BadInputError(
            str(error), remedy="name the HTTP gateway of an etcd that keeps its history: http://HOST:2379"
        ) from error
    if not changes:
        raise BadInputError(f"the store at {address} has no change", remedy="name another store")
    return path


def save_topics(address: str, *, build: Path, topics: str = CHANNELS) -> Path:
    """Write the messages of a Kafka broker, up to those it holds now, to a file below the build folder.

    Topics are those with ``topics`` in their name. Nothing is committed: no consumer of the system notices.
    Raises BadInputError if nothing answers at the address, if no topic has such a name, or if a message is
    none of Milvus's; ModuleNotFoundError if the extra ``evidence`` is missing.
    """
    path = build / TOPICS_FILE
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        with path.open("w", encoding="utf-8") as file:
            written = sum(file.write(line) > 0 for line in lines(_known(messages(address, topics))))
    except (BrokerError, ValueError) as error:
        raise BadInputError(
            str(error),
            remedy="name a broker of the cluster as HOST:PORT, and --topics as its channels are named",
        ) from error
    if not written:
        raise BadInputError(
            f"the topics of {address} with {topics!r} in their name hold no message",
            remedy="name another broker, or another part of the names with --topics",
        )
    return path


def _known(found: Iterator[tuple[str, int, bytes]]) -> Iterator[dict[str, Any]]:
    for topic, offset, value in found:
        yield decode(topic, offset, value)
