"""The streaming node killed with SIGKILL on real files; and the comparison at the end can fail."""

import asyncio

import pytest

from tests.impl.parts import run
from tidemark.impl.broker.messages import InsertMessage
from tidemark.impl.demo.streaming import compare, main, play
from tidemark.impl.demo.streaming_process import CHANNEL, store_file, value_of
from tidemark.impl.storage.sqlite_streaming import SqliteStreamingStore
from tidemark.impl.streaming.ports import Summary
from tidemark.impl.types import Row


def test_every_acknowledged_row_is_stored_once_after_kills(tmp_path):
    outcome = asyncio.run(play(tmp_path, kills=3, seed=2))
    assert outcome.clean, outcome.describe()
    assert outcome.stored >= outcome.acknowledged > 0


@pytest.mark.parametrize(
    ("keys", "counted", "wrong"),
    [
        ([3000001, 3000002], {1: 1, 2: 1}, "2 stored: 1 lost, 0 doubled, 0 invented, 0 segments"),
        ([3000000, 3000001, 3000001], {0: 1, 1: 2}, "3 stored: 0 lost, 1 doubled, 0 invented, 0 segments"),
        ([3000000, 3000001, 5], {0: 1, 1: 1, 2: 1}, "3 stored: 0 lost, 0 doubled, 1 invented, 0 segments"),
        ([3000000, 3000001], {0: 2, 1: 1}, "2 stored: 0 lost, 0 doubled, 0 invented, 1 segments"),
    ],
)
def test_the_comparison_finds_what_is_wrong(tmp_path, keys, counted, wrong):
    async def scenario():
        store = SqliteStreamingStore(store_file(tmp_path))
        for place, key in enumerate(keys, start=1):
            row = Row(place, key % 3, key, value_of(key))
            await store.put(place, InsertMessage(place, CHANNEL, (row,)))
        await store.save_recovery(Summary(len(keys), counted))
        await store.close()
        outcome = await compare(tmp_path, {3000000, 3000001})
        assert not outcome.clean
        assert wrong in outcome.describe()

    run(scenario())


def test_no_kill_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--kills", "0"])
    assert ended.value.code == 2
    assert "--kills is 0" in capsys.readouterr().err
