"""The parts of a term by themselves: acknowledgements, ticks, transactions, the flusher, both checkpoints."""

import asyncio
from types import SimpleNamespace

import pytest

from tests.impl.parts import settle
from tests.impl.streaming.parts import CHANNEL, Edges
from tidemark.impl.errors import (
    RpcError,
    StoreError,
    TermClosedError,
    TransactionBusyError,
    TransactionOverError,
)
from tidemark.impl.streaming.ack_manager import AckManager
from tidemark.impl.streaming.assembly import Assembled, Assembly
from tidemark.impl.streaming.config import StreamingConfig
from tidemark.impl.streaming.flusher import Flusher
from tidemark.impl.streaming.ports import Summary
from tidemark.impl.streaming.reader import RecordLog, reader
from tidemark.impl.streaming.recovery_storage import RecoveryStorage
from tidemark.impl.streaming.time_tick import TimeTickOperator
from tidemark.impl.streaming.transaction_messages import Part, TransactionMessage, at
from tidemark.impl.streaming.transactions import Transactions
from tidemark.impl.streaming.values import Append, AppendStage, Checkpoints, Opening, Record
from tidemark.impl.types import Row
from tidemark.impl.values.messages import DeleteMessage, InsertMessage, Tick


def manager(edges, *, end=0, found=()):
    edges.given = 100
    return AckManager(
        opening=Opening(3, end),
        first=100,
        oracle=edges,
        preemption=edges.preemption,
        transactions=Transactions(dict(found)),
    )


async def test_a_tick_is_the_acknowledged_prefix_and_the_rest_lies_behind_its_place():
    acks = manager(Edges(), end=6)
    one, two, three = (Append(CHANNEL) for _ in range(3))
    for append in (one, two, three):
        await acks.admit(append)
    assert [(a.ts, a.term, a.since) for a in (one, two, three)] == [(110, 3, 6), (120, 3, 6), (130, 3, 6)]
    acks.acknowledge(two, 7)
    assert (two.place, two.stage) == (7, AppendStage.ACKNOWLEDGED)
    assert await acks.collect() is None
    acks.acknowledge(one, 8)
    assert (await acks.collect(), acks.confirmed) == (120, 6)  # 130 was given when they ended
    acks.refuse(three)
    assert (three.place, three.stage) == (0, AppendStage.REFUSED)
    assert (await acks.collect(), acks.confirmed) == (160, 8)
    assert acks.is_quiet
    acks.written(160, 9)
    assert (await acks.collect(), acks.confirmed, acks.ended) == (170, 9, [])


async def test_a_tick_knows_places_of_what_had_ended_when_nothing_later_was_given():
    acks = manager(Edges())
    assert (await acks.collect(), acks.confirmed) == (110, 0)  # no tick is in the log
    one, two, three = (Append(CHANNEL) for _ in range(3))
    await acks.admit(one)
    acks.acknowledge(one, 7)
    await acks.admit(two)
    assert (await acks.collect(), acks.confirmed) == (120, 7)
    acks = manager(Edges())
    for append in (one, two, three):
        await acks.admit(append)
    acks.acknowledge(one, 1)
    assert (await acks.collect(), acks.confirmed) == (110, 0)


async def test_a_tick_is_drawn_when_no_admission_is_under_way():
    edges, gate = Edges(), asyncio.Event()

    async def point(name):
        if name == "ack.enter":
            await gate.wait()

    edges.preemption = SimpleNamespace(point=point)
    acks = manager(edges)
    append = Append(CHANNEL)
    tasks = [asyncio.create_task(acks.admit(append)), asyncio.create_task(acks.collect())]
    await settle()
    assert (edges.calls, acks.drawn, acks.is_quiet) == (["alloc 1"], append, False)
    gate.set()
    assert await asyncio.gather(*tasks) == [None, None]
    assert (acks.drawn, list(acks.waiting)) == (None, [110])


async def test_an_ended_term_notes_nothing():
    acks = manager(Edges())
    late, lost, new = (Append(CHANNEL) for _ in range(3))
    await acks.admit(late)
    await acks.admit(lost)
    acks.is_open = False
    acks.acknowledge(late, 4)
    acks.refuse(lost)
    assert (late.place, late.stage, lost.stage) == (4, AppendStage.ENTERED, AppendStage.ENTERED)
    for call in (acks.admit(new), acks.collect()):
        with pytest.raises(TermClosedError, match="term 3 of the log has ended"):
            await call
    assert new.stage is AppendStage.NEW


