"""Texts on disk that are believed only if they are whole, and of the present format."""

import hashlib
import json
import os
from pathlib import Path


class DamagedError(ValueError):
    """A file that is not whole, or cannot be read."""


class ForeignError(ValueError):
    """A whole file of another format, of another machine or installation, or for something else."""


def write_sealed(path: Path, body: str, *, version: int) -> None:
    """Write one line of text with its checksum. Readers see the old file or the new one. Raises OSError."""
    head = json.dumps({"format": version, "checksum": _checksum(body)})
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        fresh.write_text(f"{head}\n{body}\n", encoding="utf-8")
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def read_sealed(path: Path, *, version: int) -> str | None:
    """The text that was written; None if there is no file.

    Raises DamagedError: it cannot be read, or its checksum is wrong; ForeignError: it has another format.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise DamagedError(f"{path.name}: {error}") from error
    try:
        head, body, *_ = text.split("\n")
        known = json.loads(head)
        found, checksum = known["format"], known["checksum"]
    except (ValueError, KeyError, TypeError) as error:
        raise DamagedError(f"{path.name}: {error}") from error
    if found != version:
        raise ForeignError(f"{path.name}: format {found!r}, not {version}")
    if checksum != _checksum(body):
        raise DamagedError(f"{path.name}: the checksum is wrong")
    return body


def _checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
