"""What each kind of store does if it does one call after the other: the specification of its calls.

A contract takes what the store holds and a call, and gives what it holds then and what it answers. Nothing in
here is taken from an adapter.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from tidemark.impl.streaming.values import Record
from tidemark.impl.tso.ports import NEVER_SAVED
from tidemark.impl.types import MetaSnapshot
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.messages import LogMessage
from tidemark.models.protocols.store.histories.order import Answer, Call, State

DONE = None
"""The answer of a call that has nothing to say."""


class Raised(NamedTuple):
    """The answer is an error of this class."""

    error: str


Effect = tuple[State, Answer]


def objects(state: frozenset[tuple[str, Any]], call: Call) -> Effect:
    """Objects by path. A path that leaves the directory is refused. Nothing unfinished is left."""
    held = dict(state)
    if call.name == "paths":
        return state, tuple(sorted(held))
    if call.name == "unfinished":
        return state, 0
    path = call.arguments[0]
    if path.startswith("/") or ".." in path.split("/") or not path:
        return state, Raised("ValueError")
    if call.name == "get":
        return state, held.get(path, Raised("StoreError"))
    return frozenset({**held, path: call.arguments[1]}.items()), DONE


class Named(NamedTuple):
    """Objects by path, and those that were deleted: a power failure may bring each of them back."""

    held: frozenset[tuple[str, Any]] = frozenset()
    deleted: frozenset[tuple[str, Any]] = frozenset()

    def after_power(self) -> Iterator[Named]:
        """What may be left. What was put again under its name is not replaced."""
        gone = sorted(self.deleted)
        for count in range(len(gone) + 1):
            for back in combinations(gone, count):
                yield Named(frozenset({**dict(back), **dict(self.held)}.items()))


def folder(state: Named, call: Call) -> Effect:
    """Objects whose names are listed, by the folder that they are below, and that are deleted."""
    kept, answer = objects(state.held, call if call.name == "put" else Call("get", call.arguments))
    if answer == Raised("ValueError"):
        return state, answer
    held, path = dict(state.held), call.arguments[0]
    match call.name:
        case "below":
            return state, tuple(sorted(name for name in held if name.startswith(f"{path}/")))
        case "delete":
            gone = frozenset({(path, held.pop(path))} if path in held else ())
            return Named(frozenset(held.items()), state.deleted | gone), DONE
        case "put":
            return Named(kept, state.deleted), DONE
    return state, answer


def metadata(state: tuple[Any, Any], call: Call) -> Effect:
    """Records of channels and of segments, by name. A segment keeps the binlogs that it has."""
    channels, segments = map(dict, state)
    match call:
        case ("load", ()):
            return state, snapshot(MetaSnapshot(tuple(channels.values()), tuple(segments.values())))
        case ("save_channels", (records,)):
            channels |= {record.channel: record for record in records}
        case ("save_segment" | "replace_segment", (record,)):
            segments[record.segment_id] = record
        case ("collect", (record, gone)):
            channels[record.channel] = record
            segments = {number: kept for number, kept in segments.items() if number not in gone}
    return (frozenset(channels.items()), frozenset(segments.items())), DONE


def snapshot(found: MetaSnapshot) -> Answer:
    """What was loaded, in an order of its own."""
    return (
        tuple(sorted(found.channels, key=lambda record: record.channel)),
        tuple(sorted(found.segments, key=lambda record: record.segment_id)),
    )


def catalogue(state: tuple[frozenset[tuple[str, CollectionVersion]], int], call: Call) -> Effect:
    """The last version of each name; numbers, each reserved once."""
    saved, following = state
    match call:
        case ("load", ()):
            return state, tuple(sorted(dict(saved).values(), key=lambda record: record.number))
        case ("save", (record,)):
            return (frozenset({**dict(saved), record.name: record}.items()), following), DONE
        case ("reserve", (count,)):
            return (saved, following + count), following
    raise AssertionError(call)


def releases(state: frozenset[int], call: Call) -> Effect:
    """Numbers, each once."""
    match call:
        case ("load", ()):
            return state, tuple(sorted(state))
        case ("add", (number,)):
            return state | {number}, DONE
        case ("discard", (number,)):
            return state - {number}, DONE
    raise AssertionError(call)


class Streamed(NamedTuple):
    """What a streaming node has stored."""

    messages: frozenset[tuple[int, Any]] = frozenset()
    flusher: int = 0
    recovery: tuple[int, tuple[tuple[int, int], ...], int] = (0, (), 0)


def streaming(state: Streamed, call: Call) -> Effect:
    """Messages by place, of which the first stays; two checkpoints."""
    held = dict(state.messages)
    match call:
        case ("put", (place, messages)):
            return state._replace(messages=frozenset({place: messages, **held}.items())), DONE
        case ("places", (above,)):
            return state, tuple(sorted(place for place in held if place > above))
        case ("messages", ()):
            return state, tuple(sorted(held.items()))
        case ("load", ()):
            return state, (state.flusher, state.recovery)
        case ("save_flusher", (upto,)):
            return state._replace(flusher=upto), DONE
        case ("save_recovery", (place, rows, start)):
            return state._replace(recovery=(place, tuple(sorted(rows)), start)), DONE
    raise AssertionError(call)


class Window(NamedTuple):
    """The end of the window, the leader key, and the steady clock. A lease from the future is over."""

    now: float = 0.0
    saved: int = NEVER_SAVED
    term: int = 0
    server: str = ""
    renewed: float = 0.0
    expires: float = 0.0

    @property
    def held(self) -> bool:
        """There is a leader."""
        return self.term > 0 and self.renewed <= self.now < self.expires


def window(state: Window, call: Call) -> Effect:
    """One leader at a time, as long as its lease runs; saves of the leader alone; the window never falls."""
    lost = (state, Raised("NotLeaderError"))
    match call:
        case ("pass", (seconds,)):
            return state._replace(now=state.now + seconds), DONE
        case ("campaign", (server, lease)):
            if state.held:
                return state, None
            term = state.term + 1
            led = state._replace(term=term, server=server, renewed=state.now, expires=state.now + lease)
            return led, (server, term, lease)
        case ("renew", (term, lease)):
            mine = state.held and term == state.term
            return (state._replace(renewed=state.now, expires=state.now + lease), DONE) if mine else lost
        case ("resign", (term,)):
            return (state._replace(expires=state.now) if term == state.term else state), DONE
        case ("evict", (server,)):
            return (state._replace(expires=state.now) if server == state.server else state), DONE
        case ("wait_vacant", ()):
            return state, state.held
        case ("load", ()):
            return state, state.saved
        case ("save", (end, term)):
            mine = state.held and term == state.term
            return (state._replace(saved=max(state.saved, end)), DONE) if mine else lost
    raise AssertionError(call)


def packs(state: frozenset[tuple[str, Any]], call: Call) -> Effect | None:
    """Packs by channel, in the order of the appends. A reader waits for the next one."""
    held: Mapping[str, tuple[Any, ...]] = dict(state)
    channel = call.arguments[0]
    found = held.get(channel, ())
    match call.name:
        case "append":
            return frozenset({**held, channel: (*found, call.arguments[1])}.items()), DONE
        case "all":
            return state, found
        case "next_pack":
            later = [pack for pack in found if pack.end.ts > call.arguments[1].ts]
            return (state, later[0]) if later else None
    raise AssertionError(call)


class Fenced(NamedTuple):
    """A log with terms. ``notes``: how many terms and cuts there were."""

    term: int = 0
    cut: int = 0
    records: tuple[Record, ...] = ()
    notes: int = 0


def fenced(state: Fenced, call: Call, *, per_file: int, longest: int) -> Effect | None:
    """Records at places; only the last term appends; what is cut off goes in whole files."""
    end = state.cut + len(state.records)
    match call:
        case ("begin_term", ()):
            return state._replace(term=state.term + 1, notes=state.notes + 1), (state.term + 1, end)
        case ("append", (term, since, message)):
            if term not in (state.term, -1):
                return state, Raised("TermEndedError")
            if _length(message) > longest:
                return state, Raised("MessageTooLargeError")
            record = Record(end + 1, state.term, since, message)
            return state._replace(records=(*state.records, record)), end + 1
        case ("read", (place,)):
            if end < place:
                return None
            if place <= state.cut:
                return state, Raised("LogCutError")
            return state, state.records[place - state.cut - 1 :]
        case ("scan", (above,)):
            return state, tuple(record for record in state.records if record.place > above)
        case ("truncate", (upto,)):
            cut = max(state.cut, min(upto, end) // per_file * per_file)
            notes = state.notes + (cut > state.cut)
            return Fenced(state.term, cut, state.records[cut - state.cut :], notes), DONE
        case ("pause", ()):
            return state, DONE
        case ("files", ()):
            held = range(state.cut // per_file, (end + per_file - 1) // per_file)
            return state, (state.notes, tuple(held))
    raise AssertionError(call)


def _length(message: LogMessage) -> int:
    """How long a message is whose text is all that can be long."""
    return len(getattr(message, "text", ""))
