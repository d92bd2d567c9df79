"""Servers on a clock that is wound by hand: each call of the store, each answer to a client, and when."""

import re

import pytest

from tests.impl.parts import MANY, Scene
from tidemark.impl.errors import ImplementationError
from tidemark.impl.timestamp import NANOSECONDS as MS
from tidemark.impl.tso.config import OracleConfig
from tidemark.impl.tso.oracle import Published
from tidemark.impl.tso.ports import NEVER_SAVED, Leadership, OraclePorts
from tidemark.impl.tso.server import OracleServer

START = 1_700_000_000_000 * MS
CONFIG = OracleConfig(
    lease=12.0,
    lease_margin=2.0,
    renew_pause=4.0,
    update_pause=7.0,
    campaign_pause=3.0,
    unready_pause=0.25,
    overflow_pause=0.125,
    tries=4,
)
"""Pauses that tell each other apart."""


class World(Scene):
    """A store and both clocks.

    ``base``: how far the saved window lies above the wall clock, which stands still but for ``jumps`` before
    its readings; both in milliseconds.
    """

    def __init__(self, script: str) -> None:
        super().__init__(script)
        self._wall = START
        self._readings = 0
        self._jumps = map(int, ["0", *self.script.get("jumps", ())])
        self._saved = START + int(self.script["base"][0]) * MS if "base" in self.script else NEVER_SAVED

    def monotonic(self) -> float:
        """Where a steady clock begins means nothing."""
        return self.hand.now - 1000

    def now(self) -> int:
        self._readings += 1
        if self._readings > MANY:
            raise RuntimeError(f"the clock is read more than {MANY} times")
        self._wall += next(self._jumps, 0) * MS
        return self._wall

    async def point(self, name: str) -> None:
        """It lasts if the script says so."""
        if name.replace(".", "_") in self.script:
            await self.ask(name.replace(".", "_"))

    async def campaign(self, server: str, *, lease: float) -> Leadership | None:
        return (
            None if await self.ask("campaign") == "taken" else Leadership(server=server, term=1, lease=lease)
        )

    async def wait_vacant(self) -> None:
        await self.ask("wait")

    async def load(self) -> int:
        await self.ask("load")
        return self._saved

    async def save(self, end: int, leadership: Leadership) -> None:
        assert leadership.term == 1
        await self.ask("save", f" {(end - START) // MS}")

    async def renew(self, leadership: Leadership) -> None:
        assert leadership.term == 1
        await self.ask("renew")

    async def resign(self, leadership: Leadership) -> None:
        assert leadership.term == 1
        await self.ask("resign")

    async def close(self) -> None:
        """Nothing is open."""


async def played(what: str) -> str:
    """Run a server for 36 s, ask it, perhaps stop it; return what was seen."""
    scene = World(what)

    def make(physical: int) -> Published:
        scene.note(f"publishes {(physical - START) // MS}")
        return Published(physical)

    server = OracleServer(
        name="a",
        ports=OraclePorts(store=scene, wall=scene, steady=scene, clock=scene, preemption=scene),
        config=CONFIG,
        make=make,
    )

    def left() -> str:
        return ", and publishes" if server.oracle and server.oracle.published else ""

    async def serve() -> None:
        try:
            await server.run()
        except (RuntimeError, ImplementationError) as failure:
            scene.note(f"ends: {failure}")
        else:
            scene.note(f"ends: {server.stopped}{left()}")

    async def ask(given: str) -> None:
        seconds, count = map(float, given.split(":"))
        await scene.sleep(seconds)
        try:
            batch = await server.allocate(int(count))
        except (ValueError, ImplementationError) as failure:
            scene.note(type(failure).__name__)
        else:
            physical = (batch.last >> 18) - START // MS
            scene.note(f"{physical}: {batch.first & 0x3FFFF} to {batch.last & 0x3FFFF}")

    async def order(given: str) -> None:
        await scene.sleep(float(given))
        server.stop("an order")
        scene.note(f"stopped{left()}")

    asks = map(ask, scene.script.get("asks", ()))
    return await scene.played(36, serve(), *asks, *map(order, scene.script.get("stop", ())))