@pytest.mark.parametrize(
    ("open_at", "confirmed"), [({}, 12), ({50: Assembled(5, 400)}, 4), ({50: Assembled(20, 400)}, 12)]
)
async def test_an_open_transaction_holds_the_place_of_a_tick_back(open_at, confirmed):
    acks = manager(Edges(), end=3, found=open_at)
    append = Append(CHANNEL)
    await acks.admit(append)
    acks.acknowledge(append, 12)
    await acks.collect()
    assert acks.confirmed == confirmed


async def test_ticks_of_a_quiet_channel_are_held_back_for_so_many_rounds():
    edges = Edges()
    acks, ticks = manager(edges), []

    async def write(start, tick):
        ticks.append((start, tick.ts))
        return len(ticks)

    config = StreamingConfig(tick_seconds=1, idle_rounds=2)
    operator = TimeTickOperator(acks=acks, write=write, clock=edges.clock, config=config)
    task = asyncio.create_task(operator.run())
    await edges.clock.advance(0)
    assert (ticks, operator.to_write) == ([(0, 100)], 0)  # at once
    seen = []
    for number in range(8):
        if number == 4:
            append = Append(CHANNEL)
            await acks.admit(append)
            acks.acknowledge(append, 9)
        await edges.clock.advance(1)
        seen.append((len(ticks), operator.held_back))
    assert [start for start, _ in ticks] == [0, 1, 9, 9]
    assert seen == [(1, 1), (1, 2), (2, 0), (2, 1), (3, 0), (3, 1), (3, 2), (4, 0)]
    task.cancel()


async def test_a_round_without_an_answer_of_the_oracle_is_tried_again_in_the_next_one():
    edges = Edges()
    acks, ticks = manager(edges), []

    async def write(start, tick):
        ticks.append(tick.ts)
        return 1

    config = StreamingConfig(tick_seconds=1, idle_rounds=0)
    task = asyncio.create_task(
        TimeTickOperator(acks=acks, write=write, clock=edges.clock, config=config).run()
    )
    edges.fails["alloc"] = RpcError("no answer")
    await edges.clock.advance(1)
    assert ticks == [100]
    await edges.clock.advance(1)
    assert ticks == [100, 110]
    acks.is_open = False
    await edges.clock.advance(1)
    with pytest.raises(TermClosedError):
        await task


def ledger(*calls, found=()):
    """What each call raises, by the first letters of the error; and the transactions after all of them."""
    transactions, appends, heard = Transactions(dict(found)), {}, []
    for how, name, *rest in calls:
        try:
            if how == "admit":
                part, number, *lasts = rest
                appends[name] = Append(CHANNEL, part=part, transaction=number, lasts=sum(lasts))
                transactions.admit(appends[name])
            elif how == "stamped":
                appends[name].ts = rest[0]
                transactions.stamped(appends[name])
            elif how == "tick":
                transactions.ticked(name)
            else:
                getattr(transactions, how)(appends[name], *rest)
        except (TransactionOverError, TransactionBusyError) as refused:
            heard.append((name, type(refused).__name__[11:-5]))
    return transactions, heard


def opened(name, ts, lasts, place):
    return [("admit", name, Part.BEGIN, 0, lasts), ("stamped", name, ts), ("landed", name, place)]


def test_a_transaction_takes_bodies_and_one_end_while_it_is_open():
    transactions, heard = ledger(
        *opened("b", 10, 50, 3),
        *opened("c", 20, 50, 4),
        ("admit", "m", Part.BODY, 10),
        ("admit", "n", Part.BODY, 10),
        ("admit", "busy", Part.COMMIT, 10),
        ("admit", "of c", Part.COMMIT, 20),
        ("failed", "of c"),
        ("failed", "n"),
        ("admit", "busy too", Part.ROLLBACK, 10),
        ("landed", "m", 5),
        ("admit", "end", Part.COMMIT, 10),
        ("admit", "late", Part.BODY, 10),
        ("failed", "end"),
        ("admit", "o", Part.BODY, 10),
        ("landed", "o", 6),
        ("admit", "end", Part.COMMIT, 10),
        ("stamped", "end", 60),
        ("landed", "end", 7),
        ("admit", "r", Part.ROLLBACK, 20),
        ("landed", "r", 8),
        ("admit", "over", Part.BODY, 20),
        ("admit", "unknown", Part.COMMIT, 99),
        ("admit", "plain", None, 0),
        ("landed", "plain", 9),
    )
    assert heard == [
        ("busy", "Busy"),
        ("busy too", "Busy"),
        ("late", "Over"),
        ("over", "Over"),
        ("unknown", "Over"),
    ]
    assert {number: one.commit for number, one in transactions.kept.items()} == {10: 60}


