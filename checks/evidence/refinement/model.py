"""From the rows of a trace to an instance of its protocol, and events in the instance's own values.

Names become elements of their sort in the order in which they first appear. Numbers whose type the trace
lists under ``ranks`` (timestamps) are replaced by their rank among all that appear, which keeps their order
and makes the instance small; 0 stays 0.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from tidemark.checks.evidence.claims import PROTOCOLS
from tidemark.models.instance import Instance
from tidemark.spec.language.protocol import resolve
from tidemark.spec.language.spec import Action, Spec
from tidemark.spec.language.types import BoolType, EnumType, MapType, NumberType, SortType, Type

COLUMNS = ("source", "line", "kind", "node", "seq", "rows", "text", "value")
KINDS = ("trace.begin", "trace.step", "trace.dropped")

OF_SORT_LIMIT = 64
"""Names of one sort that a trace may have: larger instances cannot be followed."""


class TraceError(ValueError):
    """A trace that cannot be read as one of its protocol; the message names the line and the remedy."""


@dataclass(frozen=True)
class Event:
    """One observed step. ``args`` has the observed parameters, ``see`` what was observed after it."""

    source: str
    line: int
    node: str
    action: str
    args: Mapping[str, Any]
    see: tuple[tuple[str, tuple[Any, ...], Any], ...]
    """Variable, key, value."""

    def __str__(self) -> str:
        given = ", ".join(f"{name}={value}" for name, value in self.args.items())
        return f"{self.action or 'nothing'}({given}) at {self.node}"


@dataclass
class Trace:
    """The events of each file in order, and the instance whose steps they have to be."""

    protocol: str
    instance: Instance
    hidden: tuple[str, ...]
    streams: list[list[Event]]
    missing: int = 0
    """Steps that were lost; the streams end before the first one."""
    where: str = ""


@dataclass
class _Names:
    """What appears of each type."""

    ranked: frozenset[str]
    names: dict[str, dict[Any, int]] = field(default_factory=dict)
    numbers: dict[str, set[int]] = field(default_factory=dict)

    def note(self, kind: Type, value: Any) -> None:
        if isinstance(kind, SortType):
            known = self.names.setdefault(kind.name, {})
            known.setdefault(value, len(known))
        elif isinstance(kind, NumberType) and isinstance(value, int):
            self.numbers.setdefault(kind.name, {0}).add(value)

    def of(self, kind: Type, value: Any) -> Any:
        """The instance's value of an observed one. Raises TraceError."""
        if isinstance(kind, SortType):
            return self.names[kind.name][value]
        if isinstance(kind, NumberType) and isinstance(value, int) and not isinstance(value, bool):
            if kind.name in self.ranked:
                return sorted(self.numbers[kind.name]).index(value)
            return value
        fits = isinstance(value, bool) if isinstance(kind, BoolType) else False
        if fits or (isinstance(kind, EnumType) and value in kind.members):
            return value
        raise TraceError(f"{value!r} is not a value of {kind}")

    def bounds(self, spec: Spec, given: Mapping[str, Any]) -> dict[str, Any]:
        """As large as what appears; ``given`` may widen."""
        found: dict[str, Any] = {}
        for kind in spec.types:
            if isinstance(kind, SortType):
                found[kind.name] = max(1, len(self.names.get(kind.name, {})))
            elif isinstance(kind, NumberType) and kind.name:
                seen = self.numbers.get(kind.name, {0})
                found[kind.name] = len(seen) - 1 if kind.name in self.ranked else max(seen)
        for name, bound in given.items():
            whole = tuple(bound) if isinstance(bound, list) else bound
            found[name] = whole if isinstance(whole, tuple) else max(whole, found.get(name, 0))
        return found


def traces(rows: Iterable[tuple[Any, ...]]) -> list[Trace]:
    """The traces of some rows (tuples of ``COLUMNS``, in order of source and line), one a protocol.

    Files of one protocol are one trace: the order in each is kept, between them any order is possible.
    Raises TraceError.
    """
    begins: dict[str, dict[str, Any]] = {}
    streams: dict[str, list[list[Event]]] = {}
    lost: dict[str, tuple[int, str]] = {}
    for source, group in groupby(rows, key=lambda row: row[0]):
        listed = list(group)
        if listed[0][2] != "trace.begin":
            raise TraceError(f"{source}: the first line does not name the protocol; see docs/traces.md")
        protocol = listed[0][6]
        begin = json.loads(listed[0][7])
        if begins.setdefault(protocol, begin) != begin:
            raise TraceError(f"{source}: another file of {protocol} begins otherwise")
        events, missing, where = _events(listed[1:])
        streams.setdefault(protocol, []).append(events)
        if missing:
            before = lost.get(protocol, (0, ""))
            lost[protocol] = (before[0] + missing, before[1] or where)
    found: list[Trace] = []
    for name, begin in begins.items():
        count, where = lost.get(name, (0, ""))
        found.append(_trace(name, begin, streams[name], missing=count, where=where))
    return found


