"""The flush of a channel: what coordinator and node are asked, one question after the other."""

import asyncio
from types import SimpleNamespace
from unittest.mock import patch

import pytest

from tidemark.impl.datacoord.flush_service import FlushService, FlushServiceConfig
from tidemark.impl.errors import RpcError

YES, NO, FAIL = True, False, RpcError("the node does not answer")
CASES = {
    "one poll": ((), [NO, YES], [None], [], [1], "request confirm tell sleep confirm"),
    "the node fails": ((4,), [NO, NO, YES], [FAIL, None], [YES], [1], ("request confirm"
        " tell sleep confirm tell seal sleep confirm")),
    "the node refuses": ((4,), [NO] * 4 + [YES], [None] * 3, [NO, FAIL, YES], [1], ("request confirm"
        " tell seal sleep confirm tell seal sleep confirm tell seal sleep confirm sleep confirm")),
    "the node comes again": ((), [NO] * 4 + [YES], [None] * 2, [], [1, 1, 2, 2], ("request confirm"
        " tell sleep confirm sleep confirm tell sleep confirm sleep confirm")),
}  # fmt: skip
"""Segments; answers to confirmations, calls of the node, seals; the node's term at each poll; the calls."""


class Edges:
    """Coordinator, node and clock: they note each call, and answer as a case says."""

    def __init__(self, confirms, tells, seals, terms, requests=None):
        self.calls, self.requests = [], requests or {}
        self.channels = list(self.requests)
        self.answers = {"confirm": list(confirms), "tell": list(tells), "seal": list(seals)}
        self.terms = list(terms)

    def _answer(self, what, *given):
        self.calls.append((what, *given))
        answer = self.answers[what].pop(0) if what in self.answers else None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def channel(self, name):
        term = self.terms.pop(0) if len(self.terms) > 1 else self.terms[0]
        return SimpleNamespace(term=term, flush_requests=self.requests.get(name, ()))

    async def request_flush(self, channel, ts, segments):
        self._answer("request", channel, ts, tuple(segments))

    async def confirm_flush(self, channel, ts, segments):
        return self._answer("confirm", channel, ts, tuple(segments))

    async def flush_channel(self, channel, ts, *, deadline):
        self._answer("tell", channel, ts, deadline)

    async def seal_segments(self, channel, segments, *, expires, deadline):
        return self._answer("seal", channel, tuple(segments), expires, deadline)

    async def sleep(self, seconds):
        self._answer("sleep", seconds)


def service(edges):
    config = FlushServiceConfig(poll_seconds=0.25, rpc_deadline=3.0)
    return FlushService(coordinator=edges, node=edges, clock=edges, config=config)


@pytest.mark.parametrize("case", CASES)
async def test_a_flush_is_recorded_and_told_to_each_incarnation_until_it_is_confirmed(case):
    segments, *answers, calls = CASES[case]
    edges = Edges(*answers)
    await service(edges).flush("a", 9, segments)
    given = {
        "request": ("a", 9, segments),
        "confirm": ("a", 9, segments),
        "tell": ("a", 9, 3.0),
        "seal": ("a", segments, 9, 3.0),
        "sleep": (0.25,),
    }
    assert edges.calls == [(what, *given[what]) for what in calls.split()]


async def test_all_recorded_requests_are_resumed_side_by_side():
    request = SimpleNamespace
    requests = {"b": [request(flush_ts=7, segments=(3,)), request(flush_ts=8, segments=())],
                "a": [request(flush_ts=9, segments=())], "c": []}  # fmt: skip
    edges = Edges([], [], [], [1], requests)
    together, asked = asyncio.Barrier(3), []

    async def confirm(*given):
        asked.append(given)
        await together.wait()
        return True

    with patch.object(edges, "confirm_flush", confirm):
        await service(edges).resume()
    assert sorted(asked) == [("a", 9, ()), ("b", 7, (3,)), ("b", 8, ())]
    assert edges.calls == []
    await service(Edges([], [], [], [1])).resume()