def test_a_begin_counts_once_it_is_in_the_log():
    transactions, heard = ledger(
        ("admit", "b", Part.BEGIN, 0, 20),
        ("stamped", "b", 10),
        ("admit", "early", Part.BODY, 10),
        ("admit", "c", Part.BEGIN, 0, 20),
        ("stamped", "c", 12),
        ("failed", "c"),
    )
    assert heard == [("early", "Over")]
    assert (list(transactions.kept), transactions.earliest(0)) == ([10], None)
    transactions.landed(Append(CHANNEL, part=Part.BEGIN, ts=10), 3)
    assert transactions.earliest(0) == 3


@pytest.mark.parametrize(
    ("ts", "tick", "heard"), [(50, 49, []), (51, 49, [("e", "Over")]), (50, 50, [("e", "Over")])]
)
def test_a_commit_is_in_time_or_refused(ts, tick, heard):
    calls = (*opened("b", 30, 20, 5), ("admit", "e", Part.COMMIT, 30), ("tick", tick), ("stamped", "e", ts))
    assert ledger(*calls)[1] == heard


def test_a_tick_ends_what_it_reaches_and_readers_of_it_begin_before_the_rest():
    found = {4: Assembled(2, 40), 6: Assembled(1, 25)}
    transactions, _ = ledger(
        ("admit", "c", Part.COMMIT, 4), ("stamped", "c", 33), ("landed", "c", 8), ("tick", 24), found=found
    )
    assert [transactions.earliest(tick) for tick in (24, 25, 32, 33)] == [1, 2, 2, None]
    kept = []
    for tick in (25, 32, 33):
        transactions.ticked(tick)
        kept.append(list(transactions.kept))
    assert kept == [[4], [4], []]
    for part in Part:  # a term forgets what is over, and its appends may still end
        transactions.failed(Append(CHANNEL, part=part, transaction=4))
        transactions.landed(Append(CHANNEL, part=part, transaction=4), 9)
    assert not transactions.kept


@pytest.mark.parametrize(
    ("last", "kept"),
    [
        (TransactionMessage(3, CHANNEL, Part.ROLLBACK, 2), []),
        (TransactionMessage(3, CHANNEL, Part.COMMIT, 2), [2]),
        (Tick(9), [2]),
        (Tick(10), []),
    ],
)
def test_a_reader_forgets_a_transaction_that_is_rolled_back_or_over(last, kept):
    assembly = Assembly()
    for place, message in enumerate((TransactionMessage(2, CHANNEL, Part.BEGIN, until=10), last), 1):
        assembly.take(Record(place, 1, 0, message))
    assert list(assembly.kept) == kept


def insert(place, *segments):
    return InsertMessage(place, CHANNEL, tuple(Row(place, segment, place) for segment in segments))


async def storage(edges):
    recovery = RecoveryStorage(store=edges, log=edges)
    await recovery.load()
    return recovery


async def test_each_place_is_counted_once_and_the_log_is_cut_behind_both_checkpoints():
    edges = Edges(saved=Checkpoints(flusher=4, recovery=6), summary=Summary(8, {7: 3}, 6))
    recovery = await storage(edges)
    assert (recovery.start(), recovery.observed) == (4, 8)
    for place in (7, 8, 9):
        recovery.observe(place, [insert(place, 7, 8)])
    recovery.observe(10, [DeleteMessage(10, CHANNEL, 9, (1, 2))])
    await recovery.persist()
    await recovery.persist()  # nothing is new
    for upto in (4, 9, 9):
        await recovery.move_flusher(upto)
    await recovery.persist()
    cuts = ["save_recovery 10", "truncate 4", "truncate 4", "save_flusher 9", "truncate 9"]
    assert edges.calls == ["load", *cuts]
    assert edges.summary == Summary(10, {7: 4, 8: 1, 9: 2}, 10)


async def test_records_go_on_before_an_open_transaction_and_nothing_is_cut_before_both_are_saved():
    edges = Edges()
    recovery = await storage(edges)
    recovery.observe(5, [insert(5, 7)], 3)
    await recovery.persist()
    assert (recovery.start(), edges.calls[1:]) == (0, ["save_recovery 2"])
    edges.fails["save_flusher"] = StoreError("no answer")
    with pytest.raises(StoreError):
        await recovery.move_flusher(5)
    assert recovery.start() == 0
    recovery.observe(6, [], 6)
    recovery.observe(7, [], 9)
    assert recovery.needed() == 7


