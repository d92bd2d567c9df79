"""Mutants of what a term knows of its transactions, each as an override of one small method.

The functions return the program with the fault in it, and take the same arguments as
``tidemark.models.protocols.transactions.ledger:ledger``.
"""

from __future__ import annotations

from typing import Any

from tidemark.impl.streaming.transactions import Transaction, Transactions
from tidemark.impl.streaming.values import Append
from tidemark.impl.timestamp import Timestamp
from tidemark.models.mutation.declared import mutant
from tidemark.models.protocols.transactions.ledger import LedgerProgram, ledger

ALONE = "transactions-impl-ledger"


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
