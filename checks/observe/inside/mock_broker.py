"""librdkafka's mock Kafka broker, in memory, on the loopback interface.

It prints its address, and lives until its input ends.

usage: python -m inside.mock_broker
"""

import os
import sys
import threading

from confluent_kafka import Producer


def main() -> None:
    """Serve until the input ends."""
    producer = Producer({"test.mock.num.brokers": 1, "log_level": 3})
    found = producer.list_topics(timeout=10).brokers.values()
    print(next(f"{broker.host}:{broker.port}" for broker in found), flush=True)
    threading.Thread(target=_until_end_of_input, daemon=True).start()
    while True:
        producer.poll(1)


def _until_end_of_input() -> None:
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
