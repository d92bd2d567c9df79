"""The check of a cluster's answers: every level at its boundary, every kind of write, known and unknown."""

import pytest

from tidemark.impl.client.client import Result
from tidemark.impl.cluster.promises import Promises, Write
from tidemark.impl.proxy.writes import shard_of
from tidemark.impl.values.consistency import ConsistencyLevel

STRONG, SESSION, BOUNDED, CUSTOMIZED, EVENTUALLY = (
    ConsistencyLevel.STRONG,
    ConsistencyLevel.SESSION,
    ConsistencyLevel.BOUNDED,
    ConsistencyLevel.CUSTOMIZED,
    ConsistencyLevel.EVENTUALLY,
)
WRITES = [
    Write(1, "a", ts=10, ended=1),
    Write(1, "b", deletes=True, ts=20, ended=1),
    Write(2, "b", ts=12, ended=1),
    Write(2, "a", deletes=True),
    Write(3, "a"),
    Write(4, "a", ts=14, ended=1),
    Write(4, "a", deletes=True, ts=16, ended=1),
    Write(4, "b", ts=18, ended=1),
    Write(5, "b", ts=11, ended=1),
    Write(5, "b"),
    Write(6, "a", deletes=True, ts=13, ended=1),
    Write(6, "b", deletes=True),
]
SEEN = {
    9: "no no may no may no no",
    10: "must no may no may no no",
    12: "must may may no must no no",
    15: "must may may must must no no",
    17: "must may may no must no no",
    19: "must may may must must no no",
    20: "no may may must must no no",
}
KEYS = (1, 2, 3, 4, 5, 6, 9)
"""By moment, whether a row of each key must be seen, may be seen, or not: a write without an answer is in the
log at any timestamp, or is not."""


def broken(rows, moments, guarantee=0, level=EVENTUALLY, *, promises=None, client="a", begun=0, named=0):
    promises = promises or Promises(50, list(WRITES))
    result = Result(dict.fromkeys(rows, "v"), guarantee, moments)
    return sorted(promises.broken(result, level=level, client=client, begun=begun, named=named))


def kind(key, moment):
    (words,) = [words for at, words in SEEN.items() if at == max(one for one in SEEN if one <= moment)]
    return words.split()[KEYS.index(key)]


@pytest.mark.parametrize("moments", [{"x": at} for at in SEEN] + [{"x": 17, "y": 10}, {"x": 9, "y": 20}])
def test_an_answer_is_exact_at_the_moment_of_its_channel(moments):
    at = {key: list(moments.values())[shard_of(key, len(moments))] for key in KEYS}
    kinds = {key: kind(key, moment) for key, moment in at.items()}
    assert broken((), moments) == [
        f"row {key} is missing at {at[key]}" for key in KEYS if kinds[key] == "must"
    ]
    assert broken(KEYS, moments) == [
        f"row {key} is there at {at[key]}, and must not be" for key in KEYS if kinds[key] == "no"
    ]


def test_a_moment_is_not_below_the_guarantee():
    rows = (1, 4, 5)
    assert broken(rows, {"x": 19, "y": 18}, 18) == []
    assert broken(rows, {"x": 19, "y": 18}, 19) == ["y shows the moment 18, below the guarantee 19"]


@pytest.mark.parametrize(
    ("level", "given", "owed"),
    [
        *((level, {"begun": 151}, True) for level in (STRONG, SESSION)),
        *((level, {"begun": 150}, False) for level in (STRONG, SESSION)),
        (SESSION, {"begun": 151, "client": "b"}, False),
        (STRONG, {"begun": 151, "client": "b"}, True),
        (BOUNDED, {"begun": 201}, True),
        (BOUNDED, {"begun": 200}, False),
        (CUSTOMIZED, {"begun": 151, "named": 12}, True),
        (CUSTOMIZED, {"begun": 151, "named": 11}, False),
        (CUSTOMIZED, {"begun": 150, "named": 12}, False),
        (EVENTUALLY, {"begun": 999, "named": 99}, False),
    ],
)
def test_a_guarantee_is_not_below_the_writes_that_the_level_promises(level, given, owed):
    promises = Promises(50, [Write(4, "a", ts=12, ended=150), Write(5, "a")])
    words = f"{level.value}: the guarantee 11 is below write 12 of key 4"
    assert broken((4,), {"x": 30}, 11, level, promises=promises, **given) == [words] * owed
    assert broken((4,), {"x": 30}, 12, level, promises=promises, **given) == []
    assert promises.judged == 2
