"""Mutants of transactions in a streaming node, in every order of its steps."""

from tidemark.models.mutation.patches import Host, Patch, patches
from tidemark.models.protocols.transactions.program import transactions

SMALL, EAGER, EXPIRY, LEFT, CUT, CRASH, GO_ON = (
    Host(f"transactions-impl-{name}", transactions)
    for name in ("small", "eager", "expiry", "left", "cut", "crash", "go-on")
)
BESIDE, BESIDE_EXPIRY, BESIDE_DUE, BESIDE_CRASH, BESIDE_TICK = (
    Host(f"transactions-impl-beside{name}", transactions)
    for name in ("", "-expiry", "-due", "-crash", "-tick")
)
VARIANTS = "tidemark.models.protocols.transactions.mutants.specification:"
LEDGER = "streaming/transactions.py:Transactions."
READER = "streaming/assembly.py:Assembly."
BEGINS = "min((one.begun for one in self.kept.values()), default=None)"

STARTS = "starts_cover_transactions"
OUTLIVES = "transactions.an_open_transaction_outlives_a_crash"
COVERS = "transactions.a_start_covers_what_is_open"

MUTANTS = patches(
    __name__,
    Patch(
        "takes-late-commits",
        at=LEDGER + "_is_in_time",
        old="append.ts <= one.until",
        new="True",
        killer=STARTS,
        on=EXPIRY,
        source="facts 11: time to live",
        says="A commit is taken after the end of the transaction's time.",
    ),
    Patch(
        "commits-with-bodies-under-way",
        at=LEDGER + "admit",
        old="if one.under_way:",
        new="if False:",
        on=EAGER,
        source="facts 11: bodies under way",
        says="A transaction is committed while a body is under way.",
    ),
    Patch(
        "a-new-term-forgets-what-is-open",
        at=LEDGER + "__init__",
        old="found.items()",
        new="()",
        killer=OUTLIVES,
        on=CRASH,
        source="facts 11: recovery",
        says="A new term does not look for open transactions in the log.",
    ),
    Patch(
        "any-tick-ends-a-transaction",
        at=LEDGER + "_is_over",
        old="one.over_at <= tick",
        new="True",
        killer=OUTLIVES,
        on=SMALL,
        source="facts 11: expiry",
        says="A tick ends a transaction, whatever its time.",
    ),
    Patch(
        "bodies-are-not-kept-back",
        at=READER + "_go_on",
        old="one.bodies.append(message.content)",
        new="return (message.content,)",
        killer="transactions.nothing_else_is_delivered",
        on=LEFT,
        source="facts 11: whole or not at all",
        says="A reader delivers a body as soon as a tick has reached it.",
    ),
    Patch(
        "position-passes-a-begin",
        at=READER + "earliest",
        old=BEGINS,
        new="None",
        killer=COVERS,
        on=CUT,
        source="B28; facts 11",
        says="A reader's position lies behind the begin of an open transaction.",
    ),
    Patch(
        "position-passes-what-is-committed",
        at=READER + "_is_over",
        old="(one.commit or one.until) <= self.tick",
        new="one.commit > 0 or one.until <= self.tick",
        killer=COVERS,
        on=EXPIRY,
        source="facts 11: commit above the tick",
        says="A reader's position lies behind the begin of a transaction whose commit no tick has reached.",
    ),
    Patch(
        "start-of-a-record-passes-a-begin",
        at="streaming/ack_manager.py:AckManager._held_back",
        old="start if earliest is None else min(start, earliest - 1)",
        new="start",
        killer=STARTS,
        on=SMALL,
        source="facts 11: start of a record",
        says="Readers that go on from a record miss the begin of a transaction that is committed later.",
    ),
    Patch(
        "a-tick-ends-the-neighbour-too",
        at=LEDGER + "ticked",
        old="if not self._is_over(one, tick)",
        new="if not any(self._is_over(other, tick) for other in self.kept.values())",
        killer=OUTLIVES,
        on=BESIDE_EXPIRY,
        source="facts 11: expiry",
        says="A tick that ends a transaction ends all others, whatever their time.",
    ),
    Patch(
        "a-tick-ends-only-the-first",
        at=LEDGER + "ticked",
        old="if not self._is_over(one, tick)",
        new="if number != min((n for n, one in self.kept.items() if self._is_over(one, tick)), default=0)",
        killer="transactions.all_that_is_over_ends_together",
        on=BESIDE_DUE,
        source="facts 11: expiry",
        says="Of the transactions that end by the same tick, the node forgets one.",
    ),
    Patch(
        "a-new-term-finds-one-of-two",
        at=LEDGER + "__init__",
        old="found.items()",
        new="sorted(found.items())[:1]",
        killer=OUTLIVES,
        on=BESIDE_CRASH,
        source="facts 11: recovery",
        tier="full",
        says="A new term finds one of the open transactions in the log.",
    ),
    Patch(
        "a-rollback-ends-the-neighbour",
        at=LEDGER + "landed",
        old="del self.kept[append.transaction]",
        new="self.kept.clear()",
        killer=OUTLIVES,
        on=BESIDE,
        source="facts 11: rollback",
        tier="full",
        says="The rollback of a transaction ends all others.",
    ),
    Patch(
        "start-of-a-record-covers-the-latest-alone",
        at=LEDGER + "earliest",
        old="min(",
        new="max(",
        killer=STARTS,
        on=BESIDE_TICK,
        source="facts 11: start of a record",
        tier="full",
        says="The start of a record lies before the latest begin, and behind an earlier one.",
    ),
    Patch(
        "a-position-lies-behind-the-begin",
        at=READER + "earliest",
        old=BEGINS,
        new="None",
        killer="readers_go_on_and_miss_nothing",
        on=GO_ON,
        source="facts 11: transactions",
        tier="full",
        says="A reader that goes on from the end of a pack does not read the begin of what is open there.",
    ),
    Patch(
        "open-transactions-are-not-looked-for",
        at="streaming/term.py:OpenTerm.__init__",
        old="_open_in(records)",
        new="_open_in(())",
        killer=OUTLIVES,
        on=CRASH,
        source="facts 11",
        says="A term begins without the transactions that are open in the log.",
    ),
    Patch(
        "a-tick-is-told-before-it-is-in-the-log",
        at="streaming/time_tick.py:TimeTickOperator._write_tick",
        old="place =",
        new="self._acks.written(tick.ts, 0)\n        place =",
        killer=OUTLIVES,
        on=BESIDE_EXPIRY,
        source="facts 11",
        says="Transactions end by a tick that no reader may ever see.",
    ),
    Patch(
        "bodies-come-before-the-commit",
        at="streaming/assembly.py:Assembly._go_on",
        old="one.bodies.append(message.content)",
        new="one.bodies.append(message.content)\n            return (message.content,)",
        walked=Host("transactions-driven", transactions),
        source="facts 11: whole or not at all",
        says="A reader hands over a body before it has read the commit, too.",
    ),
)
