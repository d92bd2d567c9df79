"""Inserts and deletes as tasks: shards, messages, and tasks whose collection has changed."""

from typing import Any

import pytest

from tests.impl.parts import run
from tidemark.impl.errors import RpcError, SchemaMismatchError
from tidemark.impl.proxy.values import Message
from tidemark.impl.proxy.writes import WriteTask, delete_task, insert_task, shard_of
from tidemark.impl.values.collection_version import CollectionVersion

CHANNELS = ("dml_0_7v0", "dml_1_7v1")


NUMBERS = {
    0: 1669671676, 1: 1392991556, 2: 1176478452, -1: 1651860712, -2: 709407621, 1 << 60: 795411472,
    -(1 << 63): 1366273829, (1 << 63) - 1: 40977599,
}  # fmt: skip
TEXTS = {
    "": 0, "a": 3904355907, "key": 2324736937,
    "x" * 99 + "é": 45954955, "é" * 50: 2656795874, "é" * 51: 2656795874,
}  # fmt: skip
"""Hashes as the library mmh3 and zlib compute them. The first 100 bytes of a text count."""


@pytest.mark.parametrize(("key", "hashed"), [*NUMBERS.items(), *TEXTS.items()])
def test_a_key_has_the_shard_that_milvus_gives_it(key, hashed):
    """Written out: a delete must find rows that an older release has written."""
    assert shard_of(key, 1 << 32) == hashed
    assert [shard_of(key, shards) for shards in (1, 2, 3, 16)] == [hashed % n for n in (1, 2, 3, 16)]


class Segments:
    """Gives each message a segment of its own."""

    def __init__(self):
        self.asked = []

    def allocate(self, channel, rows, *, deletes=False):
        self.asked.append((channel, rows, deletes))
        return -len(self.asked) if deletes else len(self.asked)


@pytest.mark.parametrize(
    ("make", "wanted", "texts"),
    [
        (insert_task, list(enumerate("abcd", 2)), {
            "dml_0": '["insert",40,"dml_0_7v0",[[1,2,"a"],[1,4,"c"]]]',
            "dml_1": '["insert",40,"dml_1_7v1",[[2,3,"b"],[2,5,"d"]]]',
        }),
        (delete_task, range(2, 6), {
            "dml_0": '["delete",40,"dml_0_7v0",-1,[2,4]]', "dml_1": '["delete",40,"dml_1_7v1",-2,[3,5]]',
        }),
    ],
)  # fmt: skip
def test_a_message_is_made_when_it_is_first_sent_and_then_kept(make, wanted, texts):
    segments = Segments()
    task = make(CHANNELS, wanted, segments)
    assert set(task.channels) == set(texts)
    assert segments.asked == []
    for task.ts in (40, 41):
        for channel, text in texts.items():
            assert task.message(channel) == Message(channel, 40, text)
    assert segments.asked == [(channel, 2, make is delete_task) for channel in CHANNELS]


class Metadata:
    """Knows one version, or fails."""

    def __init__(self, found):
        self.found = found

    async def resolve(self, name):
        if isinstance(self.found, Exception):
            raise self.found
        return CollectionVersion(name, self.found, "")


KNOWN = CollectionVersion("c", 1, "")


@pytest.mark.parametrize(
    ("known", "metadata", "error"),
    [
        (None, None, None),
        (None, Metadata(2), None),
        (KNOWN, None, None),
        (KNOWN, Metadata(1), None),
        (KNOWN, Metadata(2), SchemaMismatchError),
        (KNOWN, Metadata(0), SchemaMismatchError),
        (KNOWN, Metadata(RpcError("down")), RpcError),
    ],
)
def test_a_task_is_dropped_if_its_collection_has_another_version(known, metadata, error):
    task = WriteTask(("dml_0",), name="c", known=known, metadata=metadata)
    run(task.prepare())
    assert (type(task.error) if task.error else None, task.carried_out) == (error, error is not None)


def test_a_defect_of_the_metadata_is_no_reason_to_drop_a_task():
    metadata: Any = Metadata(RuntimeError("a defect"))
    task = WriteTask(("dml_0",), name="c", known=KNOWN, metadata=metadata)
    with pytest.raises(RuntimeError, match="a defect"):
        run(task.prepare())
    assert not task.carried_out
