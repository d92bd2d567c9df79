"""The dispatchers of a channel on a clock: who is served when and by whom while targets are slow and go."""

import asyncio

import pytest

from tests.impl.parts import VirtualLoop, run
from tests.impl.read_parts import ListLog, insert, tick
from tidemark.impl.errors import TargetGoneError
from tidemark.impl.stream.config import DispatcherConfig
from tidemark.impl.stream.manager import DispatcherManager
from tidemark.impl.stream.packs import StreamPosition

OFTEN = 100
"""No story passes a point of preemption more often."""


class Story:
    """One manager, whose targets have room for one pack and 3 s to make room for the next one."""

    def __init__(self):
        self.log = ListLog()
        self.manager = DispatcherManager(
            log=self.log, channel="log", preemption=self, config=DispatcherConfig(capacity=1)
        )
        self.targets, self.turns, self.seen = {}, {}, {}
        self.passed = 0

    async def point(self, name):
        """The manager passes one only when it has something to do."""
        self.passed += 1
        assert self.passed < OFTEN
        assert name != "dispatch.manage" or self.manager.next_step() is not None

    async def play(self, events):
        """``events``: of each its time, its kind and what it is about, with commas between them. Returns for
        each target its packs, as end and time, and who serves it, in order.
        """
        self.manager.start()
        looking = asyncio.create_task(self.look())
        now = asyncio.get_running_loop().time
        for event in events.split(","):
            at, kind, *given = event.split()
            if float(at) > now():
                await asyncio.sleep(float(at) - now())
            await getattr(self, kind)(*given)
        await asyncio.sleep(40 - now())
        serving = len(self.manager.deputies) + (self.manager.main is not None)
        assert len(self.manager.tasks) == serving
        told = {name: " ".join(seen) for name, seen in self.seen.items()}
        looking.cancel()
        await self.manager.stop()
        return told

    async def put(self, *messages):
        self.log.append(*(insert(1, 1) if one == "row" else tick(int(one)) for one in messages))

    async def come(self, name, place=0, ts=0, *, takes=OFTEN):
        self.seen[name] = []
        self.turns[name] = asyncio.Semaphore(takes)
        self.targets[name] = self.manager.register(f"log_{name}", StreamPosition(int(place), int(ts)))
        self.targets[name].reads = asyncio.create_task(self.read(name))

    async def slow(self, name):
        await self.come(name, takes=0)

    async def take(self, name):
        self.turns[name].release()

    async def take_at_once(self, name):
        self.note(name, f"{self.targets[name].packs.popleft().end}@once")

    async def leave(self, name):
        self.manager.deregister(f"log_{name}")

    async def stop(self):
        await self.manager.stop()

    async def read(self, name):
        try:
            while True:
                await self.turns[name].acquire()
                pack = await self.targets[name].next_pack()
                self.note(name, f"{pack.end}@{asyncio.get_running_loop().time():g}")
        except TargetGoneError:
            self.note(name, "told")

    async def look(self):
        """Who serves whom, a moment after each event."""
        await asyncio.sleep(0.1)
        while True:
            main = self.manager.main.targets if self.manager.main is not None else ()
            places = {"main": main, "deputy": self.manager.deputies, "nobody": self.manager.waiting}
            for name in self.targets:
                found = [place for place, served in places.items() if f"log_{name}" in served]
                self.note(name, "+".join(found) or "gone", again=False)
            await asyncio.sleep(0.25)

    def note(self, name, what, *, again=True):
        served = [one for one in self.seen[name] if "@" not in one and one != "told"]
        if again or served[-1:] != [what]:
            self.seen[name].append(what)


OVER = "4.9999999995"
"""When the time of a slow target ends: both timers fire at once, for the loop's clock is no finer."""
SLOW_A = "0 slow a, 0 come b, 1 put 1, 2 put 2"


@pytest.mark.parametrize(
    ("events", "seen"),
    [
        # The second of two is split off after 3 s, catches up, and is merged.
        (
            "0 come a, 0 slow b, 1 put 1, 2 put 2, 10 put 3, 20 take b, 21 take b, 22 take b",
            {"a": "main 1@1 2@2 3@10", "b": "main deputy 1@20 2@21 main 3@22"},
        ),
        # The first of two: the other one waits until it is split off, or goes.
        (SLOW_A, {"a": "main deputy", "b": "main 1@1 2@5"}),
        (f"{SLOW_A}, 3 leave a", {"a": "main gone", "b": "main 1@1 2@3"}),
        # It goes, or takes a pack, just when its time is over.
        (
            f"{SLOW_A.replace('1 put', '0 come c, 1 put')}, {OVER} leave a",
            {"a": "main gone", "b": "main 1@1 2@5", "c": "main 1@1 2@5"},
        ),
        (f"{SLOW_A}, {OVER} take_at_once a, 6 put 3", {"a": "main 1@once deputy", "b": "main 1@1 2@5 3@9"}),
        # One comes later, ahead of the main dispatcher.
        (
            "0 come a, 0 come b 4 2, 0.5 leave a, 1 come c 2 1, 2 put row 1",
            {"a": "main told gone", "b": "main", "c": "deputy main"},
        ),
        # The main dispatcher ends with its last target, and another one begins for the next.
        (
            f"{SLOW_A}, 6 leave b, 7 come c 1 1, 8 put 3, 9 take a, 10 take a, 12 put 4, 13 leave c",
            {
                "a": "main deputy main 1@9 2@10",
                "b": "main 1@1 2@5 told gone",
                "c": "2@7 main 3@9 4@12 told gone",
            },
        ),
        # The end of all.
        (f"{SLOW_A}, 6 stop, 8 take a", {"a": "main deputy gone told", "b": "main 1@1 2@5 told gone"}),
    ],
)
def test_each_target_is_served_in_its_time(events, seen):
    async def scenario():
        assert await Story().play(events) == seen

    run(scenario(), loop=VirtualLoop)
