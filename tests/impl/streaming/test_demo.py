"""The streaming node killed with SIGKILL on real files; and the comparison at the end can fail."""

import asyncio
from dataclasses import replace

import pytest

from tidemark.impl.demo.streaming import compare, main, play
from tidemark.impl.demo.streaming_process import append_of, store_file
from tidemark.impl.storage.sqlite_streaming import SqliteStreamingStore
from tidemark.impl.streaming.ports import Summary


def test_every_acknowledged_row_is_stored_once_after_kills(tmp_path):
    outcome = asyncio.run(play(tmp_path, kills=3, seed=2))
    assert outcome.clean, outcome.describe()
    assert outcome.stored >= outcome.acknowledged > 0


@pytest.mark.parametrize(
    ("keys", "counted", "wrong"),
    [
        ([3000001, 3000002], {1: 1, -1: 1}, "1 lost, 0 doubled, 0 invented, 0 transactions broken, 0 seg"),
        (
            [3000000, 3000001, 3000001],
            {0: 1, 1: 2},
            "0 lost, 1 doubled, 0 invented, 0 transactions broken, 0",
        ),
        (
            [3000000, 3000001, 5],
            {0: 1, 1: 1, 2: 1},
            "0 lost, 0 doubled, 1 invented, 0 transactions broken, 0",
        ),
        ([3000000, 3000001], {0: 2, 1: 1}, "0 lost, 0 doubled, 0 invented, 0 transactions broken, 1 seg"),
        (
            [3000000, 3000001, 3000003],
            {0: 2, 1: 1},
            "0 lost, 0 doubled, 0 invented, 1 transactions broken, 0",
        ),
        (
            [3000000, 3000001, (3000039, 3000043, 3000047)],
            {0: 2, 1: 2, -1: 1},
            "(1 deletes, 1 transactions): 0 lost, 0 doubled, 0 invented, 1 transactions broken, 0 seg",
        ),
    ],
)
def test_the_comparison_finds_what_is_wrong(tmp_path, keys, counted, wrong):
    outcome = asyncio.run(compared(tmp_path, keys, counted))
    assert not outcome.clean
    assert wrong in outcome.describe()


def test_a_whole_transaction_is_right(tmp_path):
    keys = [3000000, 3000001, (3000003, 3000007, 3000011)]
    outcome = asyncio.run(compared(tmp_path, keys, {0: 2, 1: 2, -1: 1}))
    assert outcome.clean
    assert "5 stored (1 deletes, 1 transactions)" in outcome.describe()


async def compared(root, keys, counted):
    """What the comparison says of these keys, each stored at a place of its own or together."""
    store = SqliteStreamingStore(store_file(root))
    for place, found in enumerate(keys, start=1):
        together = found if isinstance(found, tuple) else (found,)
        await store.put(place, [replace(append_of(key), ts=place).content() for key in together])
    await store.save_recovery(Summary(len(keys), counted))
    await store.close()
    return await compare(root, {3000000, 3000001})


def test_no_kill_is_refused(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--kills", "0"])
    assert ended.value.code == 2
    assert "--kills is 0" in capsys.readouterr().err
