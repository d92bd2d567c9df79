"""Replay tokens of specification runs: which instance, which property, which steps.

``run1.<base64 of a compressed list>.<check sum>``: fits on a command line, and a damaged one is noticed.
"""

from __future__ import annotations

import base64
import binascii
import json
import zlib
from dataclasses import dataclass

from tidemark.checks.verdicts.errors import BadInputError

PREFIX = "run1"


@dataclass(frozen=True)
class RunToken:
    """A run of a manifest instance: numbers of its initial state and steps, as the interpreter lists them.

    ``loop_start``: for a run that ends in a cycle, the number of the state to which its end leads back.
    """

    instance: str
    property_id: str
    initial: int
    steps: tuple[int, ...]
    loop_start: int | None = None

    def text(self) -> str:
        """The token."""
        content = [self.instance, self.property_id, self.initial, list(self.steps)]
        content += [] if self.loop_start is None else [self.loop_start]
        packed = zlib.compress(json.dumps(content, separators=(",", ":")).encode(), level=9)
        body = base64.urlsafe_b64encode(packed).decode().rstrip("=")
        return f"{PREFIX}.{body}.{zlib.crc32(body.encode()):08x}"


def is_run_token(text: str) -> bool:
    """Does it look like a token of this kind?"""
    return text.startswith(PREFIX + ".")


def parse_token(text: str) -> RunToken:
    """Read a token back. Raises BadInputError if it was cut or changed."""
    parts = text.strip().split(".")
    if len(parts) != 3 or parts[0] != PREFIX:
        raise _corrupt(text, "it does not have three parts")
    _, body, check = parts
    if f"{zlib.crc32(body.encode()):08x}" != check:
        raise _corrupt(text, "its check sum does not fit")
    try:
        packed = base64.urlsafe_b64decode(body + "=" * (-len(body) % 4))
        instance, property_id, initial, steps, *loop = json.loads(zlib.decompress(packed))
        return RunToken(
            str(instance), str(property_id), int(initial), tuple(int(step) for step in steps), *map(int, loop)
        )
    except (ValueError, TypeError, binascii.Error, zlib.error) as error:
        raise _corrupt(text, str(error)) from error


def _corrupt(text: str, why: str) -> BadInputError:
    shown = text if len(text) <= 40 else text[:37] + "..."
    return BadInputError(
        f"corrupt replay token {shown!r}: {why}",
        remedy="copy the whole token from the failure (replay.txt in its bundle)",
    )
