"""Immutable files of packed states: the durable side of a distributed search.

Layout: magic, length and CRC-32 of the header, the header (JSON, padded with spaces so that the states
start at a multiple of 64 bytes), then the states as little-endian 64-bit words. A file is written under a
temporary name and renamed, so that a reader sees a whole file or none, and a task that runs twice puts the
same content in the same place again.
"""

import json
import mmap
import os
import struct
import uuid
import zlib
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tidemark.checks.spark.states.packed_states import PackedStates
from tidemark.checks.verdicts.errors import BadInputError

MAGIC = b"TIDERUN1"
_FIXED = struct.Struct("<8sII")
_ALIGN = 64


class CorruptFileError(BadInputError):
    """A file of a run directory whose content is not what was written."""

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(
            f"{path} is corrupt: {reason}",
            remedy="resume from an earlier round, or start a new search in an empty directory",
        )
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[Any, ...]:
        """Travels from an executor to the driver by its arguments."""
        return CorruptFileError, (self.path, self.reason)


@dataclass(frozen=True, kw_only=True)
class Header:
    """What a file holds: the states that partition ``partition`` owns of the rounds ``first`` .. ``last``.

    ``run`` is the digest of the run (protocol, instance, partitions), ``facts`` what the round found out,
    exactly once for each (round, partition): see ``search.facts``.
    """

    run: str
    first: int
    last: int
    partition: int
    words: int
    states: int
    checksum: int
    """CRC-32 of the states."""
    facts: dict[str, Any] = field(default_factory=dict)


def write(path: Path, block: PackedStates, header: Callable[[int], Header]) -> Header:
    """Write a file; ``header`` makes the header from the checksum of the states."""
    data = np.ascontiguousarray(block, dtype="<u8")
    head = header(zlib.crc32(data.data.cast("B") if data.size else b""))
    text = json.dumps(asdict(head), sort_keys=True, separators=(",", ":")).encode()
    text += b" " * (-(len(text) + _FIXED.size) % _ALIGN)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{uuid.uuid4().hex[:8]}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(_FIXED.pack(MAGIC, len(text), zlib.crc32(text)))
            file.write(text)
            file.write(data.data)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return head


def read_header(path: Path) -> Header:
    """The header alone. Raises CorruptFileError, FileNotFoundError."""
    with path.open("rb") as file:
        return _header(path, file.read(_FIXED.size), file.read)[0]


def _header(path: Path, fixed: bytes, read: Callable[[int], bytes]) -> tuple[Header, int]:
    if len(fixed) < _FIXED.size:
        raise CorruptFileError(path, f"it ends after {len(fixed)} bytes")
    magic, length, checksum = _FIXED.unpack(fixed)
    if magic != MAGIC:
        raise CorruptFileError(path, f"it begins with {magic!r}, not {MAGIC!r}")
    text = read(length)
    if len(text) != length or zlib.crc32(text) != checksum:
        raise CorruptFileError(path, "its header does not match the header's checksum")
    return Header(**json.loads(text)), _FIXED.size + length


def read(path: Path) -> tuple[Header, PackedStates]:
    """Header and states, checked against the checksum. The states are mapped, not copied: do not write to
    them.

    Raises CorruptFileError, FileNotFoundError.
    """
    with path.open("rb") as file:
        size = os.fstat(file.fileno()).st_size
        if size == 0:
            raise CorruptFileError(path, "it is empty")
        # A private writable mapping: numba compiles only once, as for an ordinary array.
        view = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
        header, start = _header(
            path, view[: _FIXED.size], lambda length: view[_FIXED.size : _FIXED.size + length]
        )
    wanted = header.states * header.words * 8
    if size - start != wanted:
        raise CorruptFileError(path, f"it has {size - start} bytes of states instead of {wanted}")
    block = np.frombuffer(view, dtype="<u8", offset=start) if wanted else np.empty(0, dtype="<u8")
    if zlib.crc32(block.data.cast("B") if wanted else b"") != header.checksum:
        raise CorruptFileError(path, "its states do not match the checksum")
    return header, block.reshape(header.states, header.words)
