"""Text logs of Milvus: blocks of bytes in, rows out, with a count of what could not be read.

A line is ``[time] [LEVEL] [dir/file.go:line] [message] [name=value] ...``. What a collector puts before it
(Docker, Kubernetes, Loki, colours) is skipped. A line without a head belongs to the entry before it. An entry
that has no end is damaged, and so is one that lacks a field that its message has.

Most lines are of no interest; of those nothing is made but a match of the head.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields

import pyarrow as pa

from tidemark.checks.evidence.readers.fields import fields as fields_of
from tidemark.checks.evidence.readers.fields import milliseconds
from tidemark.checks.evidence.readers.log_rules import RULES, Rule, apply
from tidemark.checks.evidence.table.schema import Row

_STAMP = rb"\[(\d{4}/\d\d/\d\d \d\d:\d\d:\d\d\.\d+ [+-]\d\d:\d\d)\]"
_CALLER = rb"\[([^\]\s]+\.\w+:\d+)\]"
_MESSAGE = rb'\[(?:"((?:[^"\\\n]|\\.)*)"|([^\]\n=]*))\]'

HEAD = re.compile(_STAMP + rb" \[([A-Z]+)\] (?:\[[^\]\n]*\] )??" + _CALLER + rb"(?: " + _MESSAGE + rb")?")
"""Time, level, caller, message (quoted or plain)."""

_START = re.compile(rb"\[\d{4}/\d\d/\d\d \d\d:")
_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


@dataclass
class Lines:
    """How many lines a file (or a part of it) has, and of which sort."""

    lines: int = 0
    entries: int = 0
    """Lines with a head."""
    continued: int = 0
    """Lines that belong to the entry before them."""
    damaged: int = 0
    first_damaged: int = 0
    """Number of the first damaged line; 0 if there is none."""

    def add(self, other: Lines) -> None:
        """Count what another part has."""
        first = [n for n in (self.first_damaged, other.first_damaged) if n]
        for item in fields(self):
            setattr(self, item.name, getattr(self, item.name) + getattr(other, item.name))
        self.first_damaged = min(first, default=0)

    def damage(self, line: int) -> None:
        """Line ``line`` cannot be read."""
        self.damaged += 1
        self.first_damaged = min(self.first_damaged or line, line)


class LogReader:
    """Reads one file, a block of whole lines at a time; an entry may go on in the next block."""

    def __init__(self, source: str, *, first_line: int = 1) -> None:
        self.source = source
        self.counts = Lines()
        self._line = first_line
        self._open: list[bytes] = []
        self._open_line = 0

    def batch(self, data: bytes) -> pa.RecordBatch | None:  # noqa: ARG002 - as every reader has it
        """Lines of a log are read one by one (``block``)."""
        return None

    def block(self, data: bytes) -> Iterator[Row]:
        """The events of some whole lines.

        Most lines are whole and of no interest; for those four pieces are cut off and one name is looked up.
        """
        counts, line, plain = self.counts, self._line, 0
        for raw in data.split(b"\n"):
            if raw[:2] == b"[2" and raw[-1:] == b"]" and not self._open:
                pieces = raw.split(b"] [", 4)
                if len(pieces) > 3 and b":" in pieces[2] and pieces[3].strip(b'"]') not in RULES:
                    plain += 1
                    line += 1
                    continue
            self._line = line
            yield from self._take(raw)
            line += 1
        self._line = line
        counts.lines += plain
        counts.entries += plain

    def end(self) -> Iterator[Row]:
        """The events of what was left open. Call it once, after the last block."""
        yield from self._close()

    def _take(self, raw: bytes) -> Iterator[Row]:
        counts = self.counts
        counts.lines += 1
        if raw.startswith(b"[2") and raw.endswith(b"]"):  # the common case: a whole entry
            if self._open:
                yield from self._close()
            counts.entries += 1
            yield from self._entry(raw, self._line)
            return
        start = _START.search(raw, 0, 400)
        if start is None:
            yield from self._continue(raw)
            return
        yield from self._close()
        counts.entries += 1
        raw = _cleaned(raw[start.start() :])
        if raw.endswith(b"]"):
            yield from self._entry(raw, self._line)
        else:
            self._open, self._open_line = [raw], self._line

    def _continue(self, raw: bytes) -> Iterator[Row]:
        if b"\x00" in raw:
            self.counts.damage(self._line)
            return
        if raw.strip():
            self.counts.continued += 1
        if self._open and raw:
            self._open.append(raw)
            if raw.endswith(b"]"):
                yield from self._close()

    def _close(self) -> Iterator[Row]:
        """An entry over several lines is whole if its last line ends it."""
        if not self._open:
            return
        whole, line = b"\\n".join(self._open), self._open_line
        self._open = []
        if whole.endswith(b"]"):
            yield from self._entry(whole, line)
        else:
            self.counts.damage(line)

    def _entry(self, raw: bytes, line: int) -> Iterator[Row]:
        head = HEAD.match(raw)
        if head is None:
            self.counts.damage(line)
            return
        quoted, plain = head.group(4, 5)
        rule = RULES.get(quoted or plain or b"")
        if rule is not None:
            yield from self._event(rule, head, raw, line)

    def _event(self, rule: Rule, head: re.Match[bytes], raw: bytes, line: int) -> Iterator[Row]:
        found = fields_of(raw[head.end() :])
        stamp, level, caller = head.group(1, 2, 3)
        row = Row(
            self.source,
            line,
            rule.kind,
            component=caller.partition(b":")[0].decode("utf-8", "replace"),
            level=level.decode(),
            at=milliseconds(stamp),
        )
        events = apply(rule, found, row)
        if events is None:
            self.counts.damage(line)
        else:
            yield from events


def _cleaned(raw: bytes) -> bytes:
    return (_COLOUR.sub(b"", raw) if b"\x1b" in raw else raw).rstrip()
