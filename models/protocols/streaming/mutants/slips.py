"""Mistakes that people make in a streaming node, tried with the mutants that rules make."""

from __future__ import annotations

from tidemark.models.mutation.patches import Edit, Patch

LEDGER = "streaming/transactions.py:Transactions."
STORAGE = "streaming/recovery_storage.py:RecoveryStorage."
FLUSHER = "streaming/flusher.py:Flusher."
OPERATOR = "streaming/time_tick.py:TimeTickOperator."
STREAMING = "streaming/node.py:StreamingNode."

OF_A_TERM = (
    Patch(
        "rounds-that-passed-are-counted-for-ever",
        at=OPERATOR + "_tick",
        old="self.held_back, self.to_write = 0, tick",
        new="self.to_write = tick",
        source="facts 11",
        says="After the first silence no tick is held back any more.",
    ),
    Patch(
        "a-commit-forgets-its-transaction",
        at=LEDGER + "landed",
        old="one.commit = append.ts",
        new="del self.kept[append.transaction]",
        source="facts 11",
        says="Readers of the ticks before the commit begin behind the begin.",
    ),
    Patch(
        "a-commit-that-fails-leaves-its-transaction-ending",
        at=LEDGER + "failed",
        old="one.ends = False",
        new="pass",
        source="facts 11",
        says="A commit that fails leaves a transaction that takes nothing more, and ends by its time alone.",
    ),
    Patch(
        "what-is-committed-is-kept-until-its-time-is-over",
        at=LEDGER + "_is_over",
        old="over_at",
        new="until",
        source="facts 11",
        says="A committed transaction holds readers back until it would have ended.",
    ),
    Patch(
        "bodies-are-those-of-all-transactions",
        at=LEDGER + "stamped",
        old="= Transaction(append.ts + append.lasts)",
        new="""= Transaction(append.ts + append.lasts)
            self.kept[append.ts].under_way = next(iter(self.kept.values())).under_way""",
        source="facts 11",
        says="Transactions share what is under way: a body of one holds up the commit of another.",
    ),
    Patch(
        "a-body-that-fails-ends-the-others",
        at=LEDGER + "failed",
        old="one.under_way.discard(append)",
        new="one.under_way.clear()",
        source="facts 11",
        says="After a body has failed a commit waits for no other.",
    ),
)
OF_THE_FLUSHER = (
    Patch(
        "recovery-counts-again-what-was-counted",
        at=STORAGE + "load",
        old="summary.place",
        new="self.start()",
        source="B28",
        says="Rows between the start and the place of the records are counted twice.",
    ),
    Patch(
        "the-flusher-moves-past-an-open-transaction",
        at=FLUSHER + "checkpoint",
        old="min([self.reading + 1, *self._needed()]) - 1",
        new="self.reading",
        source="B28",
        says="The checkpoint is what was read: the bodies of an open transaction are not read again.",
    ),
    Patch(
        "the-last-place-is-stored-first",
        at=FLUSHER + "store_all",
        old="min(self.buffered)\n            await self._store.put(place, _data_of(self.buffered[place]))",
        new="max(self.buffered)\n            await self._store.put(place, self.buffered[place].messages)",
        source="B28",
        says="Places are stored from the last one on, with the ticks between them.",
    ),
    Patch(
        "a-put-that-fails-waits-for-the-next-record",
        at=FLUSHER + "_retried",
        old="await self._clock",
        new="return await self._clock",
        source="B28",
        says="A failed put is repeated when something else comes, and not before.",
    ),
)
OF_A_NODE = (
    Patch(
        "a-caller-that-leaves-stops-its-append",
        at=STREAMING + "append",
        old="done: asyncio.Future[None] =",
        new="await term.append(append)\n        return append.place\n        done =",
        source="B54",
        says="An append is done in the task of its caller.",
    ),
    Patch(
        "a-term-that-is-over-takes-appends",
        at=STREAMING + "append",
        old=" or term.closed.is_set()",
        new="",
        source="B54",
        says="An append goes to the last term, whether it is over or not.",
    ),
    Patch(
        "a-node-that-ends-leaves-its-appends",
        at=STREAMING + "_end_appends",
        old="await self._appends.stop()",
        new="pass",
        source="B54",
        says="Appends go on when the node has ended.",
    ),
    Patch(
        "a-node-that-ends-leaves-its-callers",
        at=STREAMING + "_end_appends",
        old='caller.set_exception(UnknownOutcomeError("the node has ended; the append may be in the log"))',
        new="pass",
        source="B54",
        says="Callers of a node that has ended wait for ever.",
    ),
    Patch(
        "a-fault-ends-a-node-in-silence",
        at=STREAMING + "run",
        old="finally:",
        new="except RuntimeError:\n            pass\n        finally:",
        also=(Edit(STREAMING + "_end", "            raise\n", "            return\n"),),
        source="B54",
        says="What a term has failed with is not raised.",
    ),
    Patch(
        "a-body-may-be-anything",
        at="streaming/transaction_messages.py:_content",
        old="if message is None",
        new="if True",
        source="facts 11",
        says="A body of a transaction that is a tick or a DDL message is read as if it were rows.",
    ),
    Patch(
        "a-delete-has-no-rows",
        at="values/messages.py:rows_of",
        old="tuple(Row(message.ts, message.segment_id, key) for key in message.keys)",
        new="()",
        source="facts 11",
        says="What a data node stores of a delete is nothing.",
    ),
)
