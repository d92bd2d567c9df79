"""Mutants of the parts of a streaming node, each by itself."""

from __future__ import annotations

from tidemark.models.mutation.patches import Edit, Host, Patch, patches
from tidemark.models.protocols.streaming.acks import acks
from tidemark.models.protocols.streaming.flushes import flushes
from tidemark.models.protocols.streaming.nodes import nodes
from tidemark.models.protocols.streaming.records import records
from tidemark.models.protocols.streaming.terms import terms
from tidemark.models.protocols.streaming.ticks import ticks

ACKS, RECORDS = Host("streaming-impl-acks", acks), Host("streaming-impl-records", records)
FLUSHES, TICKS = Host("streaming-impl-flushes", flushes), Host("streaming-impl-ticks", ticks)
TERM, NODE = Host("streaming-impl-term", terms), Host("streaming-impl-node", nodes)

MANAGER = "streaming/ack_manager.py:AckManager."
STORAGE = "streaming/recovery_storage.py:RecoveryStorage."
FLUSHER = "streaming/flusher.py:Flusher."
OPERATOR = "streaming/time_tick.py:TimeTickOperator."
OPEN = "streaming/term.py:OpenTerm."
STREAMING = "streaming/node.py:StreamingNode."

BEHIND = "what_is_later_than_a_tick_lies_behind_its_place"
STORED = "what_is_read_is_stored_in_order"
OPENED = "a_log_is_opened_step_by_step_and_again_when_it_closes"
DONE = "an_append_is_done_whoever_waits_for_it"

