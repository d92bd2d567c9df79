"""How the bytes of a file become text: compressed, in UTF-16, in an archive, or through a pipe."""

import bz2
import codecs
import gzip
import json
import lzma
import re
import shutil
import sys
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from typing import IO, Any

import pyarrow as pa

from tidemark.checks.evidence.readers.wrapped import TEXTS

BLOCK = 1 << 22
"""Bytes that are read at once."""

BROKEN = (OSError, EOFError, lzma.LZMAError, zlib.error, tarfile.TarError, zipfile.BadZipFile)
"""What the content of a damaged file raises."""

ZIP = "zip"
_DOCUMENT = re.compile(rb'\s*(?:\[\s*[{\["]|\{\s*"(?:status|data|streams|results?|hits|header|kvs)"\s*:)')

_MAGIC = {
    b"\x1f\x8b": "gz",
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bz2",
    b"\x28\xb5\x2f\xfd": "zst",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
    b"PK\x03\x04": ZIP,
    b"PK\x05\x06": ZIP,
}

_TIMES, _MORE = 250, 64 << 20
"""An archive may hold so many times its own bytes, and so many more: logs shrink to a hundredth at most."""


class _Utf16:
    """A file in UTF-16, read as UTF-8."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")

    def read(self, size: int) -> bytes:
        """The next bytes; none at the end."""
        while data := self._file.read(size):
            if text := self._decoder.decode(data):
                return text.encode("utf-8", "replace")
        return b""

    def close(self) -> None:
        """Close the file."""
        self._file.close()


_OPEN: dict[str, Callable[[Path], Any]] = {
    "": lambda path: path.open("rb"),
    "gz": gzip.open,
    "xz": lzma.open,
    "bz2": bz2.open,
    "zst": lambda path: pa.CompressedInputStream(path.as_posix(), "zstd"),
    "utf-16": _Utf16,
}


def packing(path: Path) -> str:
    """``gz``, ``xz``, ``zip`` and the like, or nothing, from the first bytes."""
    with path.open("rb") as file:
        first = file.read(6)
    return next((name for magic, name in _MAGIC.items() if first.startswith(magic)), "")


def opened(path: Path, packed: str) -> closing[IO[bytes]]:
    """The content of a file, unpacked; a context."""
    return closing(_OPEN[packed](path))


def is_tar(head: bytes) -> bool:
    """Is what begins so an archive of tar?"""
    return head[257:262] == b"ustar"


def is_document(head: bytes) -> bool:
    """Is what begins so one value of JSON with all lines in it, as Grafana and the server of Loki give?"""
    first, _, rest = head.partition(b"\n")
    if _DOCUMENT.match(head) is None:
        return False
    try:
        json.loads(first)
    except ValueError:
        return True  # it goes on in the next line
    return not rest.strip()


def spread(path: Path, packed: str, folder: Path) -> str:
    """Write the lines that a document holds to a file, one object a line; what is wrong, if anything is."""
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with opened(path, packed) as file:
            document = json.loads(file.read())
    except (*BROKEN, ValueError, RecursionError) as error:
        return f"a document of JSON that cannot be read: {error}"
    with (folder / "lines").open("w", encoding="utf-8") as lines:
        lines.writelines(f"{json.dumps(one)}\n" for one in _objects(document))
    return ""


def _objects(value: object) -> Iterator[dict[str, object]]:
    """The objects that have a line each; a stream of Loki has many lines for one set of labels."""
    if isinstance(value, dict) and isinstance(value.get("kvs"), list):
        yield value
    elif isinstance(value, dict) and isinstance(value.get("values"), list):
        yield from ({**value, "values": None, "line": text} for _, text, *_ in value["values"])
    elif isinstance(value, dict) and any(isinstance(value.get(name), str) for name in TEXTS):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _objects(one)


def unpack(path: Path, packed: str, folder: Path) -> str:
    """Write the files of an archive below a folder; what is wrong with it, empty if nothing is.

    Links, devices and what leaves the folder are passed over. What a damaged archive holds before the damage
    is kept, but for a file that is not whole.
    """
    folder.mkdir(parents=True, exist_ok=True)
    size = path.stat().st_size
    left = min(size * _TIMES + _MORE, shutil.disk_usage(folder).free // 2)
    place: Path | None = None
    try:
        for name, content in _of_zip(path) if packed == ZIP else _of_tar(path, packed):
            place = _place(folder, name)
            with content, place.open("wb") as file:
                while data := content.read(BLOCK):
                    left -= len(data)
                    if left < 0:
                        break
                    file.write(data)
            if left < 0:
                shutil.rmtree(folder)
                return f"an archive that unpacks to more than {_TIMES} times its {size:,} bytes: not read"
            place = None
    except (*BROKEN, RuntimeError) as error:  # a member that is encrypted is a RuntimeError
        if place is not None:
            place.unlink(missing_ok=True)
        return f"the rest of the archive cannot be read: {error}"
    return ""


def _of_zip(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if not member.is_dir():
                yield member.filename, archive.open(member)


def _of_tar(path: Path, packed: str) -> Iterator[tuple[str, IO[bytes]]]:
    with opened(path, packed) as file, tarfile.open(fileobj=file, mode="r|") as archive:
        for member in archive:
            content = archive.extractfile(member) if member.isfile() else None
            if content is not None:
                yield member.name, content


def _place(folder: Path, name: str) -> Path:
    """Where a member comes to be: below the folder, and not where another one is."""
    parts = [part for part in PurePosixPath(name.replace("\\", "/")).parts if part not in ("/", "..")]
    place = folder.joinpath(*parts)
    while place.exists():
        place = place.with_name(f"{place.name}~")
    place.parent.mkdir(parents=True, exist_ok=True)
    return place


def piped(path: Path, folder: Path) -> Path:
    """A file with what comes through a pipe, or, for ``-``, from standard input."""
    place = folder / "stdin"
    folder.mkdir(parents=True, exist_ok=True)
    with path.open("rb") if path.is_fifo() else sys.stdin.buffer as source, place.open("wb") as file:
        shutil.copyfileobj(source, file)
    return place
