"""The load of clients on the oracle, and what is served while it does not answer."""

import asyncio
from collections import Counter
from typing import Any

from tests.impl.cluster.parts import client, running, until
from tidemark.impl.values.consistency import ConsistencyLevel

STRONG, EVENTUALLY = ConsistencyLevel.STRONG, ConsistencyLevel.EVENTUALLY
BEFORE, ROWS = {1: "a"}, {1: "a", 2: "b"}


class Watched:
    """Counts who asks an oracle, by the first word of the asking task; holds the answers back on demand."""

    def __init__(self, oracle):
        self.asked: Counter[str] = Counter()
        self.answers, self._alloc = asyncio.Event(), oracle.alloc
        self.answers.set()
        oracle.alloc = self.alloc

    async def alloc(self, count):
        caller: Any = asyncio.current_task()
        self.asked[caller.get_name().split()[0]] += 1
        await self.answers.wait()
        return await self._alloc(count)

    @property
    def for_clients(self):
        """Calls before a task enters its queue, and those of a task that is carried out."""
        return self.asked["enter"], self.asked["produce"]


async def test_of_the_reads_only_a_strong_one_asks_the_oracle_and_others_do_not_wait_for_it(tmp_path):
    async with running(tmp_path) as cluster:
        user = client(cluster, 0)
        await user.create("c")
        await user.insert("c", BEFORE)
        oracle = Watched(cluster.foundation.oracle)
        assert (await user.query("c", level=STRONG)).rows == BEFORE
        assert oracle.for_clients == (0, 1)
        for level in ConsistencyLevel:
            if level is not STRONG:
                await user.query("c", level=level)
        assert oracle.for_clients == (0, 1)

        oracle.answers.clear()
        write = asyncio.create_task(user.insert("c", {2: "b"}))
        await until(lambda: oracle.for_clients == (1, 1))
        strong = [asyncio.create_task(user.query("c", level=STRONG)) for _ in range(3)]
        await until(lambda: oracle.for_clients == (1, 4))
        for level in (EVENTUALLY, ConsistencyLevel.BOUNDED):
            assert (await user.query("c", level=level)).rows == BEFORE
        assert not any(task.done() for task in (write, *strong))
        oracle.answers.set()
        await write
        for found in await asyncio.gather(*strong):
            assert BEFORE.items() <= found.rows.items() <= ROWS.items()
        assert (await user.query("c", level=STRONG)).rows == ROWS
        assert oracle.for_clients == (1, 5)
