"""The server of calls from other processes: lines in, lines out, clients that leave, and a stop."""

import asyncio
import gc
import json
import socket
import struct
from contextlib import asynccontextmanager, suppress

import pytest

from tidemark.impl.system.line_server import LineServer

LONG = 10_000_000
"""Bytes that no buffer of a socket takes."""


class Bench:
    """A server whose requests wait until the test opens their gate, and what was handled."""

    def __init__(self):
        self.calls = []
        self.gates = {}
        self.reported = []
        self.writers = []

    async def handle(self, method, given):
        self.calls.append((method, given))
        gate = self.gates[given["n"]] = asyncio.Event()
        try:
            await gate.wait()
        except asyncio.CancelledError:
            if method == "slow":
                await gate.wait()
            raise
        if method == "bad":
            raise KeyError("so it is")
        return {"found": "x" * LONG if method == "long" else given["n"]}

    async def until(self, condition):
        """Wait for what the sockets bring; ``run`` limits the time."""
        while not condition():  # noqa: ASYNC110  # the server has no event for it
            await asyncio.sleep(0.001)

    @asynccontextmanager
    async def running(self):
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _, context: self.reported.append(context.get("exception")))
        self.server = LineServer(self.handle)
        self.port = await self.server.start()
        try:
            yield self
        finally:
            for gate in self.gates.values():
                gate.set()
            async with asyncio.timeout(2):
                for writer in self.writers:
                    writer.close()
                    with suppress(OSError):
                        await writer.wait_closed()
                await self.server.stop()


class Client:
    def __init__(self, bench):
        self.bench = bench

    async def connected(self):
        count = len(self.bench.server._connections)
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.bench.port)
        self.bench.writers.append(self.writer)
        await self.bench.until(lambda: len(self.bench.server._connections) > count)
        return self

    async def sends(self, number, method="get"):
        line = {"id": number, "method": method, "arguments": {"n": number}}
        self.writer.write(json.dumps(line).encode() + b"\n")
        await self.bench.until(lambda: (method, {"n": number}) in self.bench.calls)

    async def hears(self, number, **found):
        assert json.loads(await self.reader.readline()) == {"id": number, **found}

    async def is_served(self, number):
        await self.sends(number)
        self.bench.gates[number].set()
        await self.hears(number, result={"found": number})

    def breaks(self):
        linger = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()


@pytest.fixture
def bench():
    return Bench().running()


async def test_each_request_is_answered_under_its_number_as_soon_as_it_is_handled(bench):
    assert bench.port > 1023
    one, two = await Client(bench).connected(), await Client(bench).connected()
    await one.sends(1)
    await one.sends(2)
    await one.sends(3, "bad")
    await two.is_served(4)
    bench.gates[2].set()
    await one.hears(2, result={"found": 2})
    bench.gates[3].set()
    await one.hears(3, kind="KeyError", error="'so it is'")
    assert len(bench.server._requests) == 1
    bench.gates[1].set()
    await one.hears(1, result={"found": 1})
    assert bench.calls == [("get", {"n": n}) if n != 3 else ("bad", {"n": 3}) for n in (1, 2, 3, 4)]
    assert len(bench.server._requests) == 0


async def test_a_request_is_under_way_until_its_client_has_read_the_answer(bench):
    one = await Client(bench).connected()
    await one.sends(1, "long")
    bench.gates[1].set()
    await asyncio.sleep(0.01)
    assert len(bench.server._requests) == 1
    read = 0
    while read < LONG:
        read += len(await one.reader.read(LONG))
    await bench.until(lambda: len(bench.server._requests) == 0)


@pytest.mark.parametrize("how", ["leaves", "breaks", "garbage"])
async def test_a_client_that_has_gone_ends_its_connection_only(bench, how):
    one, two = await Client(bench).connected(), await Client(bench).connected()
    await one.sends(1)
    if how == "leaves":
        one.writer.close()
    elif how == "breaks":
        one.breaks()
    else:
        one.writer.write(b"so it is\n")
        assert await one.reader.read() == b""
    await bench.until(lambda: len(bench.server._connections) == 1)
    bench.gates[1].set()
    await bench.until(lambda: len(bench.server._requests) == 0)
    await two.is_served(2)
    gc.collect(1)
    kinds = [type(error) for error in bench.reported]
    assert kinds == ([json.JSONDecodeError] if how == "garbage" else [])


async def test_a_server_that_stops_takes_and_answers_nothing(bench):
    clients = [await Client(bench).connected() for _ in range(3)]
    await clients[0].sends(1)
    await clients[1].sends(2, "slow")
    stopping = asyncio.create_task(bench.server.stop())
    await asyncio.sleep(0.01)
    with pytest.raises(OSError):
        await asyncio.open_connection("127.0.0.1", bench.port)
    clients[2].writer.write(b'{"id": 3, "method": "get", "arguments": {"n": 3}}\n')
    await asyncio.sleep(0.01)
    assert not stopping.done()
    bench.gates[1].set()
    bench.gates[2].set()
    await stopping
    assert (len(bench.server._requests), len(bench.server._connections)) == (0, 0)
    assert [await one.reader.read() for one in clients] == [b"", b"", b""]
    assert len(bench.calls) == 2
    assert bench.reported == []
