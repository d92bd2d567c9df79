"""The allowed answers of a read at its level, from the writes and from the answer's guarantee and moments.

Every answer names its guarantee and, for each channel, the moment that it shows. Two things are checked. The
answer is exact: at its moments, which are at or above the guarantee, it has every row that was inserted up to
there and is not deleted again up to there, and no other. And the guarantee is the promise of the level.
"""

from dataclasses import dataclass, field

from tidemark.impl.client.client import Result
from tidemark.impl.proxy.writes import shard_of
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.values.consistency import ConsistencyLevel


@dataclass
class Write:
    """One write of one key, to be noted before it is sent.

    ended: when it was acknowledged, in nanoseconds of the steady clock. Before that, and without an answer,
    ``ts`` and ``ended`` are None: it may be in the log or not, at any timestamp.
    """

    key: int
    client: str
    deletes: bool = False
    ts: Timestamp | None = None
    ended: int | None = None


@dataclass
class Promises:
    """All writes to one collection, and the promises of its reads.

    bound: allowed lag of a bounded read in nanoseconds: the grace, and the lead of the oracle before the
    proxies' clock.
    """

    bound: int
    writes: list[Write] = field(default_factory=list)
    judged: int = 0

    def broken(
        self, result: Result, *, level: ConsistencyLevel, client: str, begun: int, named: Timestamp = 0
    ) -> list[str]:
        """The broken promises of an answer to a read that began at this time: one sentence each.

        ``named``: the timestamp that a customized read has named.
        """
        self.judged += 1
        wrong = self._not_exact(result)
        seen = [write for write in self.writes if write.ended is not None and write.ended < begun]
        match level:
            case ConsistencyLevel.STRONG:
                owed = seen
            case ConsistencyLevel.SESSION:
                owed = [write for write in seen if write.client == client]
            case ConsistencyLevel.BOUNDED:
                owed = [
                    write for write in seen if write.ended is not None and write.ended < begun - self.bound
                ]
            case ConsistencyLevel.CUSTOMIZED:
                owed = [write for write in seen if write.ts is not None and write.ts <= named]
            case ConsistencyLevel.EVENTUALLY:
                owed = []
        wrong.extend(
            f"{level.value}: the guarantee {result.guarantee} is below write {write.ts} of key {write.key}"
            for write in owed
            if write.ts is not None and write.ts > result.guarantee
        )
        return wrong

    def _not_exact(self, result: Result) -> list[str]:
        wrong = [
            f"{channel} shows the moment {moment}, below the guarantee {result.guarantee}"
            for channel, moment in result.moments.items()
            if moment < result.guarantee
        ]
        moments = list(result.moments.values())
        for key in {write.key for write in self.writes} | set(result.rows):
            moment = moments[shard_of(key, len(moments))]
            must, may = self._visible(key, moment)
            if must and key not in result.rows:
                wrong.append(f"row {key} is missing at {moment}")
            if not may and key in result.rows:
                wrong.append(f"row {key} is there at {moment}, and must not be")
        return wrong

    def _visible(self, key: int, moment: Timestamp) -> tuple[bool, bool]:
        """Whether the row must be visible at the moment, and whether it may."""
        mine = [write for write in self.writes if write.key == key]
        past = [(write.ts, write.deletes) for write in mine if write.ts is not None and write.ts <= moment]
        there = bool(past) and not max(past)[1]
        unknown = {write.deletes for write in mine if write.ts is None}
        return there and True not in unknown, there or False in unknown
