"""The edges of a streaming node in memory: calls are noted, fail when told, and appends may be held up."""

import asyncio
from types import SimpleNamespace

from tests.impl.parts import HandClock
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.streaming.ports import Summary
from tidemark.impl.streaming.values import Checkpoints, Opening, Record
from tidemark.impl.values.messages import Tick

CHANNEL = "dml_0_1v0"


class Edges(SimpleNamespace):
    """Oracle, log, object storage, checkpoints and clock of one node: the fields of ``StreamingPorts``.

    Attributes:
        calls: names of the calls, with an argument if it matters.
        fails: by name the error of the next call; of an append, "tick" or "message".
        held: an append of a message waits for it.
        found: what ``scan`` finds; ``stored``: what ``places`` finds.
    """

    def __init__(self, *, saved=None, summary=None, **fails):
        super().__init__(oracle=self, log=self, messages=self, checkpoints=self, preemption=NoPreemption())
        self.clock, self.fails, self.calls, self.held = HandClock(), fails, [], None
        self.saved, self.summary = saved or Checkpoints(), summary or Summary()
        self.found, self.stored, self.records, self.put_at = [], [], [], []
        self.given = self.term = 0
        self._arrived = asyncio.Event()

    async def _call(self, name, argument=None):
        self.calls.append(name if argument is None else f"{name} {argument}")
        await asyncio.sleep(0)
        if failure := self.fails.pop(name, None):
            raise failure

    async def alloc(self, count):
        await self._call("alloc", count)
        self.given += 10 * count
        return self.given

    async def begin_term(self):
        await self._call("begin_term")
        self.term += 1
        return Opening(self.term, len(self.records))

    async def append(self, term, since, message):
        name = "tick" if isinstance(message, Tick) else "message"
        await self._call(name)
        if self.held is not None and name == "message":
            await self.held.wait()
        return self.add(message, term, since)

    def add(self, message, term=1, since=0):
        self.records.append(Record(len(self.records) + 1, term, since, message))
        self._arrived.set()
        return len(self.records)

    async def read(self, place):
        await self._call("read", place)
        while len(self.records) < place:
            self._arrived.clear()
            await self._arrived.wait()
        return self.records[place - 1 :]

    async def scan(self, above):
        await self._call("scan", above)
        return self.found

    async def truncate(self, upto):
        await self._call("truncate", upto)

    async def put(self, place, messages):
        await self._call("put", place)
        self.put_at.append((place, list(messages)))

    async def places(self, above):
        await self._call("places", above)
        return self.stored

    async def load(self):
        await self._call("load")
        return self.saved, self.summary

    async def save_flusher(self, upto):
        await self._call("save_flusher", upto)

    async def save_recovery(self, summary):
        await self._call("save_recovery", summary.start)
        self.summary = summary
