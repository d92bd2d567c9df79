"""Transactions in the log of a streaming node."""
