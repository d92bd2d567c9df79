"""A streaming node over edges in memory: how it opens its log, and what becomes of an append."""

import asyncio
import contextlib

import pytest

from tests.impl.parts import settle
from tests.impl.streaming.parts import CHANNEL, Edges
from tidemark.impl.errors import (
    MessageTooLargeError,
    RpcError,
    StoreError,
    TermClosedError,
    TransactionBusyError,
    TransactionOverError,
    UnknownOutcomeError,
)
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.node import StreamingNode
from tidemark.impl.streaming.ports import Summary
from tidemark.impl.streaming.term import OpenTerm
from tidemark.impl.streaming.transaction_messages import Part, TransactionMessage
from tidemark.impl.streaming.values import Append, Checkpoints, Record
from tidemark.impl.values.messages import Tick

STEPS = ["begin_term", "load", "places 6", "scan 6", "alloc 1"]
CONFIG = StreamingConfig(tick_seconds=50, persist_seconds=50, retry_seconds=0.25)


def append(key=1):
    return Append(CHANNEL, ((1, key, ""),))


@contextlib.asynccontextmanager
async def running(edges, *, opened=None):
    """A node whose log is open, unless something fails."""
    node = StreamingNode(ports=edges, config=CONFIG, opened=opened)
    task = asyncio.create_task(node.run())
    await settle()
    try:
        yield node, task
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert not node._callers


async def test_a_term_is_made_of_what_the_stores_and_the_log_have():
    edges = Edges(saved=Checkpoints(flusher=6, recovery=9), summary=Summary(9, {1: 4}, 9))
    edges.given = 60
    edges.stored = [8]
    begin = TransactionMessage(40, CHANNEL, Part.BEGIN, until=100)
    edges.found = [Record(7, 1, 0, begin)]
    opened: list[OpenTerm] = []
    async with running(edges, opened=opened.append) as (node, _):
        assert edges.calls[:5] == STEPS
        term = node.term
        assert opened == [term]
        assert (term.opening.term, term.acks.passed, term.recovery.rows) == (1, 70, {1: 4})
        assert (set(term.transactions.kept), term.flusher.reading) == ({40}, 6)
        assert edges.records[0].message == Tick(70)
        for _ in range(8):
            edges.add(append().content())
        await settle()
        assert [place for place, _ in edges.put_at] == [7, 9]
        assert not any(call.startswith("truncate") for call in edges.calls)
        await edges.clock.advance(50)
        assert "truncate 9" in edges.calls


@pytest.mark.parametrize("step", ["begin_term", "load", "places", "scan", "alloc"])
@pytest.mark.parametrize("error", [RpcError, StoreError])
async def test_after_a_failure_and_a_pause_the_log_is_opened_from_the_beginning(step, error):
    edges = Edges(saved=Checkpoints(flusher=6, recovery=9), **{step: error("no answer")})
    async with running(edges) as (node, _):
        [until] = [index for index, call in enumerate(STEPS) if call.startswith(step)]
        assert (edges.calls, node.term) == (STEPS[: until + 1], None)
        with pytest.raises(TermClosedError, match="try again"):
            await node.append(append())
        await edges.clock.advance(0.24)
        assert edges.calls == STEPS[: until + 1]
        await edges.clock.advance(0.02)
        assert edges.calls[until + 1 :][:5] == STEPS
        assert node.term.opening.term == edges.term


async def test_a_fault_of_the_oracle_ends_the_node():
    async with running(Edges(alloc=ZeroDivisionError())) as (_, task):
        with pytest.raises(ZeroDivisionError):
            await task


async def test_a_term_that_is_closed_is_stopped_and_the_log_is_opened_again():
    edges = Edges()
    opened: list[OpenTerm] = []
    async with running(edges, opened=opened.append) as (node, task):
        node.term.close()
        with pytest.raises(TermClosedError, match="the log is not open"):
            await node.append(append())
        await settle()
        first, second = opened
        assert node.term is second
        assert (second.opening.term, second.acks.passed) == (2, 20)
        assert not first.supervisor._tasks
        assert await node.append(append()) == len(edges.records)
        assert edges.records[-1].since == second.opening.end == 1
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        assert second.closed.is_set()
        assert not second.supervisor._tasks


@pytest.mark.parametrize(
    ("failure", "heard", "of_the_next"),
    [
        (MessageTooLargeError("400 bytes"), MessageTooLargeError, None),
        (StoreError("broken"), UnknownOutcomeError, TermClosedError),
    ],
)
async def test_a_caller_hears_the_error_of_its_append(failure, heard, of_the_next):
    edges = Edges(message=failure)
    async with running(edges) as (node, _):
        found = await asyncio.gather(node.append(append(1)), node.append(append(2)), return_exceptions=True)
        assert isinstance(found[0], heard)
        assert found[1] == len(edges.records) if of_the_next is None else isinstance(found[1], of_the_next)


