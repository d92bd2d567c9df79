"""The wire format of protocol buffers, as far as the store's values and the broker's messages need it."""

from collections.abc import Iterator

Value = int | bytes


class WireError(ValueError):
    """Bytes that are no message."""


def _varint(data: bytes, at: int) -> tuple[int, int]:
    shift = value = 0
    while True:
        if at >= len(data) or shift > 63:
            raise WireError(f"a number is cut off at byte {at}")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def wire(data: bytes) -> Iterator[tuple[int, Value]]:
    """Field number and value of each field. Raises WireError."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, form = tag >> 3, tag & 7
        if form == 0:
            value, at = _varint(data, at)
            yield number, value
            continue
        if form == 2:
            size, at = _varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(form, -1)
        if number == 0 or size < 0 or at + size > len(data):
            raise WireError(f"no field at byte {at}")
        piece = data[at : at + size]
        yield number, piece if form == 2 else int.from_bytes(piece, "little")
        at += size


def message(data: bytes) -> dict[int, Value]:
    """Field number -> its last value, as the format has it. Raises WireError."""
    return dict(wire(data))


def number(found: dict[int, Value], place: int) -> int:
    """A number; 0 if it is not there, which is how the format writes 0."""
    value = found.get(place, 0)
    return value if isinstance(value, int) else 0


def piece(found: dict[int, Value], place: int) -> bytes:
    """Bytes, a text or a message; empty if it is not there."""
    value = found.get(place, b"")
    return value if isinstance(value, bytes) else b""


def text(found: dict[int, Value], place: int) -> str:
    """A text."""
    return piece(found, place).decode("utf-8", "replace")


def message_id(raw: bytes) -> int | None:
    """The broker's id of a position: eight bytes, little end first (RocksMQ, Kafka); else None."""
    return int.from_bytes(raw, "little", signed=True) if len(raw) == 8 else None
