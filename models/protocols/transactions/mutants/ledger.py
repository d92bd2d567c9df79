"""Mutants of what a term knows of its transactions, and of the forms of messages.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.transactions.ledger:ledger`` or ``forms:forms``.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tidemark.impl.broker.messages import DeleteMessage, InsertMessage, decode
from tidemark.impl.streaming.transaction_messages import Part, decode_any
from tidemark.impl.streaming.transactions import Transaction, Transactions
from tidemark.impl.streaming.values import Append
from tidemark.impl.timestamp import Timestamp
from tidemark.impl.types import Row
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.transactions.forms import FormsProgram, forms
from tidemark.models.protocols.transactions.ledger import LedgerProgram, ledger

ALONE = "transactions-impl-ledger"
FORMS = "transactions-impl-forms"


class _ForgetsAtItsCommit(Transactions):
    def landed(self, append: Append, place: int) -> None:
        super().landed(append, place)
        if append.part is not None and append.part.value == "commit":
            self.kept.pop(append.transaction, None)


@mutant(killer="a_transaction_is_known_until_readers_forget_it", source="facts 11", instance=ALONE)
def a_commit_forgets_its_transaction(**scenario: Any) -> LedgerProgram:
    """Readers of the ticks before the commit begin behind the begin."""
    return ledger(ledger_class=_ForgetsAtItsCommit, **scenario)


class _StaysEnding(Transactions):
    def failed(self, append: Append) -> None:
        one = self.kept.get(append.transaction)
        ends = one is not None and one.ends
        super().failed(append)
        if one is not None:
            one.ends = ends


@mutant(killer="a_transaction_is_known_until_readers_forget_it", source="facts 11", instance=ALONE)
def a_commit_that_fails_leaves_its_transaction_ending(**scenario: Any) -> LedgerProgram:
    """Nothing more is taken, and nothing can end it but its time."""
    return ledger(ledger_class=_StaysEnding, **scenario)


class _ByItsTimeAlone(Transactions):
    def _is_over(self, one: Transaction, tick: Timestamp) -> bool:
        return one.until <= tick


@mutant(killer="a_transaction_is_known_until_readers_forget_it", source="facts 11", instance=ALONE)
def what_is_committed_is_kept_until_its_time_is_over(**scenario: Any) -> LedgerProgram:
    """A committed transaction holds readers back until it would have ended."""
    return ledger(ledger_class=_ByItsTimeAlone, **scenario)


def _takes_any_body(document: Any) -> Any:
    match document:
        case ["transaction", ts, channel, part, number, until, [*content]]:
            empty = decode_any(["transaction", ts, channel, part, number, until, None])
            return replace(empty, content=decode(content))
    return decode_any(document)


@mutant(killer="a_message_has_one_form_in_a_log", source="facts 11", instance=FORMS)
def a_body_may_be_anything(**scenario: Any) -> FormsProgram:
    """A body of a transaction that is a tick or a DDL message is read as if it were rows."""
    return forms(read=_takes_any_body, **scenario)


def _rows_alone(message: InsertMessage | DeleteMessage) -> tuple[Row, ...]:
    return message.rows if isinstance(message, InsertMessage) else ()


@mutant(killer="what_is_derived_of_a_message_is_what_it_holds", source="facts 11", instance=FORMS)
def a_delete_has_no_rows(**scenario: Any) -> FormsProgram:
    """What a data node stores of a delete is nothing."""
    return forms(rows_of=_rows_alone, **scenario)


class _OneSetForAll(Transactions):
    def stamped(self, append: Append) -> None:
        super().stamped(append)
        first = next(iter(self.kept.values()), None)
        if first is not None and append.ts in self.kept:
            self.kept[append.ts].under_way = first.under_way


@mutant(killer="a_transaction_is_known_until_readers_forget_it", source="facts 11", instance=ALONE)
def bodies_are_those_of_all_transactions(**scenario: Any) -> LedgerProgram:
    """Transactions share what is under way: a body of one holds up the commit of another."""
    return ledger(ledger_class=_OneSetForAll, **scenario)


class _ForgetsAllBodies(Transactions):
    def failed(self, append: Append) -> None:
        super().failed(append)
        one = self.kept.get(append.transaction)
        if one is not None and append.part is Part.BODY:
            one.under_way.clear()


@mutant(killer="a_transaction_is_known_until_readers_forget_it", source="facts 11", instance=ALONE)
def a_body_that_fails_ends_the_others(**scenario: Any) -> LedgerProgram:
    """After a body has failed a commit waits for no other."""
    return ledger(ledger_class=_ForgetsAllBodies, **scenario)