@pytest.mark.parametrize("order", [1, -1])
async def test_both_checkpoints_may_be_saved_at_once(order):
    edges = Edges()
    recovery = await storage(edges)
    recovery.observe(5, [insert(5, 7)])
    await asyncio.gather(*[recovery.persist(), recovery.move_flusher(4)][::order])
    assert recovery.saved == Checkpoints(flusher=4, recovery=5)


def flusher(edges, recovery, *, stored=()):
    return Flusher(
        log=edges,
        store=edges,
        recovery=recovery,
        stored=stored,
        clock=edges.clock,
        config=StreamingConfig(persist_seconds=1, retry_seconds=0.1),
        assembly=Assembly(),
    )


async def test_the_checkpoint_of_the_flusher_lies_before_an_open_transaction_and_what_is_not_stored():
    edges = Edges()
    made = flusher(edges, await storage(edges))
    begin, body = (
        TransactionMessage(2, CHANNEL, Part.BEGIN, until=100),
        TransactionMessage(3, CHANNEL, Part.BODY, 2, content=insert(3, 7)),
    )
    checkpoints = []
    for message in (insert(1, 7), begin, body, Tick(5), TransactionMessage(6, CHANNEL, Part.COMMIT, 2)):
        edges.add(message)
        made.take(edges.records[-1])
        checkpoints.append(made.checkpoint())
    assert checkpoints == [0] * 5  # place 1 is not stored
    await made.store_all()
    assert edges.calls[-1] == "save_flusher 1"  # the tick that forgets the transaction has not come
    assert edges.put_at == [(1, [insert(1, 7)]), (5, [at(insert(3, 7), 6)])]


async def test_what_is_read_is_stored_in_order_and_again_after_a_failure():
    edges = Edges()
    made = flusher(edges, await storage(edges), stored=(2,))
    tasks = [asyncio.create_task(loop()) for loop in (made.run_reads, made.run_stores, made.run_records)]
    await settle()
    edges.fails = {"put": StoreError("no answer"), "save_recovery": StoreError("no answer")}
    for place in range(1, 4):
        edges.add(insert(place, 7))
    edges.add(Tick(4))
    await settle()
    assert edges.put_at == []
    await edges.clock.advance(0.1)
    assert [place for place, _ in edges.put_at] == [1, 3]
    assert edges.calls[-1] == "save_flusher 4"
    await edges.clock.advance(1)
    assert edges.calls[-1] == "save_recovery 4"
    await edges.clock.advance(0.1)
    assert edges.calls[-2:] == ["save_recovery 4", "truncate 4"]
    assert edges.calls.count("save_recovery 4") == 2
    edges.add(insert(5, 7))
    await settle()
    assert edges.put_at[-1] == (5, [insert(5, 7)])
    for task in tasks:
        task.cancel()


async def test_a_reader_yields_each_message_once_and_continues_before_an_open_transaction():
    edges = Edges()
    begin, body = (
        TransactionMessage(2, CHANNEL, Part.BEGIN, until=100),
        TransactionMessage(4, CHANNEL, Part.BODY, 2, content=insert(4, 7)),
    )
    commit = TransactionMessage(6, CHANNEL, Part.COMMIT, 2)
    for message in (Tick(1), begin, insert(3, 7), body, Tick(5), commit, insert(7, 8), Tick(8)):
        edges.add(message)
    consumer = reader(edges, "dml_0")
    packs = [await consumer.next_pack() for _ in range(3)]
    found = [(pack.end, [message.ts for message in pack.messages]) for pack in packs]
    assert found == [(1, []), (5, [3]), (8, [6, 7])]
    assert [pack.finish.place for pack in packs] == [1, 2, 8]
    entries = await RecordLog(edges, Assembly()).read("dml_0", 1)
    assert [entry.place for entry in entries] == [1]


async def test_a_reader_continues_before_a_message_that_is_later_than_its_tick():
    edges = Edges()
    for message in (insert(5, 7), TransactionMessage(2, CHANNEL, Part.BEGIN, until=100), Tick(3)):
        edges.add(message)
    pack = await reader(edges, "dml_0").next_pack()
    assert (pack.end, pack.messages, pack.finish.place) == (3, (), 1)