def _events(listed: Sequence[tuple[Any, ...]]) -> tuple[list[Event], int, str]:
    """Events up to the first loss, how many are missing in all, and after which line."""
    events: list[Event] = []
    last: dict[str, int] = {}
    missing, where = 0, ""
    for source, line, kind, node, seq, dropped, action, value in listed:
        if kind == "trace.begin":
            raise TraceError(f"{source}:{line}: a second beginning; write one file a run")
        gap = seq - last.get(node, -1) - 1
        last[node] = max(seq, last.get(node, -1))
        if gap or dropped:
            missing += max(gap, dropped or 0)
            where = where or f"{source}:{line}"
        if kind == "trace.step" and not missing:
            given = json.loads(value)
            see = tuple(_observed(source, line, name, seen) for name, seen in given["see"].items())
            events.append(Event(source, line, node, action, given["args"], see))
    return events, missing, where


def _observed(source: str, line: int, name: str, value: Any) -> tuple[str, tuple[Any, ...], Any]:
    variable, bracket, rest = name.partition("[")
    if not bracket:
        return variable, (), value
    try:
        keys = tuple(_key(part) for part in rest.rstrip("]").split(","))
    except ValueError as error:
        raise TraceError(f"{source}:{line}: the key of {name!r}: {error}") from error
    return variable, keys, value


def _key(text: str) -> Any:
    text = text.strip()
    return int(text) if text.lstrip("-").isdigit() else text


def _trace(
    name: str, begin: Mapping[str, Any], streams: list[list[Event]], *, missing: int, where: str
) -> Trace:
    reference = PROTOCOLS.get(name, name)
    spec = resolve(reference).trace()
    actions = {action.name: action for action in spec.actions}
    strange = [one for one in begin["hidden"] if one not in actions]
    if strange:
        raise TraceError(f"the hidden action {strange[0]!r} is none of {name}: {', '.join(actions)}")
    names = _Names(frozenset(begin.get("ranks", ())))
    kinds = {variable.name: variable.type for variable in (*spec.variables, *spec.constants)}
    for constant, value in begin["constants"].items():
        if constant not in kinds:
            raise TraceError(f"there is no constant {constant!r}")
        _note_constant(names, constant, *_split(kinds[constant]), value)
    for event in (event for stream in streams for event in stream):
        _note(names, actions, kinds, event)
    large = [sort for sort, found in names.names.items() if len(found) > OF_SORT_LIMIT]
    if large:
        raise TraceError(
            f"{len(names.names[large[0]])} names of {large[0]}: give a shorter piece of the trace "
            f"(at most {OF_SORT_LIMIT})"
        )
    constants = {
        one: _constant(names, *_split(kinds[one]), value) for one, value in begin["constants"].items()
    }
    instance = Instance(
        reference, names.bounds(spec, begin["bounds"]), constants, name="the trace's instance"
    )
    inside = [[_inside(names, actions, kinds, event) for event in stream] for stream in streams]
    return Trace(name, instance, tuple(begin["hidden"]), inside, missing, where)


def _split(kind: Type) -> tuple[tuple[Type, ...], Type]:
    """The types of its keys, none unless it is a map, and of what it holds."""
    return (kind.keys, kind.value) if isinstance(kind, MapType) else ((), kind)


def _note_constant(names: _Names, constant: str, keys: Sequence[Type], kind: Type, value: Any) -> None:
    if not keys:
        names.note(kind, value)
        return
    if not isinstance(value, dict) or not isinstance(keys[0], SortType):
        raise TraceError(
            f"give the constant {constant} as an object, name by name; for each further key another"
        )
    for key, item in value.items():
        names.note(keys[0], key)
        _note_constant(names, constant, keys[1:], kind, item)


def _constant(names: _Names, keys: Sequence[Type], kind: Type, value: Any) -> Any:
    if not keys:
        return names.of(kind, value)
    assert isinstance(keys[0], SortType)
    known = names.names[keys[0].name]
    lacking = [key for key in known if key not in value]
    if lacking:
        raise TraceError(f"a constant map says nothing of {lacking[0]!r}")
    return [_constant(names, keys[1:], kind, value[key]) for key in known]


def _note(names: _Names, actions: Mapping[str, Action], kinds: Mapping[str, Type], event: Event) -> None:
    at = f"{event.source}:{event.line}"
    if event.action and event.action not in actions:
        raise TraceError(f"{at}: {event.action!r} is not an action; known: {', '.join(actions)}")
    types = {p.name: p.type for p in actions[event.action].params} if event.action else {}
    for name, value in event.args.items():
        if name not in types:
            raise TraceError(f"{at}: {event.action} has no parameter {name!r}; it has {', '.join(types)}")
        names.note(types[name], value)
    for variable, keys, value in event.see:
        sorts, kind = _split(kinds[variable]) if variable in kinds else ((), None)
        if kind is None or len(keys) != len(sorts):
            raise TraceError(f"{at}: {variable}{list(keys) or ''} is not a variable of the protocol")
        for sort, key in zip(sorts, keys, strict=True):
            names.note(sort, key)
        names.note(kind, value)


def _inside(names: _Names, actions: Mapping[str, Action], kinds: Mapping[str, Type], event: Event) -> Event:
    types = {p.name: p.type for p in actions[event.action].params} if event.action else {}
    try:
        args = {name: names.of(types[name], value) for name, value in event.args.items()}
        see = []
        for variable, keys, value in event.see:
            sorts, kind = _split(kinds[variable])
            place = tuple(names.of(sort, key) for sort, key in zip(sorts, keys, strict=True))
            see.append((variable, place, names.of(kind, value)))
    except TraceError as error:
        raise TraceError(f"{event.source}:{event.line}: {error}") from error
    return Event(event.source, event.line, event.node, event.action, args, tuple(see))