async def test_an_append_whose_caller_leaves_is_done_all_the_same():
    edges = Edges()
    async with running(edges) as (node, _):
        edges.held = asyncio.Event()
        left = asyncio.create_task(node.append(one := append()), name="a caller")
        await settle()
        assert "append of a caller" in {task.get_name() for task in asyncio.all_tasks()}
        left.cancel()
        await settle()
        assert (left.cancelled(), one.place) == (True, 0)
        assert list(node.term.acks.waiting) == [one.ts]
        edges.held.set()
        await settle()
        assert one.place == len(edges.records)
        assert not node.term.acks.waiting


async def test_a_node_that_ends_stops_its_appends_and_their_callers_do_not_know_the_outcome():
    edges = Edges()
    async with running(edges) as (node, task):
        edges.held = asyncio.Event()
        waits = asyncio.create_task(node.append(append()))
        await settle()
        task.cancel()
        with pytest.raises(UnknownOutcomeError, match="may be in the log"):
            await waits
        edges.held.set()
        await settle()
        assert "message" in edges.calls
        assert all(isinstance(record.message, Tick) for record in edges.records)


@pytest.mark.parametrize("ends", [False, True])
async def test_a_fault_of_a_term_is_raised_and_stops_the_appends_too(ends):
    edges = Edges()
    async with running(edges) as (node, task):
        edges.held = asyncio.Event()
        waits = asyncio.create_task(node.append(append()))
        await settle()
        edges.fails["put"] = ZeroDivisionError()
        edges.add(append().content())
        await node.term.closed.wait()
        if ends:
            task.cancel()
        with pytest.raises(UnknownOutcomeError):
            await waits
        with pytest.raises(ZeroDivisionError):
            await task


async def test_a_transaction_knows_what_became_of_each_of_its_appends():
    edges = Edges()
    async with running(edges) as (node, _):
        begins = [Append(CHANNEL, part=Part.BEGIN, lasts=lasts) for lasts in (1, 1000)]
        for one in begins:
            await node.append(one)
        short, long = (node.term.transactions.kept[one.ts] for one in begins)
        assert [short.begun, long.begun] == [2, 3]

        def part(kind, number=1):
            return Append(CHANNEL, ((1, 1, ""),), part=kind, transaction=begins[number].ts)

        for name, failure in (("alloc", RpcError("no answer")), ("message", MessageTooLargeError("400"))):
            edges.fails[name] = failure
            body = part(Part.BODY)
            with pytest.raises(type(failure)):
                await node.append(body)
            assert (body.stage.value, long.under_way) == ("new" if name == "alloc" else "refused", set())
        with pytest.raises(TransactionOverError):
            await node.append(late := part(Part.COMMIT, 0))
        assert (late.stage.value, short.ends) == ("refused", False)
        assert late.ts not in {record.message.ts for record in edges.records}
        edges.held = asyncio.Event()
        waits = asyncio.create_task(node.append(part(Part.BODY)))
        await settle()
        with pytest.raises(TransactionBusyError):
            await node.append(part(Part.COMMIT))
        edges.held.set()
        await waits
        await node.append(commit := part(Part.COMMIT))
        assert (long.under_way, long.commit, commit.stage.value) == (set(), commit.ts, "acknowledged")
        assert not node.term.acks.waiting
        for name, stage in (("alloc", "new"), ("message", "entered")):  # a fault tells nothing
            edges.fails[name] = ZeroDivisionError()
            with pytest.raises(ZeroDivisionError):
                await node.append(lost := part(Part.BODY, 0))
            assert lost.stage.value == stage
            assert lost in short.under_way


@pytest.mark.parametrize("kind", ["tick", "message"])
@pytest.mark.parametrize("failure", [RpcError("no answer"), StoreError("broken")])
async def test_an_append_of_unknown_outcome_closes_the_term(kind, failure):
    edges = Edges(**{kind: failure})
    opened: list[OpenTerm] = []
    async with running(edges, opened=opened.append) as (node, _):
        if kind == "message":
            with pytest.raises(UnknownOutcomeError, match=f"message 20 may be in the log: {failure}"):
                await node.append(append())
            await settle()
        first, second = opened
        assert (first.acks.is_open, first.closed.is_set()) == (False, True)
        assert (second.acks.is_open, second.closed.is_set()) == (True, False)
