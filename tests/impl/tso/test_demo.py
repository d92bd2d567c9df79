"""The demonstration of the oracle, and the eyes that judge it."""

import pytest

from tidemark.impl.demo.oracle import Call, Story, doubled, judge, main, out_of_order
from tidemark.impl.storage.etcd_server import ABSENT, find_etcd

GOOD = [Call("a", 0, 1, 1, 10), Call("a", 2, 4, 21, 30), Call("b", 3, 5, 11, 20), Call("b", 6, 7, 31, 40)]


@pytest.mark.parametrize(
    "store",
    ["sqlite", pytest.param("etcd", marks=pytest.mark.skipif(find_etcd() is None, reason=ABSENT))],
)
def test_a_killed_leader_is_followed_and_nothing_is_handed_out_twice(store, capsys):
    assert main(["--store", store, "--seconds", "0.2", "--clients", "2"]) == 0
    said = capsys.readouterr().out
    assert "handed out twice: 0\nout of order: 0\nok\n" in said
    assert "server a: 0 calls" not in said
    assert "server b: 0 calls" not in said


def test_calls_that_overlap_may_be_answered_in_any_order():
    assert (doubled(GOOD), out_of_order(GOOD)) == (0, 0)
    assert judge(Story(calls=list(GOOD))) == 0


@pytest.mark.parametrize(
    ("call", "counts"),
    [
        (Call("b", 8, 9, 40, 49), (1, 1)),
        (Call("b", 8, 9, 25, 26), (1, 1)),
        (Call("b", 8, 9, 0, 0), (0, 1)),
    ],
)
def test_what_is_wrong_is_seen(call, counts, capsys):
    calls = [*GOOD, call]
    assert (doubled(calls), out_of_order(calls)) == counts
    assert judge(Story(calls=calls)) == 1
    assert capsys.readouterr().out.endswith("WRONG\n")


def test_one_leader_alone_shows_nothing():
    assert judge(Story(calls=GOOD[:2])) == 1
