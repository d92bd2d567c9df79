"""The wire format of protocol buffers without their schema: just enough for the headers of messages."""

Fields = dict[int, list[int | bytes]]
_FIXED = {1: 8, 5: 4}


def fields(data: bytes) -> Fields:
    """The values of each field number, in order; raise ValueError if ``data`` is no message."""
    found: Fields = {}
    at = 0
    while at < len(data):
        tag, at = _number(data, at)
        kind = tag & 7
        value: int | bytes
        if kind == 0:
            value, at = _number(data, at)
        elif kind == 2 or kind in _FIXED:
            size, at = _number(data, at) if kind == 2 else (_FIXED[kind], at)
            if at + size > len(data):
                raise ValueError(f"a field of {size} bytes is cut off")
            value, at = data[at : at + size], at + size
        else:
            raise ValueError(f"wire type {kind} is not used by the server")
        found.setdefault(tag >> 3, []).append(value)
    return found


def integer(found: Fields, number: int) -> int:
    """The last value of a field as a number; 0 if it is left out, as the format says."""
    values = [value for value in found.get(number, []) if isinstance(value, int)]
    return values[-1] if values else 0


def text(found: Fields, number: int) -> str:
    """The last value of a field as text; empty if it is left out."""
    return part(found, number).decode("utf-8", "replace")


def part(found: Fields, number: int) -> bytes:
    """The last value of a field as bytes; empty if it is left out."""
    values = [value for value in found.get(number, []) if isinstance(value, bytes)]
    return values[-1] if values else b""


def _number(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data):
            raise ValueError("a number is cut off")
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
