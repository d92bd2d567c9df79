"""A host keeps one proxy running: sessions, renewals, callers, and what ends it."""

import asyncio
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from tests.impl.parts import HandClock, settle
from tidemark.impl.errors import SessionEndedError
from tidemark.impl.proxy.host import ProxyHost
from tidemark.impl.runtime import Supervisor

LEASE = 12


class World:
    """A host, its sessions 1, 2, ..., and its proxies, which note what happens to them.

    renewals: what each renewal comes to: None, or an error.
    """

    def __init__(self, *renewals, serves=True):
        self.log, self.renewals, self.serves = [], list(renewals), serves
        self.clock, self.proxies = HandClock(), []
        self.may_register, self.may_renew, self.may_stop = (asyncio.Event() for _ in range(3))
        for event in (self.may_register, self.may_renew, self.may_stop):
            event.set()
        self.host = ProxyHost(name="p", sessions=self, clock=self.clock, make=self.make, lease=LEASE)
        self.running = asyncio.create_task(self.host.run())

    async def register(self, name, *, lease):
        self.log.append(f"register {name} for {lease}")
        await self.may_register.wait()
        return len(self.proxies) + 1

    async def renew(self, source):
        self.log.append(f"renew {source}")
        await asyncio.sleep(0)
        try:
            await self.may_renew.wait()
        except asyncio.CancelledError:
            await self.may_renew.wait()  # it takes its time
            raise
        if self.renewals and (failure := self.renewals.pop(0)) is not None:
            raise failure

    async def end(self, source):
        self.log.append(f"end {source}")

    def make(self, source):
        proxy = SimpleNamespace(source=source, serving=asyncio.Event(), supervisor=Supervisor())
        proxy.start = lambda: self.log.append(f"start {source}")
        proxy.stop = lambda: self.stop(proxy)
        if self.serves:
            proxy.serving.set()
        self.proxies.append(proxy)
        return proxy

    async def stop(self, proxy):
        self.log.append(f"stop {proxy.source}")
        proxy.serving.set()
        await self.may_stop.wait()

    def caller(self):
        return asyncio.create_task(self.host.serving())

    def take(self):
        """What has happened since the last call."""
        found, self.log = self.log, []
        return found

    async def close(self):
        self.may_stop.set()
        self.may_renew.set()
        self.running.cancel()
        await asyncio.gather(self.running, return_exceptions=True)


@asynccontextmanager
async def at_work(*renewals, **options):
    world = World(*renewals, **options)
    await settle()
    try:
        yield world
    finally:
        await world.close()


BEGINS = ["register p for 12", "start 1"]


async def test_a_session_is_renewed_each_quarter_of_its_lease():
    async with at_work() as world:
        assert world.take() == BEGINS
        assert (await world.caller()).source == 1
        for _ in range(3):
            await world.clock.advance(2.9)
            assert world.take() == []
            await world.clock.advance(0.1)
            assert world.take() == ["renew 1"]
        await world.close()
        assert world.take() == ["stop 1"]


async def test_another_session_begins_when_the_proxy_of_the_last_one_has_stopped():
    async with at_work(SessionEndedError("late")) as world:
        world.may_stop.clear()
        world.may_register.clear()
        await world.clock.advance(3)
        assert world.take() == [*BEGINS, "renew 1", "stop 1"]
        caller = world.caller()
        await settle()
        assert (world.host.proxy, caller.done()) == (None, False)
        world.may_stop.set()
        await settle()
        assert not caller.done()
        world.may_register.set()
        assert (await caller).source == 2
        assert world.take() == ["register p for 12", "start 2"]
        await world.clock.advance(3)
        assert world.take() == ["renew 2"]


async def test_callers_wait_for_a_proxy_that_serves():
    async with at_work(SessionEndedError("late"), serves=False) as world:
        caller = world.caller()
        await settle()
        assert not caller.done()
        await world.clock.advance(3)  # the first proxy ends, which wakes its callers
        assert not caller.done()
        world.proxies[1].serving.set()
        assert (await caller).source == 2


@pytest.mark.parametrize("part", ["session store", "proxy"])
async def test_a_failure_stops_the_proxy_and_ends_the_host(part):
    async with at_work(RuntimeError("a defect")) as world:
        world.may_stop.clear()
        if part == "proxy":
            world.proxies[0].supervisor.spawn(lambda: world.renew(0), "fails")
        await world.clock.advance(3)
        assert world.take()[-1] == "stop 1"
        assert (world.running.done(), world.host.proxy) == (False, None)
        world.may_stop.set()
        with pytest.raises(RuntimeError, match="a defect"):
            await world.running
        await world.clock.advance(LEASE)
        assert world.take() == []


async def test_a_proxy_is_stopped_though_the_host_is_cancelled_while_a_renewal_is_given_up():
    async with at_work() as world:
        world.may_renew.clear()
        await world.clock.advance(3)
        world.running.cancel()
        await settle()
        assert world.take() == [*BEGINS, "renew 1"]
        world.running.cancel()
        await settle()
        assert world.take() == ["stop 1"]
