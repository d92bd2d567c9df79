"""Text logs of Milvus: blocks of bytes in, rows out, with a count of what could not be read.

A line is ``[time] [LEVEL] [dir/file.go:line] [message] [name=value] ...``. What a collector puts before it
(Docker, Kubernetes, Loki, colours) is taken off; if it names who wrote the line, the line belongs to a stream
of its own (``FILE (who)``), for the lines of two processes have no common order. A line without a head
belongs to the entry before it. An entry that has no end is damaged, and so is one that lacks a field that its
message has.

Most lines are of no interest. They are found by regular expressions over all lines at once, and only counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tidemark.checks.evidence.readers.log_rules import RULES, apply, milliseconds
from tidemark.checks.evidence.readers.log_rules import fields as fields_of
from tidemark.checks.evidence.readers.wrapped import START, stream, unwrapped, writer
from tidemark.checks.evidence.symptoms import KIND, symptom_in
from tidemark.checks.evidence.table.schema import COLUMNS, Row

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_STAMP = rb"\[(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d\d:\d\d)\]"
_CALLER = rb"\[([^\]\s]+\.\w+:\d+)\]"
_MESSAGE = rb'\[(?:"((?:[^"\\\n]|\\.)*)"|([^\]\n=]*))\]'

HEAD = re.compile(_STAMP + rb" \[([A-Z]+)\] (?:\[[^\]\n]*\] )??" + _CALLER + rb"(?: " + _MESSAGE + rb")?")
"""Time, level, caller, message (quoted or plain)."""

_CUT = re.compile(_STAMP + rb" \[[A-Z]+\] (?:\[[^\]\n]*\] )??" + _CALLER + rb' \["([^"\\\n]*)("\])?')
"""Of an entry that may end anywhere: time, caller, what there is of a quoted message, and its end."""

_WHOLE_HEAD = rb"^" + _STAMP.replace(rb"\[(\d{4}", rb"\[(2\d{3}") + rb" \[[A-Z]+\] " + _CALLER + rb" \["
_KNOWN = _WHOLE_HEAD + rb'"?(?:' + b"|".join(re.escape(message) for message in RULES) + rb')"?\]'
"""A line with a head of the usual form; one whose message matters."""

_NEXT = re.compile(rb"(?<=[^\s])\s*(?=" + _STAMP + rb" \[[A-Z]+\] (?:\[[^\]\n]*\] )??" + _CALLER + rb")")
"""Where a further entry begins on the line of another one."""
_LEVELS = tuple(b"] [%s] [" % level for level in (b"DEBUG", b"INFO", b"WARN", b"ERROR"))
_CUT_STAMP = re.compile(rb"\[(?:2\d{0,3}(?:/[\d/ ]*)?)?$")
"""A line that ends in its stamp."""
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


@dataclass
class Lines:
    """How many lines a file (or a part of it) has, and of which sort."""

    lines: int = 0
    entries: int = 0
    """Lines with a head."""
    ruled: int = 0
    """Those of them whose message has a rule."""
    continued: int = 0
    """Lines that belong to the entry before them."""
    damaged: int = 0
    first_damaged: int = 0
    """Number of the first damaged line; 0 if there is none."""
    lost: dict[str, int] = field(default_factory=dict)
    """Kind of event that a damaged line would have been (empty if it does not say) -> the first such line."""

    def add(self, other: Lines) -> None:
        """Count what another part has."""
        first = [n for n in (self.first_damaged, other.first_damaged) if n]
        for name in ("lines", "entries", "ruled", "continued", "damaged"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.first_damaged = min(first, default=0)
        for kind, line in other.lost.items():
            self.lost[kind] = min(self.lost.get(kind, line), line)

    def damage(self, line: int, kinds: Iterable[str] = ("",)) -> None:
        """Line ``line`` cannot be read. ``kinds``: of which it may have been, if it says so much."""
        self.damaged += 1
        self.first_damaged = min(self.first_damaged or line, line)
        for kind in kinds:
            self.lost[kind] = min(self.lost.get(kind, line), line)


class LogReader:
    """Reads one file, a block of whole lines at a time; an entry may go on in the next block."""

    def __init__(self, source: str, *, first_line: int = 1, header: str = "") -> None:
        """``header`` is the first line of a file that is a table in CSV."""
        self.source, self.header = source, header
        self.counts = Lines()
        self._line = first_line
        self._open: dict[str, tuple[int, list[bytes]]] = {}
        """Who writes an entry that has no end yet -> its first line, and its lines so far."""
        self._writers = {""}
        self._cut: dict[str, int] = {}
        """What may be who writes a line that ends in its stamp, if it writes others -> the line."""

    def batch(self, data: bytes) -> pa.RecordBatch | None:  # noqa: ARG002 - as every reader has it
        """Lines of a log that matter are read one by one (``block``)."""
        return None

    def block(self, data: bytes) -> Iterator[Row]:
        """The events of some whole lines.

        Most lines are whole and of no interest; those are found all at once, and are only counted.
        """
        found: list[Row] = []
        begins, idle = _idle_lines(data)
        busy = (data[begins[place] : begins[place + 1] - 1] for place in np.flatnonzero(~idle).tolist())
        if _heads(data) > int(idle.sum()) + sum(map(_heads, busy)):
            idle[:] = False  # a second entry stands on a line that looks idle
        first, after = self._line, 0
        for place in np.flatnonzero(~idle).tolist():
            if self._open and place > after:  # an idle line has no prefix: it ends the entry before it
                self._close(found)
            self._line = first + place
            self._take(data[begins[place] : begins[place + 1] - 1], found)
            after = place + 1
        if self._open and after < len(idle):
            self._close(found)
        plain = int(idle.sum())
        self.counts.lines += plain
        self.counts.entries += plain
        self._line = first + len(idle)
        return iter(found)

    def end(self) -> Iterator[Row]:
        """The events of what was left open. Call it once, after the last block."""
        found: list[Row] = []
        for who in list(self._open):
            self._close(found, who)
        for line in (self._cut[who] for who in self._cut.keys() & self._writers):
            self.counts.damage(line)
        return iter(found)

    def _take(self, raw: bytes, found: list[Row]) -> None:
        counts = self.counts
        counts.lines += 1
        who = ""
        if not (raw.startswith(b"[2") and raw.endswith(b"]")):  # else the common case: a whole entry
            raw = _cleaned(unwrapped(raw, self.header))
            start = START.search(raw, 0, 400)
            if start is None:
                self._continue(raw, found)
                return
            who = writer(raw[: start.start()])
            self._writers.add(who)
            raw = raw[start.start() :]
        for entry in _NEXT.sub(b"\n", raw).split(b"\n") if _heads(raw) > 1 else (raw,):
            self._close(found, who)
            counts.entries += 1
            if entry.endswith(b"]"):
                self._entry(entry, self._line, who, found)
            else:
                self._open[who] = self._line, [entry]

    def _continue(self, raw: bytes, found: list[Row]) -> None:
        cut = None if self._open else _CUT_STAMP.search(raw)
        who = writer(raw[: cut.start()]) if cut else ""
        if b"\x00" in raw or (cut and who in self._writers):
            self.counts.damage(self._line)
            return
        if cut:
            self._cut.setdefault(who, self._line)
        if raw.strip():
            self.counts.continued += 1
        if not self._open and (symptom := symptom_in(raw)):
            found.append(Row(stream(self.source, who), self._line, KIND, text=symptom))
        if self._open and raw:
            # It continues the open entry of the writer whom it names, or else the last one.
            named = [who for who in self._open if who and who.encode() in raw[:400]]
            who = named[-1] if named else list(self._open)[-1]
            self._open[who][1].append(raw)
            if raw.endswith(b"]"):
                self._close(found, who)

    def _close(self, found: list[Row], who: str = "") -> None:
        """An entry over several lines is whole if its last line ends it."""
        if who not in self._open:
            return
        line, parts = self._open.pop(who)
        whole = b"\\n".join(parts)
        if whole.endswith(b"]"):
            self._entry(whole, line, who, found)
        else:
            self.counts.damage(line, _kinds(whole))

    def _entry(self, raw: bytes, line: int, who: str, found: list[Row]) -> None:
        head = HEAD.match(raw)
        if head is None or (head[4] is head[5] is None and head.end() == len(raw)):
            self.counts.damage(line)  # no head, or nothing but a head: what it said is cut
            return
        stamp, level, caller, quoted, plain = head.groups()
        rule = RULES.get(quoted or plain or b"")
        if rule is None:
            return
        self.counts.ruled += 1
        row: list[Any] = [None] * len(COLUMNS)
        row[:4] = stream(self.source, who), line, rule.kind, _component(caller)
        row[COLUMNS["level"]], row[COLUMNS["at"]] = _level(level), milliseconds(stamp)
        events = apply(rule, fields_of(raw[head.end() :]), row)
        if events is None:
            self.counts.damage(line, (rule.kind,))
        else:
            found += events


def _heads(data: bytes) -> int:
    """About how many entries begin in some lines."""
    return sum(map(data.count, _LEVELS))


def _kinds(raw: bytes) -> set[str]:
    """The kinds of event that an entry without an end may have been: none if its message has no rule."""
    head = _CUT.match(raw)
    if head is None:
        return {""}
    message, whole = head[3], head[4]
    return {
        rule.kind
        for text, rule in RULES.items()
        if text == message or (not whole and text.startswith(message))
    }


_FEW = 1 << 12
"""Bytes up to which it is quicker to read line by line than to look for lines that matter."""


def _idle_lines(data: bytes) -> tuple[Ints, Bools]:
    """Where the lines begin (and one would begin after the last), and which of them are whole and idle."""
    letters = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(letters == ord("\n"))
    begins = np.zeros(len(ends) + 2, dtype=np.int64)
    begins[1:-1], begins[-1] = ends + 1, len(data) + 1
    if len(data) < _FEW:
        return begins, np.zeros(len(begins) - 1, dtype=np.bool_)
    # With its end each line is a piece of the data as it is: nothing is copied.
    places = np.minimum(begins, len(data)).astype(np.int64)
    lines = pa.Array.from_buffers(
        pa.large_binary(), len(begins) - 1, [None, pa.py_buffer(places), pa.py_buffer(data)]
    )
    idle: Bools = pc.match_substring_regex(lines, _WHOLE_HEAD).to_numpy(zero_copy_only=False)
    known: Bools = pc.match_substring_regex(lines, _KNOWN).to_numpy(zero_copy_only=False)
    idle = idle & ~known
    idle[idle] = letters[begins[1:][idle] - 2] == ord("]")
    return begins, idle


@lru_cache(maxsize=4096)
def _component(caller: bytes) -> str:
    return caller.partition(b":")[0].decode("utf-8", "replace")


@lru_cache(maxsize=64)
def _level(level: bytes) -> str:
    return level.decode()


def _cleaned(raw: bytes) -> bytes:
    return (_COLOUR.sub(b"", raw) if b"\x1b" in raw else raw).rstrip()
