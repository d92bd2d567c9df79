"""Replay tokens: one execution as a short text that can be pasted into a command line.

A token holds a version, a digest of the program reference, the picks, one byte a step that represents the
enabled events there, and a checksum. It does not hold the program.
"""

import base64
import binascii
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from tidemark.checks.interleave.errors import CorruptTokenError, WrongProgramError
from tidemark.checks.interleave.executions.record import Step
from tidemark.checks.interleave.executions.replay import fingerprint

PREFIX = "tm1-"
_DIGEST = 4
_CHECKSUM = 4
_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Token:
    """The content of a replay token."""

    program: str
    picks: tuple[int, ...]
    fingerprints: tuple[int, ...]

    def check_program(self, digest: str, name: str) -> None:
        """Refuse to replay with another program. Raises WrongProgramError: the digests differ."""
        if self.program != digest:
            raise WrongProgramError(
                f"the token belongs to program {self.program}, not to {name} ({digest})",
                remedy="name the program and the arguments with which the token was recorded",
            )


def encode(program_digest: str, trace: Sequence[Step]) -> str:
    """Return the token of a recorded execution.

    ``program_digest``: eight hexadecimal digits, ``ProgramRef.digest``.
    """
    body = bytearray(bytes.fromhex(program_digest))
    _put(body, len(trace))
    for step in trace:
        _put(body, step.pick)
    body += bytes(fingerprint(step.enabled) for step in trace)
    body += zlib.crc32(bytes(body)).to_bytes(_CHECKSUM, "big")
    return PREFIX + _pack(zlib.compress(bytes(body), 9))


def decode(token: str) -> Token:
    """Read a token. Raises CorruptTokenError: it is damaged, cut short or of another version."""
    text = "".join(token.split())
    if not text.startswith(PREFIX):
        raise CorruptTokenError(
            f"replay token {_shown(text)} does not begin with {PREFIX!r}: no token, or of another version",
            remedy="copy the whole token, and use the version of the tool that made it",
        )
    try:
        return _parse(_unpack(text[len(PREFIX) :]))
    except (binascii.Error, zlib.error, ValueError, IndexError) as error:
        raise CorruptTokenError(
            f"replay token {_shown(text)} is damaged: {error}", remedy="copy the whole token again, unchanged"
        ) from error


def _unpack(text: str) -> bytes:
    packed = base64.b64decode((text + "=" * (-len(text) % 4)).encode(), altchars=b"-_", validate=True)
    if _pack(packed) != text:
        raise ValueError("the last character is impossible")
    reader = zlib.decompressobj()
    body = reader.decompress(packed, _LARGEST)
    if not reader.eof or reader.unused_data:
        raise ValueError("it is cut short or continued")
    return body


def _pack(packed: bytes) -> str:
    return base64.urlsafe_b64encode(packed).decode().rstrip("=")


def _parse(body: bytes) -> Token:
    content, checksum = body[:-_CHECKSUM], body[-_CHECKSUM:]
    if len(body) <= _DIGEST + _CHECKSUM or zlib.crc32(content).to_bytes(_CHECKSUM, "big") != checksum:
        raise ValueError("the checksum is wrong")
    count, place = _take(content, _DIGEST)
    picks = []
    for _ in range(count):
        pick, place = _take(content, place)
        picks.append(pick)
    marks = tuple(content[place:])
    if len(marks) != count:
        raise ValueError(f"{count} steps, but {len(marks)} fingerprints")
    return Token(content[:_DIGEST].hex(), tuple(picks), marks)


def _put(body: bytearray, number: int) -> None:
    while number > 0x7F:
        body.append(number & 0x7F | 0x80)
        number >>= 7
    body.append(number)


def _take(content: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = content[place]
        place += 1
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return number, place


def _shown(text: str) -> str:
    return repr(text if len(text) <= 24 else f"{text[:20]}...")
