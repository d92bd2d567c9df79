"""Histories of Jepsen, Elle, Knossos and Porcupine, in the words of our own clients.

What they call a key is a collection here, and a value a row. A write of a register inserts the row of its
value and deletes all others; what is added to a set or appended to a list is a row more; a read is a Strong
query of all rows, since these histories ask for linearizable reads. What certainly failed is left out; a call
whose outcome is unknown, or that has no answer, may take effect later. An operation without a counterpart
keeps its name: the judge does not know it, and what it may have changed is inconclusive.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

_TOKEN = re.compile(r';[^\n]*|#?("(?:\\.|[^"\\])*")|(#?\{|[\[(])|([\])}])|#[\w.*/-]*|([^\s,;\[\](){}"]+)')
_LINE = re.compile(r"(\d+)\s+:(invoke|ok|fail|info)\s+:(\S+)\s+(\S.*)")
"""An entry in Jepsen's log, and in its ``history.txt``."""
_WORDS = {"nil": None, "true": True, "false": False}
_ACTS = {
    "read": "read", "r": "read", "get": "read", "write": "write", "w": "write", "put": "write",
    "add": "add", "append": "add",
}  # fmt: skip
_LOW, _NONE, _HIGH = -(1 << 62), 1 << 61, 1 << 62
"""The first and the last row, and the one of no value."""
_MOST = 20_000_000
"""Rows that the writes of a register may touch together: the judge takes about a gigabyte for them."""


class NoHistoryError(ValueError):
    """Nothing in it can be judged, and why."""


def forms(text: str) -> Iterator[Any]:
    """The values of a text in EDN. Tags are passed over, a set is a list, keywords keep their colon."""
    stack: list[list[Any]] = [[]]
    for found in _TOKEN.finditer(text):
        string, opens, closes, word = found.groups()
        if opens:
            stack.append([opens])
        elif string:
            stack[-1].append(json.loads(string, strict=False))
        elif word:
            stack[-1].append(_WORDS[word] if word in _WORDS else _number(word))
        elif closes and len(stack) > 1:
            kind, *items = stack.pop()
            names = map(_word, items[::2])
            stack[-1].append(dict(zip(names, items[1::2], strict=False)) if kind == "{" else items)
        if len(stack) == 1:
            yield from stack[0]
            stack[0].clear()
    if len(stack) > 1:
        raise NoHistoryError("it ends within an entry: the file is being written, or was cut")


