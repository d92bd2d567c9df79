"""A root coordinator on a clock that is wound by hand: each call at its edges, each answer, and when."""

import asyncio
import itertools
import re
from collections.abc import Awaitable, Sequence

import pytest

from tests.impl.parts import Scene
from tidemark.impl.errors import RpcError, UnknownSessionError, WatchCompactedError
from tidemark.impl.rootcoord.config import RootCoordConfig
from tidemark.impl.rootcoord.ddl_source import DdlSource
from tidemark.impl.rootcoord.ports import RootCoordPorts, SessionEvent
from tidemark.impl.rootcoord.root_coord import RootCoord
from tidemark.impl.runtime import NoPreemption
from tidemark.impl.values.report import TimeTickReport


class World(Scene):
    """The oracle, the sessions and the logs.

    ``live``: the proxies with a session at first; ``ticked``: the last ticks of both channels; ``events``:
    seconds and a proxy that comes (+1) or goes (-1); =1=2: the store has forgotten its changes, and these
    live.
    """

    def __init__(self, script: str) -> None:
        super().__init__(script)
        self._given = 100
        self._live = [int(source) for source in self.script.get("live", ())]
        # A store counts other changes, too: revisions rise, and not by one.
        self._events = zip(itertools.count(12, 2), self.script.get("events", ()), strict=False)
        self._revision = 10

    async def alloc(self, count: int) -> int:
        task = asyncio.current_task()
        assert task is not None
        assert count == 1
        name = {"ddl ticks": "minimum", "ddl dummies": "dummy"}.get(task.get_name(), task.get_name())
        await self.ask(name)
        self._given += 1
        return self._given

    async def take_over(self) -> tuple[Sequence[int], int]:
        await self.ask("list")
        return self._live, self._revision

    async def next_event(self, after: int) -> SessionEvent:
        self.note(f"watch {after}")
        revision, event = next(self._events, (0, "99:"))
        seconds, _, change = event.partition(":")
        await self.sleep(float(seconds) - self.hand.now)
        if change.startswith("="):
            self._live, self._revision = [int(source) for source in change[1:].split("=")], revision
            raise WatchCompactedError(change)
        if change == "broken":
            raise RuntimeError(change)
        return SessionEvent(revision, abs(int(change)), int(change) > 0)

    async def fence(self, source: int) -> None:
        await self.ask("fence", f" {source}")

    async def send_tick(self, channel: str, ts: int) -> None:
        await self.ask(channel, f" {ts}")

    async def is_newest(self) -> bool:
        return True

    async def last_tick(self, channel: str) -> int:
        self.note(f"last {channel}")
        return int(dict(zip("xy", self.script.get("ticked", "00"), strict=True))[channel])


async def played(what: str) -> str:
    """Run a coordinator for 9.5 s with its reports and DDL work, perhaps stop it; return what was seen."""
    scene = World(what)
    script = scene.script
    config = RootCoordConfig(ddl_tick_seconds=3.0, dummy_seconds=2.0, round_capacity=1)
    ddl = DdlSource(oracle=scene, preemption=NoPreemption())
    ports = RootCoordPorts(ddl=ddl, sessions=scene, ticks=scene, clock=scene)
    coordinator = RootCoord(channels=("x", "y"), ports=ports, config=config)

    async def told(words: str, call: Awaitable[object]) -> None:
        try:
            answer = await call
        except (RpcError, UnknownSessionError, RuntimeError) as failure:
            answer = type(failure).__name__
        scene.note(f"{words}: {answer or 'ok'}")

    async def report(given: str) -> None:
        seconds, source, *values = given.split(":")
        await scene.sleep(float(seconds))
        x, y, default = (*map(int, values), 0)[:3]
        channels = tuple((name, ts) for name, ts in (("x", x), ("y", y)) if ts)
        sent = TimeTickReport(int(source), channels, default)
        await told(f"report of {source}", coordinator.update_channel_time_tick(sent))

    async def work(given: str) -> None:
        seconds, kind = given.split(":")
        await scene.sleep(float(seconds))
        task = asyncio.current_task()
        assert task is not None
        task.set_name(kind)
        part = ddl.scheduler if kind == "ddl" else ddl.lock_manager

        async def execute(ts: int) -> None:
            await scene.ask("append", f" {ts}")

        await told(kind, part.run_task(execute))

    async def stop(given: str) -> None:
        await scene.sleep(float(given))
        await coordinator.stop()

    works = [coordinator.start(), *map(stop, script.get("stop", ()))]
    works += [*map(report, script.get("reports", ())), *map(work, script.get("work", ()))]
    seen = await scene.played(9.5, *works)
    failure, dropped = coordinator.supervisor.failure, coordinator.sync.rounds.dropped
    known = {source: entry is not None for source, entry in coordinator.sync.entries.items()}
    return f"{seen}; {known}; dropped {dropped}; {type(failure).__name__ if failure else 'alive'}"


