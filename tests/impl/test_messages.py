"""Messages of a log: their form as JSON, which logs of earlier releases have, and what is derived of them."""

import pytest

from tidemark.impl.errors import CorruptDataError
from tidemark.impl.streaming.transaction_messages import Part, TransactionMessage, at, decode_any, encode_any
from tidemark.impl.types import Row
from tidemark.impl.values.messages import (
    DdlMessage,
    DeleteMessage,
    InsertMessage,
    Tick,
    collection_of,
    decode,
    decode_text,
    encode,
    encode_text,
    is_for,
    is_level_zero,
    physical,
    rows_of,
    virtual,
)

INSERT = InsertMessage(7, "dml_0_12v1", (Row(7, 3, 1, "a"), Row(7, 4, 2, "b")))
DELETE = DeleteMessage(8, "dml_0_12v1", -2, (5, 6))
DDL = DdlMessage(9, "dml_1_12v0", "drop c")
PLAIN = [
    (Tick(5), ["tick", 5]),
    (INSERT, ["insert", 7, "dml_0_12v1", [[3, 1, "a"], [4, 2, "b"]]]),
    (DELETE, ["delete", 8, "dml_0_12v1", -2, [5, 6]]),
    (DDL, ["ddl", 9, "dml_1_12v0", "drop c"]),
]
OF_TRANSACTIONS = [
    (TransactionMessage(4, "x", Part.BEGIN, until=20), ["transaction", 4, "x", "begin", 0, 20, None]),
    (
        TransactionMessage(7, "x", Part.BODY, 4, content=INSERT),
        ["transaction", 7, "x", "body", 4, 0, encode(INSERT)],
    ),
    (
        TransactionMessage(8, "x", Part.BODY, 4, content=DELETE),
        ["transaction", 8, "x", "body", 4, 0, encode(DELETE)],
    ),
    (TransactionMessage(9, "x", Part.COMMIT, 4), ["transaction", 9, "x", "commit", 4, 0, None]),
    (TransactionMessage(9, "x", Part.ROLLBACK, 4), ["transaction", 9, "x", "rollback", 4, 0, None]),
]
DAMAGED = [
    ["tock", 5],
    ["tick"],
    ["tick", "5"],
    ["insert", 7, "c", 3],
    ["delete", 8, "c", "x", []],
    ["ddl", 9, "c", 4],
    None,
    [],
]
DAMAGED_TRANSACTIONS = [
    ["transaction", 9, "x", "end", 4, 0, None],
    ["transaction", 9, "x", "body", 4, 0, ["tick", 9]],
    ["transaction", 9, "x", "body", 4, 0, ["ddl", 9, "x", "y"]],
    ["transaction", 9, "x", "body", 4, 0],
    ["transaction", "9", "x", "body", 4, 0, None],
]


@pytest.mark.parametrize(("message", "form"), PLAIN)
def test_a_message_has_one_form_in_a_log(message, form):
    assert (encode(message), decode(form)) == (form, message)
    text = encode_text(message)
    assert decode_text(text) == message
    assert text.count(" ") == str(form).count("drop c")  # no space between its parts


@pytest.mark.parametrize(("message", "form"), [*PLAIN, *OF_TRANSACTIONS])
def test_a_message_has_one_form_in_the_log_of_a_streaming_node(message, form):
    assert (encode_any(message), decode_any(form)) == (form, message)


@pytest.mark.parametrize(
    ("read", "form"),
    [(decode, form) for form in DAMAGED] + [(decode_any, form) for form in DAMAGED + DAMAGED_TRANSACTIONS],
)
def test_damage_is_no_message(read, form):
    with pytest.raises(CorruptDataError, match="restore the log"):
        read(form)


def test_what_is_derived_of_a_message():
    assert at(INSERT, 30) == InsertMessage(30, "dml_0_12v1", (Row(30, 3, 1, "a"), Row(30, 4, 2, "b")))
    assert at(DELETE, 30) == DeleteMessage(30, "dml_0_12v1", -2, (5, 6))
    assert {message.number for message, _ in OF_TRANSACTIONS} == {4}
    assert rows_of(INSERT) == INSERT.rows
    assert rows_of(DELETE) == (Row(8, -2, 5), Row(8, -2, 6))
    assert [is_for(INSERT, channel) for channel in ("dml_0_12v1", "dml_0_12v0")] == [True, False]
    found = [is_for(DDL, channel) for channel in ("dml_1_12v1", "dml_1_1v1", "dml_1_2v1")]
    assert found == [True, False, False]


def test_the_name_of_a_channel_says_where_it_lies_and_of_which_collection_it_is():
    assert virtual("dml_0", 12, 1) == "dml_0_12v1"
    assert physical("dml_0_12v1") == "dml_0"
    assert collection_of("dml_0_12v1") == "12"
    assert [is_level_zero(segment) for segment in (-1, 0, 1)] == [True, False, False]
