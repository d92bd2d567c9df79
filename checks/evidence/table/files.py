"""Which files are evidence, of which sort, and what is wrong with the others. The content decides."""

from __future__ import annotations

import gzip
import hashlib
import json
import lzma
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import IO

from tidemark.checks.evidence.readers.broker import is_rocksdb
from tidemark.checks.evidence.readers.lines import kind_of
from tidemark.checks.evidence.readers.log import HEAD

_HEAD_BYTES = 1 << 17
BLOCK = 1 << 22
"""Bytes that are read at once."""

_MAGIC = {b"\x1f\x8b": "gz", b"\xfd7zXZ\x00": "xz"}

_OTHERS = {"data_diff": "milvus-cdc", "coprocessor": "TiKV", "raftstore": "TiKV", "etcdserver": "etcd"}
"""Folders of sources of other products that write lines in the format of Milvus."""


class Sort(StrEnum):
    """What a file is."""

    LOG = "log"
    LINES = "lines"
    """One JSON object a line: store, broker, clients, traces."""
    ROCKSMQ = "rocksmq"
    ITF = "itf"
    """A run of a specification, as another tool writes it."""
    NOTES = "notes"
    """Says what was done to the system; no evidence by itself."""
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file (or the folder of a broker)."""

    path: Path
    name: str
    """How it is shown: relative to what was given."""
    sort: Sort
    packed: str = ""
    """``gz`` or ``xz``."""
    size: int = 0
    problem: str = ""
    """Why it is not judged, or not all of it."""


def find(paths: Sequence[Path]) -> list[Source]:
    """All files at and below the paths, in order of their names, duplicates marked.

    Raises FileNotFoundError if a path does not exist.
    """
    found: list[Source] = []
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(path)
        below = sorted(_below(path), key=lambda item: item.as_posix())
        found += [recognise(item, name=_name(item, path, paths)) for item in below]
    return _without_duplicates(found)


def _below(path: Path) -> Iterator[Path]:
    if path.is_file() or is_rocksdb(path):
        yield path
        return
    for item in path.iterdir():
        if not item.name.startswith("."):
            yield from _below(item)


def _name(item: Path, given: Path, paths: Sequence[Path]) -> str:
    if item == given:
        return item.name
    short = item.relative_to(given).as_posix()
    return short if len(paths) == 1 else f"{given.name}/{short}"


def recognise(path: Path, *, name: str) -> Source:
    """What a file is, from its first bytes."""
    if path.is_dir():
        return Source(path=path, name=name, sort=Sort.ROCKSMQ)
    size = path.stat().st_size
    plain = Source(path=path, name=name, sort=Sort.NONE, size=size)
    if not size:
        return replace(plain, problem="the file is empty")
    try:
        packed = packing(path)
        with opened(path, packed) as file:
            head = file.read(_HEAD_BYTES)
    except (OSError, EOFError, lzma.LZMAError) as error:
        return replace(plain, problem=f"the file cannot be read: {error}")
    plain = replace(plain, packed=packed)
    if not head.strip():
        return replace(plain, problem="the file is empty")
    sort, problem = _sort(head, whole=size <= len(head) or bool(packed))
    return replace(plain, sort=sort, problem=problem)


def packing(path: Path) -> str:
    """``gz``, ``xz`` or nothing, from the first bytes."""
    with path.open("rb") as file:
        first = file.read(6)
    return next((name for magic, name in _MAGIC.items() if first.startswith(magic)), "")


@contextmanager
def opened(path: Path, packed: str) -> Iterator[IO[bytes]]:
    """The content of a file, unpacked."""
    if packed == "gz":
        with gzip.open(path, "rb") as zipped:
            yield zipped  # type: ignore[misc] # what typeshed calls it is no IO, though it reads alike
    elif packed == "xz":
        with lzma.open(path, "rb") as zipped:
            yield zipped
    else:
        with path.open("rb") as file:
            yield file


def _sort(head: bytes, *, whole: bool) -> tuple[Sort, str]:
    lines = head.split(b"\n")
    writers = _writers(lines)
    if writers:
        if writers.keys() <= _OTHERS.keys():
            products = ", ".join(sorted({_OTHERS[name] for name in writers}))
            return Sort.NONE, f"a log in the format of Milvus, but of another product: {products}"
        return Sort.LOG, ""
    found = _json_sort(lines, head, whole=whole)
    if found is not None:
        return found
    if b"\x00" in head or _odd(head) > len(head) // 10:
        return Sort.NONE, "a binary file, no evidence that can be read"
    return Sort.NONE, "not a log of Milvus: no line begins with [2006/01/02 15:04:05.000 +00:00] [LEVEL]"


def _writers(lines: Iterable[bytes]) -> Counter[str]:
    """Folders of the sources that have written the lines (old versions: the file's name), with how many."""
    heads = (HEAD.search(line, 0, 1000) for line in lines)
    callers = (found[3].decode("utf-8", "replace") for found in heads if found)
    return Counter(name.partition(":")[0].partition("/")[0] for name in callers)


def writers(source: Source) -> Counter[str]:
    """Who has written the first lines of a log, with how many each; folders of Milvus's sources."""
    with opened(source.path, source.packed) as file:
        return _writers(file.read(_HEAD_BYTES).split(b"\n"))


def _odd(head: bytes) -> int:
    """How many bytes no text has."""
    return sum(head.count(bytes([code])) for code in (*range(9), *range(14, 27), *range(28, 32)))


def _json_sort(lines: Sequence[bytes], head: bytes, *, whole: bool) -> tuple[Sort, str] | None:
    for line in lines[:50]:
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if kind_of(entry) is not None:
            return Sort.LINES, ""
    try:
        document = json.loads(head) if whole else None
    except ValueError:
        document = None
    if b'"states"' in head and (document is None or (isinstance(document, dict) and "states" in document)):
        return Sort.ITF, ""
    if isinstance(document, dict):
        if "scenario" in document or {"name", "seed"} <= document.keys():
            return Sort.NOTES, ""
        return Sort.NONE, "JSON, but no evidence: no line has a known kind (etcd, broker, op, trace)"
    return None


def _without_duplicates(found: list[Source]) -> list[Source]:
    """Mark a file whose content another one has already."""
    same: dict[tuple[Sort, bytes], list[Source]] = {}
    for source in found:
        if source.sort in (Sort.LOG, Sort.LINES, Sort.ITF):
            same.setdefault((source.sort, _digest(source, limit=1 << 16)), []).append(source)
    drop: dict[Path, str] = {}
    for group in same.values():
        seen: dict[bytes, str] = {}
        for source in group if len(group) > 1 else ():
            first = seen.setdefault(_digest(source), source.name)
            if first != source.name:
                drop[source.path] = f"the same content as {first}; read once"
    return [
        replace(source, sort=Sort.NONE, problem=drop[source.path]) if source.path in drop else source
        for source in found
    ]


def _digest(source: Source, *, limit: int | None = None) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    try:
        with opened(source.path, source.packed) as file:
            if limit is not None:
                digest.update(file.read(limit))
            else:
                while piece := file.read(BLOCK):
                    digest.update(piece)
    except (OSError, EOFError, lzma.LZMAError):
        digest.update(source.path.as_posix().encode())
    return digest.digest()


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Whole lines of a file: the unit of work. An unfinished last line belongs to no piece."""

    path: str
    name: str
    sort: str
    packed: str = ""
    start: int = 0
    end: int = -1
    """Byte after the last; -1 for all there is (packed files cannot be entered in the middle)."""
    first_line: int = 1
    size: int = 0
    """About how many bytes it has, unpacked."""


UNPACKED = 12
"""How many times as large a packed log is, about."""


def pieces(sources: Iterable[Source], *, size: int = 0) -> Iterator[Piece]:
    """The readable sources, cut at ends of lines into pieces of about ``size`` bytes; 0 cuts nothing.

    A piece ends where a new line begins; to say at which line the next one begins, its lines are counted,
    which is much faster than to read them.
    """
    for source in sources:
        if source.sort in (Sort.LOG, Sort.LINES, Sort.ROCKSMQ):
            whole = Piece(
                path=str(source.path.resolve()),
                name=source.name,
                sort=source.sort.value,
                packed=source.packed,
                size=source.size * (UNPACKED if source.packed else 1),
            )
            if source.packed or source.sort is Sort.ROCKSMQ or not size:
                yield whole
            else:
                yield from _cut(source.path, whole, size)


def _cut(path: Path, whole: Piece, size: int) -> Iterator[Piece]:
    buffer = bytearray(min(size, 1 << 20))  # so small that it stays in the cache of the core
    window = memoryview(buffer)
    start, line = 0, 1
    with path.open("rb", buffering=0) as file:
        length = path.stat().st_size
        while start < length:
            end, lines = start, 0
            file.seek(start)
            while count := file.readinto(window[: start + size - end]):
                lines += buffer.count(b"\n", 0, count)
                end += count
            file.seek(end - 1)
            tail = _rest_of_line(file)
            end += max(0, len(tail) - 1)
            lines += tail[1:].count(b"\n")
            last = end if tail.endswith(b"\n") else _last_end(file, start, end)
            if last > start:
                yield replace(whole, start=start, end=last, first_line=line, size=last - start)
            line += lines
            start = end


def _rest_of_line(file: IO[bytes]) -> bytes:
    """From here to the end of the line, with it."""
    found = b""
    while data := file.read(1 << 16):
        head, mark, _ = data.partition(b"\n")
        found += head + mark
        if mark:
            break
    return found


def _last_end(file: IO[bytes], start: int, end: int) -> int:
    """The place after the last end of a line between two places; the first of them if there is none."""
    while end > start:
        begin = max(start, end - (1 << 16))
        file.seek(begin)
        place = file.read(end - begin).rfind(b"\n")
        if place >= 0:
            return begin + place + 1
        end = begin
    return start
