"""The operations of the public client, each recorded in the history."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pymilvus import Collection, CollectionSchema, DataType, FieldSchema, connections, utility
from pymilvus.client import ts_utils

from .history import EVERY_KEY, Answer, History, runs

DIMENSION = 8
_INDEX = {"index_type": "FLAT", "metric_type": "L2", "params": {}}
# A time limit that is no int, and no second try: the library would repeat a write that may have been done.
_ONCE: dict[str, Any] = {"timeout": 60.0, "retry_times": 0}

_sent = threading.local()


def _watch_guarantees() -> None:
    """Keep the guarantee timestamp that the client library sends, by thread: it does not tell."""
    original = ts_utils.construct_guarantee_ts

    def construct(collection_name: str, kwargs: dict[str, Any]) -> bool:
        default = bool(original(collection_name, kwargs))
        _sent.guarantee = int(kwargs.get("guarantee_timestamp", 0))
        return default

    ts_utils.construct_guarantee_ts = construct


_watch_guarantees()


class Client:
    """One client of one collection over one connection. Not for several threads.

    Args:
        name: unique in the run; names the connection and the history.
        process: name of this operating-system process.
        port: of the proxy, on the loopback interface.
        folder: gets the history.
        collection: the name; it has to exist before the first operation on rows.
    """

    def __init__(self, name: str, *, process: str, port: int, folder: Path, collection: str) -> None:
        self.name = name
        self.collection = collection
        self._history = History(folder, client=name, process=process)
        self._handle: Collection | None = None
        connections.connect(alias=name, host="127.0.0.1", port=str(port))

    def create(self, collection: str, *, shards: int) -> bool:
        """Create a collection and its index: a key, a number, a vector; whether that went well."""

        def work() -> Answer:
            fields = [
                FieldSchema("pk", DataType.INT64, is_primary=True),
                FieldSchema("v", DataType.INT64),
                FieldSchema("e", DataType.FLOAT_VECTOR, dim=DIMENSION),
            ]
            made = Collection(
                collection, CollectionSchema(fields), using=self.name, num_shards=shards,
                consistency_level="Strong",
            )  # fmt: skip
            made.create_index("e", _INDEX)
            return Answer()

        return self._history.record("create", work, collection=collection, writes=True) is not None

    def drop(self, collection: str) -> bool:
        """Drop a collection; whether that went well."""

        def work() -> Answer:
            utility.drop_collection(collection, using=self.name)
            return Answer()

        return self._history.record("drop", work, collection=collection, writes=True) is not None

    def load(self, *, timeout: float) -> bool:
        """Load the collection for reading, and wait until it is; whether that went well."""

        def work() -> Answer:
            self._rows().load(timeout=timeout)
            return Answer()

        return self._history.record("load", work, collection=self.collection) is not None

    def insert(self, keys: Sequence[int], *, rng: random.Random) -> bool:
        """Insert a row for each key; whether the server said that it did."""

        def work() -> Answer:
            vectors = [[rng.random() for _ in range(DIMENSION)] for _ in keys]
            result = self._rows().insert([list(keys), [key % 1000 for key in keys], vectors], **_ONCE)
            return Answer(ts=int(result.timestamp), count=int(result.insert_count))

        return self._record("insert", work, keys=runs(keys), writes=True) is not None

    def delete(self, keys: Sequence[int]) -> bool:
        """Delete by key; whether the server said that it did."""

        def work() -> Answer:
            result = self._rows().delete(f"pk in {list(keys)}", **_ONCE)
            return Answer(ts=int(result.timestamp), count=int(result.delete_count))

        return self._record("delete", work, keys=runs(keys), writes=True) is not None

    def query(self, *, level: str, keys: Sequence[int] | None = None) -> list[list[int]] | None:
        """Runs of the keys that are there, among ``keys`` or all; None if the read failed."""
        expression = "pk >= 0" if keys is None else f"pk in {list(keys)}"

        def work() -> Answer:
            found = self._rows().query(expression, output_fields=["pk"], consistency_level=level, **_ONCE)
            seen = runs(int(row["pk"]) for row in found)
            return Answer(seen=seen, count=len(found), guarantee=_sent.guarantee)

        answer = self._record("query", work, keys=EVERY_KEY if keys is None else runs(keys), level=level)
        return None if answer is None else answer.seen

    def count(self, *, level: str) -> int | None:
        """The number of rows; None if the read failed."""

        def work() -> Answer:
            found = self._rows().query("", output_fields=["count(*)"], consistency_level=level, **_ONCE)
            return Answer(count=int(found[0]["count(*)"]), guarantee=_sent.guarantee)

        answer = self._record("count", work, keys=EVERY_KEY, level=level)
        return None if answer is None else answer.count

    def flush(self, *, timeout: float) -> bool:
        """Ask for all that was written to be stored, and wait for it."""

        def work() -> Answer:
            self._rows().flush(timeout=timeout)
            return Answer()

        return self._record("flush", work, keys=[]) is not None

    def _record(self, op: str, work: Any, **more: Any) -> Answer | None:
        return self._history.record(op, work, collection=self.collection, **more)

    def _rows(self) -> Collection:
        if self._handle is None:
            self._handle = Collection(self.collection, using=self.name)
        return self._handle
