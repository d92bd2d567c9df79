"""Mutants of a streaming node: in every order of its steps, endlessly, and while its channel is idle."""

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.streaming.program import streaming

ONE, TWO, LATE, FLUSHER, OVERTAKEN = (
    Host(f"streaming-impl-{name}", streaming)
    for name in ("one-append", "two-appends", "late-append", "flusher", "overtaken")
)
FLUSHER_CRASH = Host("streaming-impl-flusher-crash", streaming)
ENDLESS = Host("streaming-endless", streaming)

PAIRS = "tidemark.spec.streaming.variants.other_rules:"
VARIANTS = "tidemark.models.protocols.streaming.mutants.specification:"

ACKS = "streaming/ack_manager.py:AckManager."
RECORDS = "streaming/recovery_storage.py:RecoveryStorage."
TERM = "streaming/term.py:OpenTerm."
TICKS = "streaming/time_tick.py:TimeTickOperator."
COVERED = "streaming.ticks_cover_what_is_acknowledged"
LEFT_OUT = "streaming.a_start_leaves_out_only_what_is_passed"

MUTANTS = patches(
    __name__,
    Patch(
        "no-lock-over-draw-and-entry",
        at=ACKS + "admit",
        old='async with self.lock.holding("ack.draw"):',
        new="if True:",
        killer=COVERED,
        on=ONE.like(protocol=PAIRS + "Unlocked"),
        source="facts 11: no lock",
        says="A tick is collected between the draw of a timestamp and its entry.",
    ),
    Patch(
        "tick-waits-for-nothing",
        at=ACKS + "prefix",
        old="max([self.passed, *(detail.ts for detail in self.ended if detail.ts < bound)])",
        new="self.last",
        killer=COVERED,
        on=ONE.like(protocol=VARIANTS + "TickWaitsForNothing"),
        source="property W; facts 11: no prefix",
        says="A tick carries its own timestamp, whatever is not acknowledged.",
    ),
    Patch(
        "tick-is-the-greatest-acknowledged",
        at=ACKS + "prefix",
        old="detail.ts < bound",
        new="detail.place",
        killer=COVERED,
        on=OVERTAKEN.like(protocol=VARIANTS + "TickWaitsForNothing"),
        source="facts 11: not contiguous",
        says="A tick passes an append that is not acknowledged, because a later one is.",
    ),
    Patch(
        "tick-reaches-a-message",
        at=ACKS + "prefix",
        old="return max(",
        new="return bound if self.waiting else max(",
        killer=COVERED,
        on=ONE.like(protocol=VARIANTS + "TickReachesAMessage"),
        source="facts 11; hazard 12: equality",
        says="A tick is equal to the least timestamp that is not acknowledged.",
    ),
    Patch(
        "prefix-is-below-the-last-tick",
        at=ACKS + "prefix",
        old="[self.passed, *(detail.ts for detail in self.ended if detail.ts < bound)]",
        new="(detail.ts for detail in self.ended if detail.ts < bound), default=self.passed",
        killer="a_tick_may_pass_what_is_acknowledged",
        on=TWO,
        source="facts 11: the prefix",
        says="An answered tick that is older than the last one is all that the prefix finds.",
    ),
    Patch(
        "start-is-the-last-known-place",
        at=ACKS + "_start",
        old=" if detail.until <= prefix",
        new="",
        killer=LEFT_OUT,
        on=OVERTAKEN,
        source="facts 11: start",
        says="Readers of a tick start behind all that is acknowledged, though a later message lies there.",
    ),
    Patch(
        "start-is-the-place-of-the-prefix",
        at=ACKS + "_start",
        old="detail.until",
        new="detail.ts",
        killer=LEFT_OUT,
        on=OVERTAKEN,
        source="facts 11: start",
        says="Readers of a tick start behind the message that it passes, though a later one lies before it.",
    ),
    Patch(
        "no-fence",
        at="storage/fenced_log.py:FencedLog._check",
        old="term != self.term",
        new="False",
        killer="streaming.watermark_promise",
        on=LATE,
        source="facts 11; hazard 12: no fence",
        says="The log takes what an earlier term appends.",
    ),
    Patch(
        "unknown-outcome-counts-as-failed",
        at=TERM + "append",
        old="except (MessageTooLargeError,",
        new="except (UnknownOutcomeError, MessageTooLargeError,",
        also=(Edit(TERM + "_write", "self.close()", "pass"),),
        killer="streaming.watermark_promise",
        on=LATE.like(protocol=PAIRS + "CountsAsFailed"),
        source="hazard 12; B54",
        says="An append that timed out counts as failed, and the log stays open (B54).",
    ),
    Patch(
        "cut-behind-one-checkpoint",
        at=RECORDS + "persist",
        old="truncate(self.start())",
        new="truncate(max(self.saved.flusher, self.saved.recovery))",
        killer="streaming.recovery_finds_its_start",
        on=FLUSHER,
        source="B28: truncation",
        says="The log is cut behind the greater checkpoint.",
    ),
    Patch(
        "recovery-starts-at-its-own-checkpoint",
        at=RECORDS + "start",
        old="min(self.saved.flusher, self.saved.recovery)",
        new="self.saved.recovery",
        killer="streaming.no_message_is_lost",
        on=FLUSHER_CRASH,
        source="B28",
        tier="full",
        says="What the flusher had not stored is not read again (B28).",
    ),
    Patch(
        "checkpoint-moves-before-it-is-stored",
        at="streaming/flusher.py:Flusher.store_all",
        old="while self.buffered:",
        new="await self._recovery.move_flusher(self.reading)\n        while self.buffered:",
        killer="streaming.checkpoints_lie_in_the_log",
        on=FLUSHER,
        source="B28: checkpoint",
        says="The flusher's checkpoint follows what was read, stored or not.",
    ),
    Patch(
        "acknowledged-before-it-is-durable",
        at=TERM + "append",
        old="place = await",
        new="self.acks.acknowledge(append, 0)\n            place = await",
        also=(Edit(ACKS + "acknowledge", "if self.is_open:", "if append.ts in self.waiting:"),),
        on=ONE,
        source="facts 11: acknowledged too early",
        says="An append leaves the list when it is sent.",
    ),
    Patch(
        "a-silent-oracle-ends-the-ticks",
        at=TICKS + "_tick",
        old="return  #",
        new="self.held_back = -1\n            return  #",
        also=(
            Edit(
                TICKS + "_is_held_back",
                "if not",
                "if self.held_back < 0:\n            return True\n        if not",
            ),
        ),
        killer="streaming.ticks_pass_a_message",
        on=ENDLESS,
        source="facts 11; property WL",
        says="After a call of the oracle without an answer all ticks are held back.",
    ),
    Patch(
        "a-tick-does-not-wait-for-an-admission",
        at=ACKS + "collect",
        old='async with self.lock.holding("ack.prefix"):',
        new="if True:",
        on=ONE,
        source="facts 11",
        says="A tick passes an append that has its timestamp and is not entered.",
    ),
    Patch(
        "what-was-given-is-noted-at-the-entry",
        at=ACKS + "_end",
        old="self.last",
        new="append.ts",
        killer=LEFT_OUT,
        on=OVERTAKEN,
        source="facts 11",
        says="What was given between an append's entry and its end is forgotten: readers begin too late.",
    ),
    Patch(
        "a-checkpoint-is-used-before-it-is-saved",
        at=RECORDS + "move_flusher",
        old="await",
        new="self.saved = Checkpoints(flusher=upto, recovery=self.saved.recovery)\n            await",
        killer="streaming.recovery_finds_its_start",
        on=FLUSHER,
        source="B28",
        says="The log may be cut behind a checkpoint that the store does not have.",
    ),
    Patch(
        "what-is-not-known-is-refused",
        at=TERM + "_write",
        old="self.close()",
        new="raise MessageTooLargeError(str(failure)) from failure",
        killer="execution",
        on=LATE,
        source="B54",
        says="An append whose outcome is not known is taken for one that is not in the log.",
    ),
    Patch(
        "recovery-starts-at-its-own-checkpoint",
        at="streaming/recovery_storage.py:RecoveryStorage.start",
        old="min(self.saved.flusher, self.saved.recovery)",
        new="self.saved.recovery",
        walked=Host("streaming-driven", streaming),
        source="B28",
        says="A recovery starts at the checkpoint of the recovery storage, whatever the flusher's is.",
    ),
)

LEDGER = "streaming/transactions.py:Transactions."

STORAGE = "streaming/recovery_storage.py:RecoveryStorage."

ITS_FLUSHER = "streaming/flusher.py:Flusher."

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
        at=ITS_FLUSHER + "checkpoint",
        old="min([self.reading + 1, *self._needed()]) - 1",
        new="self.reading",
        source="B28",
        says="The checkpoint is what was read: the bodies of an open transaction are not read again.",
    ),
    Patch(
        "the-last-place-is-stored-first",
        at=ITS_FLUSHER + "store_all",
        old="min(self.buffered)\n            await self._store.put(place, _data_of(self.buffered[place]))",
        new="max(self.buffered)\n            await self._store.put(place, self.buffered[place].messages)",
        source="B28",
        says="Places are stored from the last one on, with the ticks between them.",
    ),
    Patch(
        "a-put-that-fails-waits-for-the-next-record",
        at=ITS_FLUSHER + "_retried",
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
