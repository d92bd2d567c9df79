"""Which files are evidence, of which sort, and what is wrong with the others. The content decides."""

import hashlib
import json
import os
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import IO

from tidemark.checks.evidence.readers.broker import is_rocksdb
from tidemark.checks.evidence.readers.checkers import client_lines
from tidemark.checks.evidence.readers.lines import DAMAGED, kind_of
from tidemark.checks.evidence.readers.log import HEAD
from tidemark.checks.evidence.readers.wrapped import START, csv_header, unwrapped
from tidemark.checks.evidence.symptoms import symptom_in
from tidemark.checks.evidence.table.packing import (
    BLOCK,
    BROKEN,
    ZIP,
    is_document,
    is_tar,
    opened,
    packing,
    spread,
    unpack,
)

_HEAD_BYTES = 1 << 17

_OTHERS = {"data_diff": "milvus-cdc", "coprocessor": "TiKV", "raftstore": "TiKV", "etcdserver": "etcd"}
"""Folders of sources of other products that write lines in the format of Milvus."""

_SYSTEMS = {
    "etcd": rb'"caller":"(?:etcd\w*|embed|membership|mvcc|raft\w*|v3rpc)/|[IWE] \| (?:etcd|raft|embed)',
    "MinIO": rb"MinIO Object Storage|minio/cmd|^API: \w+\(",
    "Pulsar": rb"org\.apache\.(?:pulsar|bookkeeper|zookeeper)|pulsar-\w+-\d",
    "Kafka": rb"\((?:org\.apache\.)?kafka\.[\w.$]+\)",
    "Woodpecker": rb'"caller":"[^"]*woodpecker',
}
"""Systems whose logs lie beside those of Milvus, with what only they write."""
_HISTORIES = {
    "Jepsen, Elle, Knossos or Porcupine (EDN)": rb"\{:(?:type|process|f|index|time|value) ",
    "Jepsen (text)": rb"jepsen\.\w+ - |^(?:INFO )?\d+\s+:(?:invoke|ok|fail|info)\s",
    "Jepsen (JSON)": rb'"type"\s*:\s*":?(?:invoke|ok|fail|info)"',
    "Porcupine (JSON)": rb'"(?:ClientId|Call|Return)"\s*:.*"(?:Call|Return|Input|Output)"\s*:',
}
"""Histories of other checkers, with how they are known."""
_FORMAT = (
    '{"kind":"op","v":1,"client":"w1","process":"p0","seq":0,"op":"insert","collection":"c","start":1,"end":2,'
    '"outcome":"ok","keys":[[1,10]]}'
)
_DUMP = re.compile(rb'\s*\{\s*"header"\s*:\s*\{[^{}]*\}\s*,\s*"kvs"\s*:\s*\[')
"""How a dump of etcd begins, in one long line."""
_NESTED = 3
"""An archive may lie in so many others."""


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
    OTHER = "other"
    """A log of another system, which may well lie beside those of Milvus."""
    ARCHIVE = "archive"
    DOCUMENT = "document"
    """All lines in one value of JSON."""
    HISTORY = "history"
    """Of another checker: what has a counterpart becomes operations of clients."""
    NONE = "none"


@dataclass(frozen=True, kw_only=True)
class Source:
    """A file (or the folder of a broker)."""

    path: Path
    name: str
    """How it is shown: relative to what was given."""
    sort: Sort
    packed: str = ""
    """``gz``, ``xz`` and the like; of an archive also ``zip``."""
    header: str = ""
    """The first line of a table in CSV."""
    size: int = 0
    problem: str = ""
    """Why it is not judged, or not all of it."""


def find(paths: Sequence[Path], *, unpacked: Path | None = None) -> list[Source]:
    """All files at and below the paths, in order of their names, duplicates marked.

    ``unpacked`` is a folder for the content of archives, which is emptied before; without it they are no
    evidence. Raises FileNotFoundError if a path does not exist.
    """
    if unpacked is not None and unpacked.exists():
        shutil.rmtree(unpacked)
    found: list[Source] = []
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(path)
        for item in sorted(_below(path), key=Path.as_posix):
            found += _unpacked(recognise(item, name=_name(item, path, paths)), unpacked)
    return _without_duplicates(found)


def _below(path: Path) -> Iterator[Path]:
    """The files of a folder and the folders in it; what is neither file nor folder is passed over."""
    if path.is_file() or is_rocksdb(path):
        yield path
        return
    seen: set[str] = set()
    for folder, below, files in os.walk(path, followlinks=True):
        here, real = Path(folder), os.path.realpath(folder)
        inner = [] if real in seen else [name for name in below if not name.startswith(".")]
        below[:] = [name for name in inner if not is_rocksdb(here / name)]
        yield from (here / name for name in inner if name not in below)
        if real not in seen:
            yield from (here / name for name in files if not name.startswith(".") and (here / name).is_file())
        seen.add(real)


