"""The opening example: client 1 writes, client 2 searches, t0 to t14, once at each level.

    t0 create a collection    t2  search: nothing
    t4 insert A1              t6  search: A1
    t8 insert A2              t10 search: A1, A2
    t12 delete A1             t14 search: A2

A strong read has to give these answers. So does a customized one that names the timestamp of the write before
it. The others may be older; ``promises`` checks each answer.
"""

import time
from dataclasses import dataclass, field

from tidemark.impl.client.client import Client
from tidemark.impl.cluster.config import ClusterConfig
from tidemark.impl.cluster.promises import Promises, Write
from tidemark.impl.timestamp import Timestamp, split
from tidemark.impl.values.consistency import ConsistencyLevel

A1, A2 = 1, 2
NAMES = {A1: "A1", A2: "A2"}
EXPECTED: tuple[tuple[int, ...], ...] = ((), (A1,), (A1, A2), (A2,))
"""The results of the four searches if none is older than the last write."""
EXACT = (ConsistencyLevel.STRONG, ConsistencyLevel.CUSTOMIZED)
AHEAD_NS = 250_000_000
"""How far the oracle may be ahead of the clocks after a quick restart: its window, and an update."""


@dataclass
class Story:
    """The searches at one level: the keys that each has found, and its errors."""

    level: ConsistencyLevel
    promises: Promises
    found: list[tuple[int, ...]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    @property
    def collection(self) -> str:
        """Each level has a collection of its own."""
        return f"C0_{self.level.value}"

    def line(self) -> str:
        """One line for people."""
        shown = [" ".join(NAMES[key] for key in keys) or "-" for keys in self.found]
        return f"{self.level.value:<12}" + "".join(f"{text:<8}" for text in shown) + "ok" * (not self.wrong)


def promises_of(config: ClusterConfig) -> Promises:
    """The promises of a cluster of this configuration."""
    return Promises(bound=split(config.graceful_ts).physical * 1_000_000 + AHEAD_NS)


async def play(
    writer: Client, reader: Client, level: ConsistencyLevel, *, config: ClusterConfig, shards: int = 1
) -> Story:
    """Play the example at one level. The clients speak to different proxies."""
    story = Story(level, promises_of(config))

    def note(ts: Timestamp, key: int, *, deletes: bool = False) -> Timestamp:
        story.promises.writes.append(Write(key, "client 1", deletes, ts, time.monotonic_ns()))
        return ts

    last = await writer.create(story.collection, shards=shards)
    await search(reader, story, EXPECTED[0], named=last)
    last = note(await writer.insert(story.collection, {A1: "a"}), A1)
    await search(reader, story, EXPECTED[1], named=last)
    last = note(await writer.insert(story.collection, {A2: "b"}), A2)
    await search(reader, story, EXPECTED[2], named=last)
    last = note(await writer.delete(story.collection, [A1]), A1, deletes=True)
    await search(reader, story, EXPECTED[3], named=last)
    return story


async def search(
    reader: Client,
    story: Story,
    expected: tuple[int, ...],
    *,
    named: Timestamp = 0,
    level: ConsistencyLevel | None = None,
) -> None:
    """One search of client 2, and the judgement of its answer."""
    level = story.level if level is None else level
    begun = time.monotonic_ns()
    result = await reader.query(story.collection, level=level, at_least=named)
    wrong = story.promises.broken(result, level=level, client="client 2", begun=begun, named=named)
    found = tuple(sorted(result.rows))
    if level in EXACT and found != expected:
        wrong.append(f"search {len(story.found) + 1} has found {found} and not {expected}")
    story.wrong.extend(f"{story.collection}: {sentence}" for sentence in wrong)
    story.found.append(found)
