"""Two oracle processes share a store; the leader is killed. No timestamp is repeated or out of order."""

import asyncio
import itertools
from contextlib import ExitStack, suppress
from dataclasses import dataclass

import pytest

from tests.impl.cluster.parts import play
from tidemark.impl.cluster.child import Child, start
from tidemark.impl.storage.etcd_server import ABSENT, EtcdServer, find_etcd
from tidemark.impl.system.connection import ConnectionLostError, RequestRefusedError, TcpConnection

NAMES = ("a", "b")
CLIENTS, COUNT, CALLS = 2, 10, 50
"""How many clients ask for how many timestamps at once, and how many calls make a leader's term."""


@dataclass(frozen=True)
class Call:
    """An answered call. ``begun`` and ``ended`` are places in the order of all beginnings and ends."""

    server: str
    begun: int
    ended: int
    first: int
    last: int


async def ask(servers, calls, order):
    """Ask one server again and again; the other one when there is no answer."""
    for name, server in itertools.cycle(servers.items()):
        with suppress(ConnectionLostError, RequestRefusedError):
            connection = await TcpConnection.to(server.port)
            try:
                while True:
                    begun = next(order)
                    found = await connection.call("alloc", count=COUNT)
                    calls.append(Call(name, begun, next(order), found["first"], found["last"]))
            finally:
                await connection.close()
        await asyncio.sleep(0.01)


async def answered(calls, by):
    """Wait for so many calls that one of these servers has answered."""
    while sum(call.server in by for call in calls) < CALLS:  # noqa: ASYNC110  # of another process
        await asyncio.sleep(0.01)


def doubled(calls):
    """How many batches begin before the one before them in number ends."""
    batches = sorted((call.first, call.last) for call in calls)
    return sum(later[0] <= earlier[1] for earlier, later in itertools.pairwise(batches))


def out_of_order(calls):
    """How many calls have got a timestamp below one that was answered before they began."""
    return sum(any(call.first <= other.last for other in calls if other.ended < call.begun) for call in calls)


@pytest.mark.parametrize(
    "store", ["sqlite", pytest.param("etcd", marks=pytest.mark.skipif(find_etcd() is None, reason=ABSENT))]
)
def test_a_killed_leader_is_followed_and_nothing_is_handed_out_twice(tmp_path, store):
    calls: list[Call] = []

    async def scenario():
        etcd = [] if store == "sqlite" else ["--etcd", stack.enter_context(EtcdServer(tmp_path)).endpoint]
        options = ("tidemark.impl.cluster", "oracle", "--dir", str(tmp_path), *etcd)
        servers: dict[str, Child] = {name: await start(*options, "--name", name) for name in NAMES}
        order = itertools.count()
        asking = [asyncio.create_task(ask(servers, calls, order)) for _ in range(CLIENTS)]
        try:
            await answered(calls, NAMES)
            leader = calls[-1].server
            await servers[leader].kill()
            await answered(calls, set(NAMES) - {leader})
        finally:
            for task in asking:
                task.cancel()
            await asyncio.gather(*asking, return_exceptions=True)
            for server in servers.values():
                await server.kill()

    with ExitStack() as stack:
        play(scenario)
    assert (doubled(calls), out_of_order(calls)) == (0, 0)


GOOD = [Call("a", 0, 1, 1, 10), Call("a", 2, 4, 21, 30), Call("b", 3, 5, 11, 20), Call("b", 6, 7, 31, 40)]


@pytest.mark.parametrize(
    ("more", "counts"),
    [
        ([], (0, 0)),
        ([Call("b", 8, 9, 40, 49)], (1, 1)),
        ([Call("b", 8, 9, 25, 26)], (1, 1)),
        ([Call("b", 8, 9, 0, 0)], (0, 1)),
    ],
)
def test_calls_that_overlap_may_be_answered_in_any_order_and_no_others(more, counts):
    assert (doubled([*GOOD, *more]), out_of_order([*GOOD, *more])) == counts