MUTANTS = patches(
    __name__,
    Patch(
        "a-tick-does-not-wait-for-an-admission",
        at=MANAGER + "collect",
        old='async with self.lock.holding("ack.prefix"):',
        new="if True:",
        killer="a_tick_is_the_acknowledged_prefix",
        on=ACKS,
        source="facts 11",
        says="A tick passes an append that has its timestamp and is not entered.",
    ),
    Patch(
        "what-was-given-is-noted-at-the-entry",
        at=MANAGER + "_end",
        old="self.last",
        new="append.ts",
        killer=BEHIND,
        on=ACKS,
        source="facts 11",
        says="What was given between an append's entry and its end is forgotten: readers begin too late.",
    ),
    Patch(
        "readers-begin-behind-an-open-transaction",
        at=MANAGER + "_held_back",
        old="start if earliest is None else min(start, earliest - 1)",
        new="start",
        killer=BEHIND,
        on=ACKS,
        source="facts 11",
        says="The place of a tick does not look at the begins of open transactions.",
    ),
    Patch(
        "a-checkpoint-is-used-before-it-is-saved",
        at=STORAGE + "move_flusher",
        old="await",
        new="self.saved = Checkpoints(flusher=upto, recovery=self.saved.recovery)\n            await",
        killer="a_checkpoint_is_saved_before_it_is_used",
        on=RECORDS,
        source="B28",
        says="The log may be cut behind a checkpoint that the store does not have.",
    ),
    Patch(
        "recovery-counts-again-what-was-counted",
        at=STORAGE + "load",
        old="summary.place",
        new="self.start()",
        killer="each_place_is_counted_once",
        on=RECORDS,
        source="B28",
        says="Rows between the start and the place of the records are counted twice.",
    ),
    Patch(
        "the-log-is-cut-behind-the-greater-checkpoint",
        at=STORAGE + "_cut",
        old="min(",
        new="max(",
        killer="the_log_is_cut_behind_both_checkpoints",
        on=RECORDS,
        source="B28",
        says="What the other checkpoint still needs is cut off.",
    ),
    Patch(
        "the-flusher-moves-past-an-open-transaction",
        at=FLUSHER + "checkpoint",
        old="min([self.reading + 1, *self._needed()]) - 1",
        new="self.reading",
        killer=STORED,
        on=FLUSHES,
        source="B28",
        says="The checkpoint is what was read: the bodies of an open transaction are not read again.",
    ),
    Patch(
        "the-last-place-is-stored-first",
        at=FLUSHER + "store_all",
        old="min(self.buffered)\n            await self._store.put(place, _data_of(self.buffered[place]))",
        new="max(self.buffered)\n            await self._store.put(place, self.buffered[place].messages)",
        killer=STORED,
        on=FLUSHES,
        source="B28",
        says="Places are stored from the last one on, with the ticks between them.",
    ),
    Patch(
        "a-put-that-fails-waits-for-the-next-record",
        at=FLUSHER + "_retried",
        old="await self._clock",
        new="return await self._clock",
        killer=STORED,
        on=FLUSHES,
        source="B28",
        says="A failed put is repeated when something else comes, and not before.",
    ),
    Patch(
        "rounds-that-passed-are-counted-for-ever",
        at=OPERATOR + "_tick",
        old="self.held_back, self.to_write = 0, tick",
        new="self.to_write = tick",
        killer="a_round_asks_for_a_tick_unless_nothing_is_new",
        on=TICKS,
        source="facts 11",
        says="After the first silence no tick is held back any more.",
    ),
    Patch(
        "a-tick-is-told-before-it-is-in-the-log",
        at=OPERATOR + "_write_tick",
        old="place =",
        new="self._acks.written(tick.ts, 0)\n        place =",
        killer="what_was_collected_is_written_and_told",
        on=TICKS,
        source="facts 11",
        says="Transactions end by a tick that no reader may ever see.",
    ),
    Patch(
        "what-is-not-known-is-refused",
        at=OPEN + "_write",
        old="self._lose_track()",
        new="raise MessageTooLargeError(str(failure)) from failure",
        killer="each_part_is_told_what_became_of_an_append",
        on=TERM,
        source="B54",
        says="An append whose outcome is not known is taken for one that is not in the log.",
    ),
    Patch(
        "a-term-goes-on-after-an-unknown-outcome",
        at=OPEN + "_lose_track",
        old="self.close()",
        new="pass",
        killer="a_term_is_over_when_something_is_not_known",
        on=TERM,
        source="B54",
        says="An append whose outcome is not known does not close the term.",
    ),
    Patch(
        "open-transactions-are-not-looked-for",
        at=OPEN + "__init__",
        old="_open_in(records,",
        new="_open_in((),",
        killer="a_term_is_made_of_what_was_found",
        on=TERM,
        source="facts 11",
        says="A term begins without the transactions that are open in the log.",
    ),
    Patch(
        "a-caller-that-leaves-stops-its-append",
        at=STREAMING + "append",
        old="done: asyncio.Future[None] =",
        new="await term.append(append)\n        return append.place\n        done =",
        killer=OPENED,
        on=NODE,
        source="B54",
        says="An append is done in the task of its caller.",
    ),
    Patch(
        "a-term-that-is-over-takes-appends",
        at=STREAMING + "append",
        old=" or term.closed.is_set()",
        new="",
        killer=DONE,
        on=NODE,
        source="B54",
        says="An append goes to the last term, whether it is over or not.",
    ),
    Patch(
        "a-node-that-ends-leaves-its-appends",
        at=STREAMING + "_end_appends",
        old="await self._appends.stop()",
        new="pass",
        killer=OPENED,
        on=NODE,
        source="B54",
        says="Appends go on when the node has ended.",
    ),
    Patch(
        "a-node-that-ends-leaves-its-callers",
        at=STREAMING + "_end_appends",
        old="self._tell(caller)",
        new="pass",
        killer=DONE,
        on=NODE,
        source="B54",
        says="Callers of a node that has ended wait for ever.",
    ),
    Patch(
        "a-fault-ends-a-node-in-silence",
        at=STREAMING + "run",
        old="finally:",
        new="except RuntimeError:\n            pass\n        finally:",
        also=(Edit(STREAMING + "_end", "            raise\n", "            return\n"),),
        killer="a_node_that_ends_stops_what_it_has_begun",
        on=NODE,
        source="B54",
        says="What a term has failed with is not raised.",
    ),
)
