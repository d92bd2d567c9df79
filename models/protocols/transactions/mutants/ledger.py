"""Mutants of what a term knows of its transactions, and of the forms of messages."""

from __future__ import annotations

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.transactions.forms import forms
from tidemark.models.protocols.transactions.ledger import ledger

ALONE, FORMS = Host("transactions-impl-ledger", ledger), Host("transactions-impl-forms", forms)
LEDGER = "streaming/transactions.py:Transactions."
KNOWN = "a_transaction_is_known_until_readers_forget_it"

MUTANTS = patches(
    __name__,
    Patch(
        "a-commit-forgets-its-transaction",
        at=LEDGER + "landed",
        old="one.commit = append.ts",
        new="del self.kept[append.transaction]",
        killer=KNOWN,
        on=ALONE,
        source="facts 11",
        says="Readers of the ticks before the commit begin behind the begin.",
    ),
    Patch(
        "a-commit-that-fails-leaves-its-transaction-ending",
        at=LEDGER + "failed",
        old="one.ends = False",
        new="pass",
        killer=KNOWN,
        on=ALONE,
        source="facts 11",
        says="A commit that fails leaves a transaction that takes nothing more, and ends by its time alone.",
    ),
    Patch(
        "what-is-committed-is-kept-until-its-time-is-over",
        at=LEDGER + "_is_over",
        old="over_at",
        new="until",
        killer=KNOWN,
        on=ALONE,
        source="facts 11",
        says="A committed transaction holds readers back until it would have ended.",
    ),
    Patch(
        "a-body-may-be-anything",
        at="streaming/transaction_messages.py:_content",
        old="if message is None",
        new="if True",
        killer="a_message_has_one_form_in_a_log",
        on=FORMS,
        source="facts 11",
        says="A body of a transaction that is a tick or a DDL message is read as if it were rows.",
    ),
    Patch(
        "a-delete-has-no-rows",
        at="values/messages.py:rows_of",
        old="tuple(Row(message.ts, message.segment_id, key) for key in message.keys)",
        new="()",
        killer="what_is_derived_of_a_message_is_what_it_holds",
        on=FORMS,
        source="facts 11",
        says="What a data node stores of a delete is nothing.",
    ),
    Patch(
        "bodies-are-those-of-all-transactions",
        at=LEDGER + "stamped",
        old="= Transaction(append.ts + append.lasts)",
        new="""= Transaction(append.ts + append.lasts)
            self.kept[append.ts].under_way = next(iter(self.kept.values())).under_way""",
        killer=KNOWN,
        on=ALONE,
        source="facts 11",
        says="Transactions share what is under way: a body of one holds up the commit of another.",
    ),
    Patch(
        "a-body-that-fails-ends-the-others",
        at=LEDGER + "failed",
        old="one.under_way.discard(append)",
        new="one.under_way.clear()",
        killer=KNOWN,
        on=ALONE,
        source="facts 11",
        says="After a body has failed a commit waits for no other.",
    ),
)
