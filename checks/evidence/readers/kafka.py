"""The messages of a live Kafka broker, read to its present end without a trace in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

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
