"""Writing the file of pins."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tidemark.models.manifest import Pin

_HEAD = """# What {name} says: each claim and each step as it was reviewed, with the digest of its tree.
# Written by  tidemark pin {name} . The gate compares it; a change here is a change of what is claimed.
"""


def pins_text(name: str, pins: Iterable[Pin]) -> str:
    """The content of the file of the protocol ``name``."""
    return "\n".join([_HEAD.format(name=name), *map(_entry, pins)])


def write_pins(path: Path, name: str, pins: Iterable[Pin]) -> None:
    """Write the file whole or not at all. Raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        draft.write_text(pins_text(name, pins), encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _entry(pin: Pin) -> str:
    if "'''" in pin.text:
        raise ValueError(f"{pin.id}: a text with ''' cannot be written")
    return f"[[pin]]\nid = \"{pin.id}\"\ndigest = \"{pin.digest}\"\ntext = '''\n{pin.text}'''\n"
