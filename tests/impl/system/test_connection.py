"""Calls over one connection: answers in any order, refusals, callers that leave, and each end of it."""

import asyncio
import json
from typing import cast

import pytest

from tests.impl.parts import settle
from tidemark.impl.system.connection import ConnectionLostError, RequestRefusedError, TcpConnection
from tidemark.impl.system.line_server import LineServer


class Wire:
    """A connection whose other side is the test. It is its own writer; ``broken``: what a drain raises."""

    def __init__(self):
        self.lines, self.closed, self.broken = [], False, None
        self.reader = asyncio.StreamReader()
        writer = cast("asyncio.StreamWriter", self)
        self.connection = TcpConnection(self.reader, writer, {"proxy": 2, "level": "all"})

    def write(self, data):
        assert data.endswith(b"\n")
        self.lines.append(json.loads(data))

    async def drain(self):
        if self.broken:
            raise self.broken

    def close(self):
        self.closed = True

    async def call(self, method, **arguments):
        task = asyncio.create_task(self.connection.call(method, **arguments))
        await settle()
        return task

    async def answer(self, *lines):
        self.reader.feed_data("".join(json.dumps(line) + "\n" for line in lines).encode())
        await settle()


async def test_a_call_gets_the_line_with_its_number():
    wire = Wire()
    first, second = await wire.call("read", level="own", n=1), await wire.call("write")
    assert wire.lines == [
        {"id": 1, "method": "read", "arguments": {"proxy": 2, "level": "own", "n": 1}},
        {"id": 2, "method": "write", "arguments": {"proxy": 2, "level": "all"}},
    ]
    await wire.answer({"id": 2, "result": "two"}, {"id": 2, "result": "again"}, {"id": 9, "result": 9})
    assert (first.done(), second.result()) == (False, "two")
    await wire.answer({"id": 1, "result": None})
    assert first.done()
    assert first.result() is None
    assert wire.connection._open == {}
    assert not wire.connection.ended


async def test_a_refusal_has_its_kind_and_its_text():
    wire = Wire()
    refused = await wire.call("read")
    await wire.answer({"id": 1, "kind": "RpcError", "error": "so it is"})
    assert isinstance(refused.exception(), RequestRefusedError)
    assert (refused.exception().kind, str(refused.exception())) == ("RpcError", "RpcError: so it is")


@pytest.mark.parametrize("end", ["eof", "reset", "close"])
async def test_the_end_of_a_connection_ends_its_calls_and_each_later_one(end):
    wire = Wire()
    answered, leaves, *waits = [await wire.call("read") for _ in range(4)]
    await wire.answer({"id": 1, "result": 1})
    leaves.cancel()
    if end == "eof":
        wire.reader.feed_eof()
    elif end == "reset":
        wire.reader.set_exception(ConnectionResetError("reset"))
    else:
        await wire.connection.close()
        assert wire.connection.ended
    await settle()
    assert answered.result() == 1
    found = [str(call.exception()) for call in waits if call.done()]
    assert found == ["the connection has ended; connect again"] * 2
    assert (wire.connection.ended, wire.closed) == (True, True)
    with pytest.raises(ConnectionLostError, match="later: the connection has ended; connect again"):
        await wire.connection.call("later")
    await wire.connection.close()


async def test_a_connection_that_is_closed_at_once_is_closed():
    wire = Wire()
    await wire.connection.close()
    assert (wire.connection.ended, wire.closed) == (True, True)


async def test_a_line_that_cannot_be_sent_is_an_error_of_its_call_alone():
    wire = Wire()
    first = await wire.call("read")
    wire.broken = BrokenPipeError("the pipe is broken")
    second = await wire.call("write")
    wire.broken = RuntimeError("a fault")
    third = await wire.call("write")
    assert [line["id"] for line in wire.lines] == [1, 2, 3]
    assert (second.done(), third.done()) == (True, True)
    assert isinstance(second.exception(), ConnectionLostError)
    assert str(second.exception()) == "write: the pipe is broken; connect again"
    assert isinstance(third.exception(), RuntimeError)
    await wire.answer({"id": 1, "result": 1})
    assert first.result() == 1
    assert wire.connection._open == {}


async def test_a_port_is_connected_to_or_nothing_listens_there():
    async def handler(method, given):
        return {"method": method, **given}

    server = LineServer(handler)
    port = await server.start()
    connection = await TcpConnection.to(port, proxy=2)
    assert await connection.call("read", n=1) == {"method": "read", "proxy": 2, "n": 1}
    await connection.close()
    await server.stop()
    with pytest.raises(ConnectionLostError, match=f"nothing listens at port {port}: "):
        await TcpConnection.to(port)
    with pytest.raises(OverflowError):
        await TcpConnection.to(1 << 20)