def _number(word: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(word.rstrip("NM"))
        except ValueError:
            continue
    return word


def _word(name: object) -> str:
    return str(name).lstrip(":")


@dataclass(frozen=True)
class Call:
    """What a process asked for, and what came of it."""

    process: str
    name: str
    key: str
    """Empty if the history does not tell: the call may have touched anything."""
    value: Any
    """What it writes; of an answered read, what it shows."""
    start: int
    end: int
    outcome: str = "unknown"

    @property
    def act(self) -> str:
        """Read, write or add; empty if it is none of them."""
        return _ACTS.get(self.name, "")

    @property
    def answered(self) -> bool:
        """Is it a read that shows something?"""
        return self.act == "read" and self.outcome == "ok"


def client_lines(text: str, name: str) -> tuple[list[dict[str, Any]], str]:
    """The operations of a history, one line each, and what became of it. Raises NoHistoryError.

    Processes and collections have the name of the history: those of another one are others.
    """
    by_key: dict[str, list[Call]] = defaultdict(list)
    parts = [part for call in _calls(list(_entries(text))) for part in _parts(call)]
    every = dict.fromkeys(part.key for part in parts if part.key) or [""]
    for part in parts:
        for key in [part.key] if part.key else every:
            by_key[key].append(replace(part, key=key))
    found = [_Key(key, calls) for key, calls in by_key.items()]
    lines = [pair for key in found for pair in key.lines()]
    unknown = Counter(line["op"] for _, line in lines if line["op"] not in ("insert", "delete", "query"))
    named = ", ".join(f"{count:,} {name}" for name, count in sorted(unknown.items()))
    if not any(line["op"] == "query" for _, line in lines):
        raise NoHistoryError(f"it has no read that can be judged{f', but {named}' if named else ''}")
    said = [f"{len(parts):,} calls, each read by itself as a Strong read"]
    said += [f"no counterpart: {named}"] if named else []
    said += [
        f"{one.first!r} is what {one.name} holds at the beginning" for one in found if one.first is not None
    ]
    return list(_numbered(lines, name)), "; ".join(said)


def _numbered(lines: list[tuple[Call, dict[str, Any]]], name: str) -> Iterator[dict[str, Any]]:
    turns = Counter[str]()
    for call, line in sorted(lines, key=lambda pair: (pair[0].end, pair[0].start)):
        who = f"{name}:{call.process}"
        yield {
            "kind": "op", "v": 1, "client": who, "process": who, "seq": turns[who],
            "collection": f"{name}:{call.key}", "start": call.start, "end": call.end, "outcome": call.outcome,
        } | line  # fmt: skip
        turns[who] += 1


def _entries(text: str) -> Iterator[dict[str, Any]]:
    """The maps of a history, in whichever form it is."""
    if text.lstrip().startswith(("{", "[")) and (given := _json(text)):
        found: Any = given
    elif shown := _LINE.findall(text):
        names = ("process", "type", "f", "value")
        found = [dict(zip(names, (*one[:3], next(forms(one[3]), None)), strict=True)) for one in shown]
    else:
        found = list(forms(text))
    for form in found:
        yield from (one for one in (form if isinstance(form, list) else [form]) if isinstance(one, dict))


def _json(text: str) -> list[Any]:
    """One value of JSON, or one a line; nothing if the first line is none."""
    try:
        return [json.loads(text)]
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
    found: list[Any] = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except ValueError as error:
            if found:
                raise NoHistoryError(f"entry {len(found)} cannot be read: {error}") from error
            break
    return found


def _calls(entries: list[dict[str, Any]]) -> Iterator[Call]:
    """The calls of all processes, each with its answer. The nemesis, which breaks things, is none."""
    if entries and all("Call" in one for one in entries):
        yield from map(_of_porcupine, entries)
        return
    entries = [one for one in entries if "type" in one]
    for name in ("time", "index"):
        if all(isinstance(one.get(name), int) for one in entries):
            entries.sort(key=lambda one: one[name])
    numbers = [one.get("index", place) for place, one in enumerate(entries)]
    if numbers != list(range(len(numbers))):
        raise NoHistoryError("its indexes are not 0, 1, 2, ...: entries are missing, or there twice")
    times = [one.get("time", "") for one in entries]
    clock = times if "" not in times and all(one <= other for one, other in pairwise(times)) else numbers
    keyed = _keyed([one for one in entries if _who(one) and _word(one["type"]) == "invoke"])
    open_: dict[str, Call] = {}
    for now, one in zip(clock, entries, strict=True):
        who, kind = _who(one), _word(one["type"])
        key, value = one.get("key", "register"), one.get("value")
        if not who:
            continue
        if keyed and isinstance(value, list) and len(value) == 2:
            key, value = value
        if kind == "invoke":
            if who in open_:
                yield open_[who]
            open_[who] = Call(who, _word(one.get("f", "txn")), str(key), value, now, now)
            continue
        call = open_.pop(who, None)
        if call is None:
            what = f"process {who} has an answer without a call"
            raise NoHistoryError(f"{what}: entries are missing, or in disorder")
        shown = value if kind == "ok" and (call.act == "read" or call.name == "txn") else call.value
        yield replace(call, value=shown, end=now, outcome=kind if kind in ("ok", "fail") else "unknown")
    yield from open_.values()


def _who(one: dict[str, Any]) -> str:
    """The process; empty for the nemesis."""
    return _word(one.get("process", "nemesis")).replace("nemesis", "")


def _keyed(asked: list[dict[str, Any]]) -> bool:
    """Are all values pairs of a key and a value? A read, which asks for a key and no value, shows it."""
    values = [(_word(one.get("f")), one.get("value")) for one in asked]
    pairs = [(f, value[1]) for f, value in values if isinstance(value, list) and len(value) == 2]
    reads = [value is None for f, value in pairs if _ACTS.get(f) == "read"]
    return len(pairs) == len(asked) and bool(reads) and all(reads)


def _of_porcupine(one: dict[str, Any]) -> Call:
    asked, shown = one.get("Input"), one.get("Output")
    given = {name.lower(): value for name, value in asked.items()} if isinstance(asked, dict) else {}
    name = _word(given.get("op", given.get("type", "operation"))).lower()
    if isinstance(shown, dict):
        shown = next((value for name, value in shown.items() if name.lower() == "value"), None)
    done, known = one.get("Return", -1) >= one["Call"], name in _ACTS
    return Call(
        str(one.get("ClientId", 0)),
        name if known else f"operation {name}",
        str(given.get("key", "register")) if known else "",
        shown if _ACTS.get(name) == "read" else given.get("value"),
        one["Call"],
        one["Return"] if done else one["Call"],
        "ok" if done else "unknown",
    )


def _parts(call: Call) -> Iterator[Call]:
    """A transaction that only reads, or only writes, is each of its parts; any other has no counterpart."""
    if call.name != "txn":
        yield call
        return
    steps = [one for one in call.value or () if isinstance(one, list) and len(one) == 3]
    reads = {_ACTS.get(_word(name)) == "read" for name, _, _ in steps}
    for name, key, value in steps:
        yield replace(call, name=_word(name) if len(reads) == 1 else "txn", key=str(key), value=value)


class _Key:
    """All calls about one key, and the rows that its values are.

    Where values are replaced there is always one row at least: that of ``None`` if nothing is there.
    """

    def __init__(self, name: str, calls: list[Call]) -> None:
        self.name, self.calls = name, calls
        acts = {one.act for one in calls}
        self.grows, self.replaces = "add" in acts, "write" in acts or "add" not in acts
        written = [one.value for one in calls if one.act in ("write", "add")]
        self.split = _splitter(written) if self.grows else None
        known = set(map(_token, written))
        until = min((one.start for one in calls if not one.act and one.outcome != "fail"), default=_HIGH)
        early = sorted((one for one in calls if one.answered and one.end < until), key=lambda one: one.end)
        strange = (value for one in early for value in self.shown(one) if _token(value) not in known)
        self.first = None if self.grows else next(strange, None)
        """The value at the beginning: a read shows it, and nobody writes it."""
        shown = [value for one in calls if one.answered for value in self.shown(one)]
        self.rows = _rows([self.first, None, *written, *shown])
        if sum(one.act == "write" for one in calls) * len(self.rows) > _MOST:
            raise NoHistoryError(f"{name!r} has too many writes of different values")

    def shown(self, call: Call) -> list[Any]:
        """The values that an answered read shows."""
        if not self.grows:
            return [call.value or None] if isinstance(call.value, list) else [call.value]
        found = [] if call.value is None else [call.value]
        if isinstance(call.value, list):
            found = call.value
        elif self.split is not None and isinstance(call.value, str):
            found = self.split.findall(call.value)
        return found or [None] * self.replaces

    def _sums(self) -> bool:
        """Does it not tell what was added: a counter, or texts that can be cut in several ways?"""
        kinds = (list, type(None)) if self.split is None else (list, type(None), str)
        return self.grows and not all(isinstance(one.value, kinds) for one in self.calls if one.answered)

    def lines(self) -> Iterator[tuple[Call, dict[str, Any]]]:
        """What the client format says of each call that may have taken effect."""
        sums, begun = self._sums(), min(one.start for one in self.calls)
        if self.replaces:
            first = Call("", "", self.name, None, begun - 2, begun - 1, "ok")
            yield first, {"op": "insert", **self._row(self.first)}
        for call in map(self._settled, self.calls):
            if call.answered:
                values = self.shown(call)
                seen = [[row, row] for row in sorted({self.rows[_token(value)] for value in values})]
                yield call, {"op": "query", "level": "Strong", "seen": seen, "count": len(values)}
            elif call.outcome != "fail" and (not call.act or (call.act == "add" and sums)):
                yield call, {"op": call.name}
            elif call.outcome != "fail" and call.act != "read":
                row = self.rows[_token(call.value)]
                if call.act == "write":
                    yield call, {"op": "delete", "keys": [[_LOW, row - 1], [row + 1, _HIGH]]}
                elif self.replaces:
                    yield call, {"op": "delete", **self._row(None)}
                yield call, {"op": "insert", **self._row(call.value)}

    def _row(self, value: Any) -> dict[str, Any]:
        row = self.rows[_token(value)]
        return {"keys": [[row, row]], "value": value}

    @cached_property
    def _seen(self) -> dict[str, int]:
        """Of each value that one call writes, when the first read that shows it is over."""
        writes = Counter(_token(one.value) for one in self.calls if one.act in ("write", "add"))
        reads = sorted((one for one in self.calls if one.answered), key=lambda one: -one.end)
        found = {_token(value): one.end for one in reads for value in self.shown(one)}
        return {token: end for token, end in found.items() if writes[token] == 1}

    def _settled(self, call: Call) -> Call:
        """A write that a read shows has taken effect when this read is over."""
        end = self._seen.get(_token(call.value), _HIGH) if call.act in ("write", "add") else _HIGH
        by_read = call.start < end < (call.end if call.outcome == "ok" else _HIGH)
        return replace(call, end=end, outcome="ok") if by_read and call.outcome != "fail" else call


def _splitter(written: list[Any]) -> re.Pattern[str] | None:
    """What cuts the text of a read into the texts that were appended, if there is but one way."""
    texts = sorted({one for one in written if isinstance(one, str) and one})
    if any(other.startswith(one) for one, other in pairwise(texts)):
        return None
    return re.compile("|".join([*map(re.escape, texts), "."]), re.DOTALL)


def _rows(values: list[Any]) -> dict[str, int]:
    """A number for each value: itself, if all are whole numbers or none."""
    if all(value is None or (type(value) is int and abs(value) < _NONE) for value in values):
        return {_token(value): _NONE if value is None else value for value in values}
    return {token: row for row, token in enumerate(dict.fromkeys(map(_token, values)))}


def _token(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
