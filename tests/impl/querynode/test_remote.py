"""A query node in another process: what it is asked, what its caller gets, and which connection is used."""

import asyncio
import json
from typing import Any

import pytest

from tests.impl.parts import settle
from tidemark.impl.errors import NotServableError, ReplicaClosedError, RpcTimeoutError
from tidemark.impl.querynode.remote import RemoteReplica, answers_of
from tidemark.impl.querynode.values import ShardAnswer
from tidemark.impl.system.connection import ConnectionLostError, RequestRefusedError
from tidemark.impl.types import Row

ANSWER = ShardAnswer(40, (Row(12, 3, 5, "a"), Row(30, 4, 9, "b")))
ASKED: dict[str, Any] = {"guarantee": 7, "mvcc": None, "keys": None, "deadline": 9.5}
ENDED = ConnectionLostError("the connection has ended")
AT = "query node at port 7001: "


class Process:
    """A node, the connections to it, and a replica that asks it. ``answer``: an error is raised.

    may_answer, may_connect: until then nothing is answered, or connected.
    """

    def __init__(self, answer=ANSWER):
        self.answer, self.asked, self.made = answer, [], []
        self.may_answer, self.may_connect = asyncio.Event(), asyncio.Event()
        self.may_answer.set()
        self.may_connect.set()
        self.replica = RemoteReplica(7001, connect=self.connect)

    async def query(self, channel, **given):
        self.asked.append((channel, given))
        await self.may_answer.wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def connect(self, port):
        await self.may_connect.wait()
        assert port == 7001
        self.made.append(Wire(self))
        return self.made[-1]

    def begin(self):
        return asyncio.create_task(self.replica.query("a", **ASKED))


class Wire:
    """A connection without a socket: calls and answers are JSON."""

    def __init__(self, node):
        self.handle, self.ended = answers_of(node), False

    async def call(self, method, **asked):
        try:
            return json.loads(json.dumps(await self.handle(method, json.loads(json.dumps(asked)))))
        except ConnectionLostError:
            raise
        except Exception as failure:
            raise RequestRefusedError(type(failure).__name__, str(failure)) from failure

    async def close(self):
        self.ended = True


@pytest.mark.parametrize("more", [{}, {"mvcc": 33, "keys": (5, 9), "deadline": 2.5}, {"keys": ()}])
async def test_a_node_is_asked_what_its_caller_asked(more):
    node = Process()
    assert await node.replica.query("a", **ASKED | more) == ANSWER
    assert node.asked == [("a", ASKED | more)]
    node.answer = ShardAnswer(41, ())
    assert await node.replica.query("b", **ASKED | more) == node.answer
    assert node.replica.answered == 2
    with pytest.raises(RequestRefusedError, match="ValueError: method 'stop' is not known; query is"):
        await node.made[0].call("stop", channel="a")


@pytest.mark.parametrize(
    ("raised", "error", "text"),
    [
        (RpcTimeoutError("late"), RpcTimeoutError, "RpcTimeoutError: late"),
        (NotServableError("busy"), NotServableError, f"{AT}NotServableError: busy"),
        (ReplicaClosedError("gone"), NotServableError, f"{AT}ReplicaClosedError: gone"),
        (KeyError("broken"), NotServableError, f"{AT}KeyError: 'broken'"),
        (ENDED, NotServableError, f"{AT}the connection has ended"),
    ],
)
async def test_another_replica_may_be_asked_unless_the_node_was_late(raised, error, text):
    node = Process(raised)
    with pytest.raises(error) as caught:
        await node.replica.query("a", **ASKED)
    assert (type(caught.value), str(caught.value), node.replica.answered) == (error, text, 0)


@pytest.mark.parametrize("stands_still", ["may_answer", "may_connect"])
async def test_the_deadline_holds_at_the_caller(stands_still):
    node = Process()
    getattr(node, stands_still).clear()
    with pytest.raises(RpcTimeoutError, match=f"{AT}no answer in 0.01 s"):
        await asyncio.wait_for(node.replica.query("a", **ASKED | {"deadline": 0.01}), 1)
    getattr(node, stands_still).set()
    assert await node.replica.query("a", **ASKED) == ANSWER
    assert (len(node.made), node.replica.answered) == (1, 1)


async def test_a_fault_of_the_program_is_no_refusal():
    async def connect(port):
        raise KeyError(port)

    with pytest.raises(KeyError):
        await RemoteReplica(7001, connect=connect).query("a", **ASKED)


async def test_reads_share_a_connection_until_it_ends():
    node = Process()
    node.may_connect.clear()
    first, second = node.begin(), node.begin()
    await settle()
    node.may_connect.set()
    assert await first == await second == ANSWER
    assert len(node.made) == 1
    node.made[0].ended = True
    assert await node.begin() == await node.begin() == ANSWER
    assert len(node.made) == 2
    for _ in range(2):
        await node.replica.close()
    assert node.made[1].ended
    assert await node.begin() == ANSWER
    assert len(node.made) == 3


async def test_a_close_waits_for_the_connection_that_is_being_made():
    node = Process()
    await node.replica.close()  # there is none
    node.may_connect.clear()
    reads = node.begin()
    await settle()
    closes = asyncio.create_task(node.replica.close())
    await settle()
    node.may_connect.set()
    await asyncio.gather(reads, closes)
    assert [wire.ended for wire in node.made] == [True]