def _unpacked(source: Source, folder: Path | None, depth: int = 0) -> Iterator[Source]:
    """A source, or what an archive holds."""
    if source.sort not in (Sort.ARCHIVE, Sort.DOCUMENT, Sort.HISTORY):
        yield source
        return
    if folder is None or depth == _NESTED:
        yield replace(source, sort=Sort.NONE, problem="an archive, which is not unpacked here: unpack it")
        return
    place = folder / f"{len(list(folder.glob('*')))}"
    if source.sort is Sort.HISTORY:
        yield _converted(source, place)
    elif problem := (unpack if source.sort is Sort.ARCHIVE else spread)(source.path, source.packed, place):
        yield replace(source, sort=Sort.NONE, problem=problem)
    for item in sorted(_below(place), key=Path.as_posix) if place.exists() else ():
        name = f"{source.name}/{item.relative_to(place).as_posix()}"
        yield from _unpacked(recognise(item, name=name), folder, depth + 1)


def _converted(source: Source, place: Path) -> Source:
    """Write what has a counterpart of a history of another checker below a folder; what became of it."""
    try:
        with opened(source.path, source.packed) as file:
            lines, said = client_lines(file.read().decode("utf-8-sig"), source.name)
    except (*BROKEN, *DAMAGED, RecursionError) as error:
        told = f"{source.problem}: {error}; write one operation a line, as {_FORMAT}"
        return replace(source, sort=Sort.NONE, problem=told)
    place.mkdir(parents=True)
    with (place / "lines").open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(line)}\n" for line in lines)
    return replace(source, sort=Sort.OTHER, problem=f"{source.problem}: {said}")


def _name(item: Path, given: Path, paths: Sequence[Path]) -> str:
    if item == given:
        return item.name
    short = item.relative_to(given).as_posix()
    return short if len(paths) == 1 else f"{given.name}/{short}"


def recognise(path: Path, *, name: str) -> Source:
    """What a file is, from its first bytes."""
    if path.is_dir():
        return Source(path=path, name=name, sort=Sort.ROCKSMQ)
    plain = Source(path=path, name=name, sort=Sort.NONE)
    try:
        plain = replace(plain, size=path.stat().st_size, packed=packing(path))
        if plain.packed == ZIP:
            return replace(plain, sort=Sort.ARCHIVE)
        with opened(path, plain.packed) as file:
            head = file.read(_HEAD_BYTES)
    except BROKEN as error:
        return replace(plain, problem=f"the file cannot be read: {error}")
    if not head.strip():
        return replace(plain, problem="the file is empty")
    if is_tar(head):
        return replace(plain, sort=Sort.ARCHIVE)
    if is_document(head) and (START.search(head) or (b'"kvs"' in head and head.count(b"\n") > 1)):
        return replace(plain, sort=Sort.DOCUMENT)
    header = csv_header(head.split(b"\n", 2)[:2])
    sort, problem = _sort(head, header, whole=plain.size <= len(head) or bool(plain.packed))
    return replace(plain, sort=sort, problem=problem, header=header)


def _sort(head: bytes, header: str, *, whole: bool) -> tuple[Sort, str]:
    lines = head.split(b"\n")
    writers = _writers(lines, header)
    if writers:
        if writers.keys() <= _OTHERS.keys():
            products = ", ".join(sorted({_OTHERS[name] for name in writers}))
            return Sort.OTHER, f"a log in the format of Milvus, but of another product: {products}"
        return Sort.LOG, ""
    found = _json_sort(lines, head, whole=whole)
    if found is not None and found[0] is not Sort.NONE:
        return found
    if b"\x00" in head or _odd(head) > len(head) // 10:
        return Sort.NONE, "a binary file, no evidence that can be read"
    for name, marks in _SYSTEMS.items():
        if re.search(marks, head, re.MULTILINE):
            return Sort.OTHER, f"a log of {name}, in which nothing is judged"
    for name, marks in _HISTORIES.items():
        if re.search(marks, head, re.MULTILINE):
            return Sort.HISTORY, f"a history for {name}"
    if found is not None:
        return found
    if symptom_in(head):
        return Sort.LOG, ""
    return Sort.NONE, "not a log of Milvus: no line begins with [2006/01/02 15:04:05.000 +00:00] [LEVEL]"


def _writers(lines: Iterable[bytes], header: str) -> Counter[str]:
    """Folders of the sources that have written the lines (old versions: the file's name), with how many."""
    heads = (HEAD.search(unwrapped(line, header), 0, 1000) for line in lines)
    callers = (found[3].decode("utf-8", "replace") for found in heads if found)
    return Counter(name.partition(":")[0].partition("/")[0] for name in callers)


def writers(source: Source) -> Counter[str]:
    """Who has written the first lines of a log, with how many each; folders of Milvus's sources."""
    with opened(source.path, source.packed) as file:
        return _writers(file.read(_HEAD_BYTES).split(b"\n"), source.header)


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
    if not whole and _DUMP.match(head):
        return Sort.LINES, ""
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
    except BROKEN:
        digest.update(source.path.as_posix().encode())
    return digest.digest()


@dataclass(frozen=True, kw_only=True)
class Piece:
    """Whole lines of a file: the unit of work. Only the last line of all may be unfinished."""

    path: str
    name: str
    sort: str
    packed: str = ""
    header: str = ""
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
                header=source.header,
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
            yield replace(whole, start=start, end=end, first_line=line, size=end - start)
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
