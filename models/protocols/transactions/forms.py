"""The forms of messages: as they lie in a log, with another timestamp, by channel and by row.

Each form is written out here. What a log holds must be readable in ten years: it does not follow the code.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

from tidemark.impl.errors import CorruptDataError
from tidemark.impl.streaming import transaction_messages as transactions
from tidemark.impl.streaming.transaction_messages import Part, TransactionMessage
from tidemark.impl.types import Row
from tidemark.impl.values import messages
from tidemark.impl.values.messages import DdlMessage, DeleteMessage, InsertMessage, Tick
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.common.scripted import Script
from tidemark.models.simulation.world.process import Process

FORM = "a_message_has_one_form_in_a_log"
"""Claim id: a message is written in the form that is documented, and read back from it; what has no form is
refused as damaged."""
SAME = "what_is_derived_of_a_message_is_what_it_holds"
"""Claim id: its rows, its channel, the collection that it is for, and what it is with another timestamp."""

_ROWS = (Row(7, 3, 1, "a"), Row(7, 4, 2, "b"))
_INSERT, _DELETE = InsertMessage(7, "dml_0_12v1", _ROWS), DeleteMessage(8, "dml_0_12v1", -2, (5, 6))
_DDL = DdlMessage(9, "dml_1_12v0", "drop c")
_FORMS: tuple[tuple[Any, list[Any]], ...] = (
    (Tick(5), ["tick", 5]),
    (_INSERT, ["insert", 7, "dml_0_12v1", [[3, 1, "a"], [4, 2, "b"]]]),
    (_DELETE, ["delete", 8, "dml_0_12v1", -2, [5, 6]]),
    (_DDL, ["ddl", 9, "dml_1_12v0", "drop c"]),
)
_PARTS: tuple[tuple[Any, list[Any]], ...] = (
    (
        TransactionMessage(4, "x", Part.BEGIN, until=20),
        ["transaction", 4, "x", "begin", 0, 20, None],
    ),
    (
        TransactionMessage(7, "dml_0_12v1", Part.BODY, 4, content=_INSERT),
        [
            "transaction",
            7,
            "dml_0_12v1",
            "body",
            4,
            0,
            ["insert", 7, "dml_0_12v1", [[3, 1, "a"], [4, 2, "b"]]],
        ],
    ),
    (
        TransactionMessage(8, "x", Part.BODY, 4, content=_DELETE),
        ["transaction", 8, "x", "body", 4, 0, ["delete", 8, "dml_0_12v1", -2, [5, 6]]],
    ),
    (TransactionMessage(9, "x", Part.COMMIT, 4), ["transaction", 9, "x", "commit", 4, 0, None]),
    (TransactionMessage(9, "x", Part.ROLLBACK, 4), ["transaction", 9, "x", "rollback", 4, 0, None]),
)
_DAMAGED: tuple[Any, ...] = (
    ["tock", 5],
    ["tick"],
    ["tick", "5"],
    ["insert", 7, "c", 3],
    ["delete", 8, "c", "x", []],
    ["ddl", 9, "c", 4],
    None,
    [],
)
_DAMAGED_PARTS: tuple[Any, ...] = (
    ["transaction", 9, "x", "end", 4, 0, None],
    ["transaction", 9, "x", "body", 4, 0, ["tick", 9]],
    ["transaction", 9, "x", "body", 4, 0, ["ddl", 9, "x", "y"]],
    ["transaction", 9, "x", "body", 4, 0],
    ["transaction", "9", "x", "body", 4, 0, None],
    *_DAMAGED,
)
SCRIPTS: tuple[Script, ...] = ({"forms": "plain"}, {"forms": "transactions"}, {"forms": "derived"})


class FormsProgram(ComparedProgram):
    """Writes and reads each form."""

    async def live(self, process: Process) -> None:
        """Compare all of them."""
        self._done = 0
        self.begun = True
        await process.point("forms")
        match self.script["forms"]:
            case "plain":
                self._all(messages.encode, messages.decode, _FORMS, _DAMAGED)
                for message, _ in _FORMS:
                    text = messages.encode_text(message)
                    self._compare(FORM, text, messages.decode_text(text), message)
                    self._compare(FORM, text, text.count(" "), str(message).count("drop c"))
            case "transactions":
                self._all(transactions.encode_any, transactions.decode_any, _FORMS + _PARTS, _DAMAGED_PARTS)
            case _:
                self._derived()

    def _all(
        self, encode: Callable[[Any], Any], decode: Callable[[Any], Any], forms: Any, damaged: Any
    ) -> None:
        for message, form in forms:
            self._compare(FORM, message, encode(message), form)
            self._compare(FORM, form, decode(form), message)
        for form in damaged:
            try:
                found: object = decode(form)
            except CorruptDataError:
                found = "damaged"
            self._compare(FORM, form, found, "damaged")

    def _derived(self) -> None:
        later = InsertMessage(30, "dml_0_12v1", (Row(30, 3, 1, "a"), Row(30, 4, 2, "b")))
        facts: tuple[tuple[object, object], ...] = (
            (transactions.at(_INSERT, 30), later),
            (transactions.at(_DELETE, 30), DeleteMessage(30, "dml_0_12v1", -2, (5, 6))),
            ([one.number for one, _ in _PARTS], [4, 4, 4, 4, 4]),
            (messages.rows_of(_INSERT), _ROWS),
            (messages.rows_of(_DELETE), (Row(8, -2, 5), Row(8, -2, 6))),
            (messages.physical("dml_0_12v1"), "dml_0"),
            (messages.virtual("dml_0", 12, 1), "dml_0_12v1"),
            (messages.collection_of("dml_0_12v1"), "12"),
            ([messages.is_level_zero(number) for number in (-1, 0, 1)], [True, False, False]),
            ([messages.is_for(_INSERT, one) for one in ("dml_0_12v1", "dml_0_12v0")], [True, False]),
            ([messages.is_for(_DDL, f"dml_1_{one}v1") for one in (12, 1, 2)], [True, False, False]),
        )  # fmt: skip
        for number, (found, due) in enumerate(facts):
            self._compare(SAME, number, found, due)

    def _compare(self, claim: str, what: object, found: object, due: object) -> None:
        self._done += 1
        self.compare(claim, repr(what), found, due)

    # What is looked at.

    def look(self) -> Hashable:
        """How many comparisons were made."""
        return self._done

    def wrong_at_the_end(self) -> str | None:
        """Something was compared."""
        return None if self._done else f"{FORM}: nothing was compared"


def forms() -> FormsProgram:
    """Return the program of all scripts."""
    return FormsProgram(SCRIPTS, timers=0)
