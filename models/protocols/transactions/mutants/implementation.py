"""Mutants of transactions in a streaming node, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.transactions.program:transactions``. Each is compared with the variant of the
specification that makes the same mistake, so that what is refuted is a property and not only the likeness.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tidemark.impl.broker.messages import ChannelMessage
from tidemark.impl.streaming.ack_manager import AckManager
from tidemark.impl.streaming.assembly import Assembled, Assembly
from tidemark.impl.streaming.term import StreamingParts
from tidemark.impl.streaming.transaction_messages import DataMessage, Part, TransactionId
from tidemark.impl.streaming.transactions import Transaction, Transactions
from tidemark.impl.streaming.values import Append
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.transactions.program import TransactionProgram, transactions

_VARIANTS = "tidemark.models.protocols.transactions.mutants.specification"


class _TakesLateCommits(Transactions):
    def _is_in_time(self, append: Append) -> bool:
        return append.transaction > 0


@mutant(
    killer="starts_cover_transactions",
    source="facts 11: time to live",
    instance="transactions-impl-expiry",
)
def takes_late_commits(**scenario: Any) -> TransactionProgram:
    """A commit is taken after the end of the transaction's time."""
    parts = StreamingParts(transactions=_TakesLateCommits)
    return transactions(parts=parts, protocol=f"{_VARIANTS}:CommitsTooLate", **scenario)


class _WaitsForNoBody(Transactions):
    def _check_bodies(self, append: Append, one: Transaction) -> None:
        """A commit may overtake bodies."""


@mutant(
    killer="refinement",
    source="facts 11: bodies under way",
    instance="transactions-impl-eager",
)
def commits_with_bodies_under_way(**scenario: Any) -> TransactionProgram:
    """A transaction is committed while a body is under way."""
    return transactions(parts=StreamingParts(transactions=_WaitsForNoBody), **scenario)


class _LooksForNothing(Transactions):
    def __init__(self, found: Mapping[TransactionId, Assembled]) -> None:
        del found
        super().__init__({})


@mutant(
    killer="transactions.an_open_transaction_outlives_a_crash",
    source="facts 11: recovery",
    instance="transactions-impl-crash",
)
def a_new_term_forgets_what_is_open(**scenario: Any) -> TransactionProgram:
    """A new term does not look for open transactions in the log."""
    parts = StreamingParts(transactions=_LooksForNothing)
    return transactions(parts=parts, protocol=f"{_VARIANTS}:ForgottenByACrash", **scenario)


class _ExpiresEarly(Transactions):
    def _is_over(self, one: Transaction, tick: Timestamp) -> bool:
        return tick > 0


@mutant(
    killer="transactions.an_open_transaction_outlives_a_crash",
    source="facts 11: expiry",
    instance="transactions-impl-small",
)
def any_tick_ends_a_transaction(**scenario: Any) -> TransactionProgram:
    """A tick ends a transaction, whatever its time."""
    parts = StreamingParts(transactions=_ExpiresEarly)
    return transactions(parts=parts, protocol=f"{_VARIANTS}:ExpiresBeforeATick", **scenario)


class _KeepsNothingBack(Assembly):
    def _keep(self, one: Assembled, body: DataMessage) -> tuple[ChannelMessage, ...]:
        return (body,)


@mutant(
    killer="transactions.nothing_else_is_delivered",
    source="facts 11: whole or not at all",
    instance="transactions-impl-left",
)
def bodies_are_not_kept_back(**scenario: Any) -> TransactionProgram:
    """A reader delivers a body as soon as a tick has reached it."""
    parts = StreamingParts(assembly=_KeepsNothingBack)
    return transactions(parts=parts, protocol=f"{_VARIANTS}:DeliversWithoutACommit", **scenario)


class _HoldsNothing(Assembly):
    def earliest(self) -> int | None:
        return None


@mutant(
    killer="transactions.a_start_covers_what_is_open",
    source="B28; facts 11",
    instance="transactions-impl-cut",
)
def position_passes_a_begin(**scenario: Any) -> TransactionProgram:
    """A reader's position lies behind the begin of an open transaction."""
    parts = StreamingParts(assembly=_HoldsNothing)
    return transactions(parts=parts, protocol=f"{_VARIANTS}:StartPassesABegin", **scenario)


class _LetsGoAtTheCommit(Assembly):
    def _is_over(self, one: Assembled) -> bool:
        return one.commit > 0 or super()._is_over(one)


