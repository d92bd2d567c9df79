"""The check of a cluster's answers beside a reckoning by possible histories.

What a read may answer is decided in ``impl/cluster/promises`` from what is known of the writes. Here it is
said once more in another way: a write without an answer may be in the log or not, at any place. A row must
be in an answer if it is visible in all histories that are possible then, and may be if it is in one.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Iterator, Sequence
from functools import cache

from tidemark.impl.client.client import Result
from tidemark.impl.cluster.promises import Promises, Write
from tidemark.impl.proxy.writes import shard_of
from tidemark.impl.values.consistency import ConsistencyLevel
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

EXACT = "an_answer_is_exact_at_its_moments"
"""Claim id: a sentence for each row that is missing in every possible history, or is there in none, and for
each moment below the guarantee; and no other."""
OWED = "a_guarantee_is_what_the_level_owes"
"""Claim id: a sentence for each write above the guarantee that the level promises to this client; and no
other."""
COUNTED = "each_answer_is_judged_once"
"""Claim id: as many answers are counted as were judged."""

_BOUND = 50
_WRITES = (
    Write(1, "a", ts=10, ended=100),
    Write(1, "b", deletes=True, ts=20, ended=200),
    Write(2, "b", ts=12, ended=150),
    Write(2, "a", deletes=True),
    Write(3, "a"),
    Write(4, "a", ts=14, ended=160),
    Write(4, "a", deletes=True, ts=16, ended=170),
    Write(4, "b", ts=18, ended=180),
    Write(5, "b", ts=11, ended=140),
    Write(5, "b"),
    Write(6, "a", deletes=True, ts=13, ended=155),
    Write(6, "b", deletes=True),
)
_KEYS = (1, 2, 3, 4, 5, 6, 9)
_MOMENTS = (9, 10, 13, 16, 17, 18, 20, 30)
SCRIPTS: tuple[Script, ...] = ({"judged": "rows"}, {"judged": "guarantees"})


class AnswersProgram(ComparedProgram):
    """Judges answers of every kind."""

    async def live(self, process: Process) -> None:
        """Judge all answers of the script."""
        del process
        self._judged = 0
        self.begun = True
        self._promises = Promises(_BOUND, list(_WRITES))
        if self.script["judged"] == "rows":
            self._rows()
        else:
            self._guarantees()

    def _rows(self) -> None:
        """Every set of rows, at moments of two channels and of one."""
        sets = [
            dict.fromkeys(keys, "v")
            for n in range(len(_KEYS) + 1)
            for keys in itertools.combinations(_KEYS, n)
        ]
        pairs = ({"x": 17, "y": 17}, {"x": 9, "y": 20}, {"x": 20, "y": 9}, {"y": 30}, {"x": 13, "y": 10})
        for moments, rows in itertools.product(pairs, sets):
            self._judge(Result(rows, 10, moments), ConsistencyLevel.EVENTUALLY)
        for moment in _MOMENTS:
            for rows in (sets[0], sets[-1]):
                self._judge(Result(rows, 10, {"x": moment}), ConsistencyLevel.EVENTUALLY)

    def _guarantees(self) -> None:
        """Every level and client, from every moment on."""
        for level, client, begun, guarantee, named in itertools.product(
            ConsistencyLevel, "abc", (0, 150, 151, 200, 201, 250, 251), (9, 10, 12, 19, 20), (0, 12, 13)
        ):
            self._judge(
                Result({4: "v"}, guarantee, {"x": 30}), level, client=client, begun=begun, named=named
            )

    def _judge(
        self, result: Result, level: ConsistencyLevel, *, client: str = "a", begun: int = 0, named: int = 0
    ) -> None:
        self._judged += 1
        found = self._promises.broken(result, level=level, client=client, begun=begun, named=named)
        exact = sorted(_not_exact(result))
        owed = sorted(_too_low(result, level, client=client, begun=begun, named=named))
        what = f"{level.value} of {client} at {begun} named {named}: {result}"
        mine = f"{level.value}: "
        self.compare(EXACT, what, sorted(one for one in found if not one.startswith(mine)), exact)
        self.compare(OWED, what, sorted(one for one in found if one.startswith(mine)), owed)
        self.compare(COUNTED, what, self._promises.judged, self._judged)

    def look(self) -> Hashable:
        """How many were judged."""
        return self._judged


def _too_low(
    result: Result, level: ConsistencyLevel, *, client: str, begun: int, named: int
) -> Iterator[str]:
    """The sentences about the guarantee."""
    for write in _WRITES:
        if write.ts is None or write.ended is None or write.ts <= result.guarantee:
            continue
        owed = {
            ConsistencyLevel.STRONG: write.ended < begun,
            ConsistencyLevel.SESSION: write.ended < begun and write.client == client,
            ConsistencyLevel.BOUNDED: write.ended + _BOUND < begun,
            ConsistencyLevel.CUSTOMIZED: write.ended < begun and write.ts <= named,
            ConsistencyLevel.EVENTUALLY: False,
        }[level]
        if owed:
            yield (
                f"{level.value}: the guarantee {result.guarantee} is below write {write.ts}"
                f" of key {write.key}"
            )


def _not_exact(result: Result) -> Iterator[str]:
    """The sentences about moments and rows."""
    shown = list(result.moments.values())
    for channel, moment in result.moments.items():
        if moment < result.guarantee:
            yield f"{channel} shows the moment {moment}, below the guarantee {result.guarantee}"
    for key in _KEYS:
        moment = shown[shard_of(key, len(shown))]
        possible = _visible(key, moment)
        if possible == {True} and key not in result.rows:
            yield f"row {key} is missing at {moment}"
        if possible == {False} and key in result.rows:
            yield f"row {key} is there at {moment}, and must not be"


@cache
def _visible(key: int, moment: int) -> frozenset[bool]:
    """What the row may be, in all histories that are possible."""
    return frozenset(_possible([write for write in _WRITES if write.key == key], moment))


def _possible(writes: Sequence[Write], moment: int) -> Iterator[bool]:
    """Whether the row is visible, in each history that is possible."""
    known = sorted(
        (write.ts, write.deletes) for write in writes if write.ts is not None and write.ts <= moment
    )
    history = [deletes for _, deletes in known]
    yield bool(history) and not history[-1]
    for unknown in (write for write in writes if write.ts is None):
        for place in range(len(history) + 1):
            yield not [*history[:place], unknown.deletes, *history[place:]][-1]


def answers() -> AnswersProgram:
    """Return the program."""
    return AnswersProgram(SCRIPTS, timers=0)