BEGUN = "0 campaign; 0 load; 0 save 3000; 0 publishes 0;"
LATE = "the lease was not renewed in time"
CASES = """
renewed, not renewed, and over: renew=ok,fail,ok,ok,fail asks=0.5:1,11:3,21:1,25.5:1,26:1
    begun; 0.5 0: 1 to 1; 4 renew; 8 renew; 11 0: 2 to 4; 12 renew; 16 renew; 20 renew; 21 0: 5 to 5; 24
    renew; 25.5 0: 6 to 6; 26 NotLeaderError; 26 resign; 26 ends: late
renewed late, the term counts from the request: renew=5.5:ok,fail asks=10:1,13.5:1,14:1
    begun; 4 renew; 10 0: 1 to 1; 13.5 0: 2 to 2; 13.5 renew; 14 NotLeaderError; 14 resign; 14 ends:
    late
an error of no kind that a store has: renew=broken asks=5:1
    begun; 4 renew; 4 ends: renew: broken; 5 NotLeaderError
the key is refused: campaign=fail,taken,1.5:taken,ok wait=fail,1.5:ok renew=lost asks=0:1,9.5:1
    0 campaign; 0 NotLeaderError; 3 campaign; 3 wait; 6 campaign; 7.5 wait; 9 campaign; 9 load; 9 save
    3000; 9 publishes 0; 9.5 0: 1 to 1; 13 renew; 13 resign; 13 ends: renew: lost
the campaign breaks: campaign=broken asks=1:1
    0 campaign; 0 ends: campaign: broken; 1 NotLeaderError
the wait for the key breaks: campaign=taken wait=broken
    0 campaign; 0 wait; 0 ends: wait: broken
the load is refused, and the key stays: load=lost resign=fail
    0 campaign; 0 load; 0 resign; 0 ends: load: lost
the load ends after the lease, and nobody has looked: load=14.5:ok renew=ok,fail
    0 campaign; 0 load; 4 renew; 8 renew; 12 renew; 14.5 resign; 14.5 ends: late
the counter passes its half in an update: update_decide=0.5:ok asks=6.5:131072,7.25:1,7.75:1 renew=ok,lost
    begun; 4 renew; 6.5 0: 1 to 131072; 7 update_decide; 7.25 0: 131073 to 131073; 7.5 publishes 1; 7.75
    1: 1 to 1; 8 renew; 8 resign; 8 ends: renew: lost
the first save fails: save=fail resign=broken
    0 campaign; 0 load; 0 save 3000; 0 resign; 0 ends: resign: broken
the first save outlasts the lease: campaign=1.5:ok save=8.5:ok renew=fail resign=1.5:ok asks=9.5:1
    0 campaign; 1.5 load; 1.5 save 3000; 5.5 renew; 9.5 renew; 10 NotLeaderError; 10 resign; 11.5 ends: late
a saved window at the clock: base=0 renew=lost asks=1:1
    0 campaign; 0 load; 0 save 3001; 0 publishes 1; 1 1: 1 to 1; 4 renew; 4 resign; 4 ends: renew: lost
each boundary: jumps=1,1,2997,1,2999 renew=ok,ok,ok,ok,ok,ok,ok,lost asks=7.5:1,14.5:1,21.5:1,28.5:1
    begun; 4 renew; 7.5 0: 1 to 1; 8 renew; 12 renew; 14 publishes 2; 14.5 2: 1 to 1; 16 renew; 20
    renew; 21 save 5999; 21 publishes 2999; 21.5 2999: 1 to 1; 24 renew; 28 renew; 28.5 2999: 2 to 2; 32
    renew; 32 resign; 32 ends: renew: lost
a save fails, and the next one is refused: jumps=5000,0,5000 save=ok,fail,ok,lost asks=7.5:1,14.5:1
    begun; 4 renew; 7 save 8000; 7.5 0: 1 to 1; 8 renew; 12 renew; 14 save 8000; 14 publishes 5000; 14.5
    5000: 1 to 1; 16 renew; 20 renew; 21 save 13000; 21 resign; 21 ends: save: lost
a counter past its half near the end of the window: jumps=2998 asks=8:131073,15:1 renew=ok,ok,ok,lost
    begun; 4 renew; 7 publishes 2998; 8 2998: 1 to 131073; 8 renew; 12 renew; 14 save 5999; 14 publishes
    2999; 15 2999: 1 to 1; 16 renew; 16 resign; 16 ends: renew: lost
counts: asks=1:0,2:-1,3:1,4.5:131071,8:1,15:131072,16:131072,22:5 renew=ok,ok,ok,ok,ok,lost
    begun; 1 ValueError; 2 ValueError; 3 0: 1 to 1; 4 renew; 4.5 0: 2 to 131072; 8 0: 131073 to 131073;
    8 renew; 12 renew; 14 publishes 1; 15 1: 1 to 131072; 16 renew; 16.5 NoTimestampError; 20 renew; 21
    publishes 2; 22 2: 1 to 5; 24 renew; 24 resign; 24 ends: renew: lost
an order while a save is under way: stop=7.5 jumps=5000 save=ok,1.5:ok asks=8:1
    begun; 4 renew; 7 save 8000; 7.5 stopped; 8 NotLeaderError; 8 renew; 8.5 resign; 8.5 ends: an order
an order in an update: stop=7.5 update_decide=1.5:ok asks=8:1
    begun; 4 renew; 7 update_decide; 7.5 stopped; 8 NotLeaderError; 8 renew; 10 resign; 10 ends: an
    order
an order during the campaign: campaign=1.5:ok stop=1 asks=0.5:1,2:1
    0 campaign; 0.5 NotLeaderError; 1 stopped; 1.5 resign; 1.5 ends: an order; 2 NotLeaderError
"""


@pytest.mark.parametrize("case", re.split(r"\n(?=\S)", CASES.strip()))
async def test_a_server_does_what_it_must_when_it_must(case):
    what, _, wanted = case.partition("\n")
    seen = await played(what)
    assert seen.replace(BEGUN, "begun;").replace(LATE, "late") == " ".join(wanted.split())
