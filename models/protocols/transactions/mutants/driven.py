"""A wrong reader of transactions for conformance."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.transactions.program import transactions

MUTANTS = patches(
    __name__,
    Patch(
        "bodies-come-before-the-commit",
        at="streaming/assembly.py:Assembly._go_on",
        old="one.bodies.append(message.content)",
        new="one.bodies.append(message.content)\n            return (message.content,)",
        killer="conformance",
        on=Host("transactions-driven", transactions),
        source="facts 11: whole or not at all",
        says="A reader hands over a body before it has read the commit, too.",
    ),
)