@mutant(
    killer="transactions.a_start_covers_what_is_open",
    source="facts 11: commit above the tick",
    instance="transactions-impl-expiry",
)
def position_passes_what_is_committed(**scenario: Any) -> TransactionProgram:
    """A reader's position lies behind the begin of a transaction whose commit no tick has reached."""
    parts = StreamingParts(assembly=_LetsGoAtTheCommit)
    return transactions(parts=parts, protocol=f"{_VARIANTS}:CommitLetsTheStartGo", **scenario)


class _IsNotHeldBack(AckManager):
    def _held_back(self, start: int, tick: Timestamp) -> int:
        del tick
        return start


@mutant(
    killer="starts_cover_transactions",
    source="facts 11: start of a record",
    instance="transactions-impl-small",
)
def start_of_a_record_passes_a_begin(**scenario: Any) -> TransactionProgram:
    """Readers that go on from a record miss the begin of a transaction that is committed later."""
    return transactions(parts=StreamingParts(acks=_IsNotHeldBack), **scenario)


class _EndsAllAtOnce(Transactions):
    def ticked(self, tick: Timestamp) -> None:
        if any(self._is_over(one, tick) for one in self.kept.values()):
            self.kept = {}


@mutant(
    killer="transactions.an_open_transaction_outlives_a_crash",
    source="facts 11: expiry",
    instance="transactions-impl-beside-expiry",
)
def a_tick_ends_the_neighbour_too(**scenario: Any) -> TransactionProgram:
    """A tick that ends a transaction ends all others, whatever their time."""
    parts = StreamingParts(transactions=_EndsAllAtOnce)
    return transactions(parts=parts, protocol=f"{_VARIANTS}:ExpiresBeforeATick", **scenario)


class _EndsTheFirst(Transactions):
    def ticked(self, tick: Timestamp) -> None:
        over = [number for number, one in self.kept.items() if self._is_over(one, tick)]
        for number in sorted(over)[:1]:
            del self.kept[number]


@mutant(
    killer="transactions.all_that_is_over_ends_together",
    source="facts 11: expiry",
    instance="transactions-impl-beside-due",
)
def a_tick_ends_only_the_first(**scenario: Any) -> TransactionProgram:
    """Of the transactions that end by the same tick, the node forgets one."""
    parts = StreamingParts(transactions=_EndsTheFirst)
    return transactions(parts=parts, protocol=f"{_VARIANTS}:OnlyTheFirstExpires", **scenario)


class _FindsOne(Transactions):
    def __init__(self, found: Mapping[TransactionId, Assembled]) -> None:
        super().__init__({number: found[number] for number in sorted(found)[:1]})


@mutant(
    killer="transactions.an_open_transaction_outlives_a_crash",
    source="facts 11: recovery",
    instance="transactions-impl-beside-crash",
    tier="full",
)
def a_new_term_finds_one_of_two(**scenario: Any) -> TransactionProgram:
    """A new term finds one of the open transactions in the log."""
    return transactions(parts=StreamingParts(transactions=_FindsOne), **scenario)


class _RollsBackAll(Transactions):
    def landed(self, append: Append, place: int) -> None:
        if append.part is Part.ROLLBACK:
            self.kept = {append.transaction: self.kept[append.transaction]}
        super().landed(append, place)


@mutant(
    killer="transactions.an_open_transaction_outlives_a_crash",
    source="facts 11: rollback",
    instance="transactions-impl-beside",
    tier="full",
)
def a_rollback_ends_the_neighbour(**scenario: Any) -> TransactionProgram:
    """The rollback of a transaction ends all others."""
    return transactions(parts=StreamingParts(transactions=_RollsBackAll), **scenario)


class _KnowsTheLatest(Transactions):
    def earliest(self, tick: Timestamp) -> int | None:
        needed = (one.begun for one in self.kept.values() if one.begun and one.over_at > tick)
        return max(needed, default=None)


@mutant(
    killer="starts_cover_transactions",
    source="facts 11: start of a record",
    instance="transactions-impl-beside-tick",
    tier="full",
)
def start_of_a_record_covers_the_latest_alone(**scenario: Any) -> TransactionProgram:
    """The start of a record lies before the latest begin, and behind an earlier one."""
    return transactions(parts=StreamingParts(transactions=_KnowsTheLatest), **scenario)


class _NeedsNoBegin(Assembly):
    def earliest(self) -> int | None:
        return None


@mutant(
    killer="readers_go_on_and_miss_nothing",
    source="facts 11: transactions",
    instance="transactions-impl-go-on",
    tier="full",
)
def a_position_lies_behind_the_begin(**scenario: Any) -> TransactionProgram:
    """A reader that goes on from the end of a pack does not read the begin of what is open there."""
    return transactions(parts=StreamingParts(assembly=_NeedsNoBegin), **scenario)