BEGUN = "0 last x; 0 last y; 0 list; 0 watch 10;"
CASES = """
two proxies: live=1,2 ticked=50,7 reports=1:1:60:7,1.5:2:70:90,4:1:61:6,4.5:2:60:6,4.7:3:1:1
    begun; 1 report of 1: ok; 1.5 report of 2: ok; 2 dummy; 3 minimum; 3 x 60; 4 report of 1: ok; 4
    dummy; 4.5 report of 2: ok; 4.7 report of 3: UnknownSessionError; 6 minimum; 6 dummy; 8 dummy; 9
    minimum; {-1: True, 1: False, 2: False}; dropped 0; alive
a tick fails: live=1 x=drop,ok reports=1:1:60:60,4:1:55:61,7:1:60:62
    begun; 1 report of 1: ok; 2 dummy; 3 minimum; 3 x 60; 3 y 60; 4 report of 1: ok; 4 dummy; 6 minimum;
    6 dummy; 6 y 61; 7 report of 1: ok; 8 dummy; 9 minimum; 9 x 60; 9 y 62; {-1: False, 1: False};
    dropped 0; alive
no room, and a late tick that fails: x=6.25:drop,ok
    begun; 2 dummy; 3 minimum; 3 x 101; 3 y 101; 4 dummy; 6 minimum; 6 dummy; 8 dummy; 9 minimum; 9.25 x
    103; 9.25 y 103; {-1: False}; dropped 1; alive
the later report counts: live=1 reports=1:1:60:61,2:1:70:71 stop=3.8
    begun; 1 report of 1: ok; 2 report of 1: ok; 2 dummy; 3 minimum; 3 x 70; 3 y 71; {-1: False, 1:
    False}; dropped 0; alive
a tick breaks: y=broken stop=3.5
    begun; 2 dummy; 3 minimum; 3 x 101; 3 y 101; {-1: False}; dropped 0; RuntimeError
a proxy comes and goes: events=1:+1,5:-1 reports=0.5:1:60:60,2.5:1:60:60,5.5:1:70:70
    begun; 0.5 report of 1: UnknownSessionError; 1 watch 12; 2 dummy; 2.5 report of 1: ok; 3 minimum; 3
    x 60; 3 y 60; 4 dummy; 5 fence 1; 5 watch 14; 5.5 report of 1: UnknownSessionError; 6 minimum; 6
    dummy; 6 x 103; 6 y 103; 8 dummy; 9 minimum; 9 x 106; 9 y 106; {-1: False}; dropped 0; alive
a fence is late: live=1 events=1:-1,5:+2 fence=1.5:ok reports=2:1:60:60,7:2:80:80
    begun; 1 fence 1; 2 dummy; 2.5 watch 12; 2.5 report of 1: UnknownSessionError; 3 minimum; 3 x 101; 3
    y 101; 4 dummy; 5 watch 14; 6 minimum; 6 dummy; 7 report of 2: ok; 8 dummy; 9 minimum; {-1: True, 2:
    False}; dropped 0; alive
the one that is awaited goes: live=1,2 events=5:-1 reports=3.5:2:60:60
    begun; 2 dummy; 3 minimum; 3.5 report of 2: ok; 4 dummy; 5 fence 1; 5 watch 12; 5 x 60; 5 y 60; 6
    minimum; 6 dummy; 8 dummy; 9 minimum; {-1: True, 2: False}; dropped 0; alive
listed again: live=1,2 events=3.6:=2,3.8:+4 reports=3.4:2:60:60 stop=3.9
    begun; 2 dummy; 3 minimum; 3.4 report of 2: ok; 3.6 list; 3.6 watch 12; 3.6 x 60; 3.6 y 60; 3.8
    watch 14; {-1: False, 2: False, 4: False}; dropped 0; alive
the watch breaks: events=1:broken stop=3.8
    begun; 2 dummy; 3 minimum; 3 x 101; 3 y 101; {-1: False}; dropped 0; RuntimeError
the oracle is silent: dummy=drop,ok minimum=ok,drop,ok
    begun; 2 dummy; 3 minimum; 4 dummy; 6 minimum; 6 dummy; 6 x 101; 6 y 101; 8 dummy; 9 minimum; 9 x
    104; 9 y 104; {-1: False}; dropped 0; alive
no minimum, a late start: minimum=drop,ok list=0.5:ok
    0 last x; 0 last y; 0 list; 0.5 watch 10; 2.5 dummy; 3.5 minimum; 4.5 dummy; 6.5 minimum; 6.5 dummy;
    6.5 x 102; 6.5 y 102; 8.5 dummy; 9.5 minimum; 9.5 x 105; 9.5 y 105; {-1: False}; dropped 0; alive
the minimum breaks: minimum=broken stop=3.5
    begun; 2 dummy; 3 minimum; {-1: False}; dropped 0; RuntimeError
a dummy breaks: dummy=broken stop=2.5
    begun; 2 dummy; {-1: False}; dropped 0; RuntimeError
a job behind the minimum: minimum=1.5:ok,ok work=3.5:job,3.5:ddl stop=6.5
    begun; 2 dummy; 3 minimum; 3.5 ddl; 3.5 append 102; 3.5 ddl: 102; 4 dummy; 4.5 job; 4.5 append 105;
    4.5 job: 105; 4.5 x 103; 4.5 y 103; 6 dummy; {-1: False}; dropped 0; alive
task and job fail: work=2.5:ddl,2.6:job append=drop,1.5:drop stop=6.5
    begun; 2 dummy; 2.5 ddl; 2.5 append 102; 2.5 ddl: RpcError; 2.6 job; 2.6 append 103; 4 dummy; 4.1
    job: RpcError; 6 minimum; 6 dummy; 6 x 104; 6 y 104; {-1: False}; dropped 0; alive
an old minimum: live=1 dummy=ok,drop reports=1:1:60:60,4:1:70:70 stop=6.8
    begun; 1 report of 1: ok; 2 dummy; 3 minimum; 3 x 60; 3 y 60; 4 report of 1: ok; 4 dummy; 6 minimum;
    6 dummy; 6 x 70; 6 y 70; {-1: False, 1: False}; dropped 0; alive
"""


@pytest.mark.parametrize("case", re.split(r"\n(?=\S)", CASES.strip()))
async def test_a_coordinator_does_what_it_must_when_it_must(case):
    what, _, wanted = case.partition("\n")
    assert (await played(what)).replace(BEGUN, "begun;") == " ".join(wanted.split())
