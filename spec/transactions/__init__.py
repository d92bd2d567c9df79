"""Transactions in the log of a streaming node: bodies that come at the commit, all of them or none."""

from tidemark.spec.transactions.proof import Transactions as Transactions
