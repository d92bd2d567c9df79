"""What a gateway has to do, from what clients want and components say: a second description of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tidemark.impl.proxy.gateway import ReadReply
from tidemark.impl.values.collection_version import CollectionVersion
from tidemark.impl.values.messages import DeleteMessage, InsertMessage

CLIENTS_HEAR = "clients_hear_what_became_of_their_calls"
"""Claim id: a client is told what the component has answered, with which error it has failed, or what became
of its write; and what has no sense is refused, with nothing asked."""
ASKED_FOR_WHAT_CLIENTS_WANT = "components_are_asked_for_what_clients_want"
"""Claim id: each call is handed on once, with what the client has said, for the collection that its name
means then; changes and flushes one at a time."""
WRITTEN_AS_WANTED = "rows_are_written_as_they_are_wanted"
"""Claim id: what is appended are the client's rows or keys, each once, with the timestamp of the answer, and
all of one key in one channel; nothing of a write whose collection has changed before it had its timestamp."""
NOTHING_WAITS = "no_call_waits_for_another"
"""Claim id: while a client waits, some component has been asked and has not answered; for each of them that
neither changes nor flushes."""

THINGS = CollectionVersion("things", 3, "s", number=1, created=1, channels=("a_1v0", "b_1v1"), changed=2)
KNOWN = {
    "things": THINGS,
    "others": replace(THINGS, name="others", version=4, number=2, channels=("a_2v0",)),
    "gone": replace(THINGS, name="gone", version=5, number=3, gone=True),
    "also": CollectionVersion("also", 6, "", number=1, changed=4, alias_of="things"),
}
"""What the root coordinator has when it begins."""
SEGMENTS = {InsertMessage: 1, DeleteMessage: -1}
"""The segment that each kind of message gets."""
_WRITES = ("insert", "insert_values", "delete")
_ALONE = ("load", "release")
_CHANGES = ("create", "alter", "drop", "create_alias", "alter_alias", "drop_alias", *_ALONE, "flush")


@dataclass(eq=False)
class Request:
    """One call of a client.

    Attributes:
        known: what its name meant when it came.
        asked: whether a component was asked. answer: what that has answered, None before and for a failure.
        ts: of its messages. outcomes: by physical channel what became of the append.
        keys: what its messages are for. rows: of its messages, by key.
        over: the client was told.
    """

    method: str
    arguments: Mapping[str, Any]
    known: CollectionVersion
    asked: bool = False
    answer: Any = None
    ts: int = 0
    outcomes: dict[str, str] = field(default_factory=dict)
    keys: list[int] = field(default_factory=list)
    rows: dict[int, str] = field(default_factory=dict)
    over: bool = False


class CallReckoning:
    """One gateway.

    Attributes:
        open: questions to components that are not answered.
        ids: those that were given and are no row's.
        told: what clients were told, in order.
        wrong: what was seen to be wrong first.
    """

    def __init__(self, *, has_ids: bool) -> None:
        self.open = 0
        self.ids: set[int] = set()
        self.told: list[str] = []
        self.wrong: str | None = None
        self._has_ids = has_ids
        self._known = dict(KNOWN)
        self._unknown = False
        self._given = self._changes = self._none_given = 0
        self._altered: dict[str, int] = {}
        self._requests: list[Request] = []
        self._places: dict[tuple[int, int], str] = {}

    def seems(self, claim: str, text: str) -> None:
        """Something is wrong."""
        self.wrong = self.wrong or f"{claim}: {text}"

    # What the components say.

    def gives(self, count: int) -> int:
        """A timestamp is asked for, and given."""
        if count != 1:
            self.seems(ASKED_FOR_WHAT_CLIENTS_WANT, f"{count} timestamps are asked for")
        self._given += 1
        return self._given

    def gives_none(self) -> None:
        """A timestamp is asked for, and there is none."""
        self._none_given += 1

    def describes_none(self) -> None:
        """A collection is asked for, and there is no answer."""
        self._unknown = True

    def alters(self, name: str) -> CollectionVersion:
        """A collection changes, while the last timestamp is given."""
        found = self._known[name] = replace(self._known[name], version=self._known[name].version + 10)
        self._altered[name] = self._given
        return found

    def described(self, name: str) -> CollectionVersion:
        """What there is of a name."""
        return self._known.get(name, CollectionVersion(name, 0, ""))

    def changed(self, method: str, arguments: Mapping[str, Any]) -> CollectionVersion:
        """A change was carried out."""
        name = arguments.get("collection", "")
        answer = CollectionVersion(name, 7, "", created=len(self.told) + 200, changed=len(self.told) + 300)
        expected = answer.created if method == "create" else answer.changed
        self._open(method, arguments).answer = None if method in _ALONE else expected
        return answer

    def flushed(self, channels: Sequence[str]) -> int:
        """A flush was carried out."""
        self._open("flush", {"channels": tuple(channels)}).answer = len(self.told) + 400
        return len(self.told) + 400

    # What clients want.

    def comes(self, method: str, arguments: Mapping[str, Any]) -> Request:
        """A client calls."""
        request = Request(method, arguments, self._meant(arguments.get("collection", "")))
        self._requests.append(request)
        return request

    def _meant(self, name: str) -> CollectionVersion:
        """The collection of a name or alias."""
        found = self.described(name)
        if not found.is_alias:
            return found
        meant = self.described(found.alias_of)
        return replace(meant, version=max(found.version, meant.version))

    def _refusal(self, request: Request) -> str:
        """With which error a call is refused before anything is done; empty if it is not."""
        arguments = request.arguments
        if request.method == "insert_values" and (not arguments["values"] or not self._has_ids):
            return "WriteFailedError"
        if request.method in (*_WRITES, "describe") and not request.known.exists:
            return "CollectionError"
        limit, after, moments = arguments.get("page", (1, None, {}))
        if limit < 1 or (after is None) == bool(moments):
            return "ValueError"
        version = arguments.get("version")
        if version is not None and version != request.known.version:
            return "SchemaMismatchError"
        nothing = request.method in ("insert", "delete") and not (
            arguments.get("rows") or arguments.get("keys")
        )
        return "WriteFailedError" if nothing else ""

    # What the gateway asks for.

    def is_asked(self, method: str, arguments: Mapping[str, Any]) -> None:
        """A component is called."""
        request = self._open(method, arguments)
        if request.asked:
            self.seems(ASKED_FOR_WHAT_CLIENTS_WANT, f"{method} is asked for twice")
        request.asked = True
        if method in _CHANGES:
            self._changes += 1
            if self._changes > 1:
                self.seems(ASKED_FOR_WHAT_CLIENTS_WANT, f"{method} begins while another change lasts")

    def is_over(self, method: str) -> None:
        """The component has answered, or failed."""
        self._changes -= method in _CHANGES

    def _open(self, method: str, arguments: Mapping[str, Any]) -> Request:
        """The call of a client that is handed on so."""
        for request in self._requests:
            if not request.over and request.method == method and self._handed_on(request) == arguments:
                return request
        self.seems(ASKED_FOR_WHAT_CLIENTS_WANT, f"{method} of {dict(arguments)} is asked for")
        return Request(method, arguments, CollectionVersion("", 0, ""))

    def _handed_on(self, request: Request) -> dict[str, Any]:
        """What a component is told of a call."""
        given = request.arguments
        known = self._meant(given.get("collection", ""))
        match request.method:
            case "create":
                return {"shards": 1, "schema": "", **given}
            case "flush":
                return {"channels": known.channels}
            case "read":
                keys = given.get("keys")
                return {
                    "level": given["level"], "keys": None if keys is None else tuple(keys),
                    "client_ts": given.get("client_ts", 0), "channels": known.channels,
                    "title": f"{known.name} (number {known.number})",
                    "nearest": tuple(given.get("nearest", ())),
                    "shown": given.get("page", (1, None, {}))[2],
                }  # fmt: skip
        return dict(given)

    def is_written(self, message: InsertMessage | DeleteMessage) -> None:
        """A message is appended."""
        request = self._writer(message)
        if request is None:
            self.seems(WRITTEN_AS_WANTED, f"{message} is of no call")
            return
        rows = {row.key: row.value for row in message.rows} if isinstance(message, InsertMessage) else {}
        request.rows |= rows
        request.keys += message.keys if isinstance(message, DeleteMessage) else rows
        if request.ts not in (0, message.ts):
            self.seems(WRITTEN_AS_WANTED, f"a write has the timestamps {request.ts} and {message.ts}")
        request.ts = message.ts
        if message.channel not in request.known.channels:
            self.seems(WRITTEN_AS_WANTED, f"{message} is not for {request.known.channels}")
        self._look_at_places(request.known.number, message)
        if self._altered.get(request.known.name) == message.ts:
            self.seems(WRITTEN_AS_WANTED, f"{message} is written after {request.known.name!r} has changed")

    def _look_at_places(self, collection: int, message: InsertMessage | DeleteMessage) -> None:
        """All that happens to a key happens in one channel."""
        for key in _keys(message):
            place = self._places.setdefault((collection, key), message.channel)
            if place != message.channel:
                self.seems(WRITTEN_AS_WANTED, f"key {key} is in {place} and in {message.channel}")
        segments = _segments(message)
        if segments != {SEGMENTS[type(message)]}:
            self.seems(WRITTEN_AS_WANTED, f"{message} is for the segments {segments}")

    def _writer(self, message: InsertMessage | DeleteMessage) -> Request | None:
        """Whose message it is."""
        method = "delete" if isinstance(message, DeleteMessage) else "insert"
        for request in self._requests:
            given = request.arguments
            if request.method == "insert_values" and method == "insert":
                wanted = self.ids | set(request.keys)
            else:
                wanted = set(given.get("keys", ())) | {key for key, _ in given.get("rows", ())}
            if not request.over and request.method.startswith(method) and set(_keys(message)) <= wanted:
                return request
        return None

    def has_written(self, message: InsertMessage | DeleteMessage, outcome: str) -> None:
        """It has been, or not."""
        request = self._writer(message)
        if request is not None:
            request.outcomes[message.channel] = outcome

    # What clients hear.

    def is_told(self, request: Request, answer: Any) -> None:
        """A call has succeeded."""
        request.over = True
        self.told.append(f"{request.method} {answer}")
        if self._refusal(request):
            self.seems(CLIENTS_HEAR, f"{request.method} is not refused: {self._refusal(request)}")
        elif request.method in _WRITES:
            self._look_at_rows(request, answer)
        elif answer != self._due(request):
            self.seems(CLIENTS_HEAR, f"{request.method} is answered {answer}, not {self._due(request)}")
        elif request.method not in ("now", "describe") and not request.asked:
            self.seems(CLIENTS_HEAR, f"{request.method} is answered, and no component was asked")

    def _due(self, request: Request) -> Any:
        """What a call is answered that writes nothing."""
        match request.method:
            case "now":
                return self._given
            case "describe":
                return request.known
            case "read":
                known = self._meant(request.arguments["collection"])
                moments = {channel: 50 + place for place, channel in enumerate(known.channels)}
                found = ((10, "ten"), (0, "none"), (4, "four"), (4, "again"))
                rows = found if "nearest" in request.arguments else _paged(sorted(found), request.arguments)
                return ReadReply(request.arguments.get("client_ts", 0) + 100, moments, rows)
        return request.answer

    def _look_at_rows(self, request: Request, answer: Any) -> None:
        """What was written is what the client wants, and it knows the timestamp."""
        given = request.arguments
        ts, keys = answer if request.method == "insert_values" else (answer, given.get("keys", ()))
        if request.method == "insert_values":
            rows = dict(zip(keys, given["values"], strict=True))
            self.ids -= set(keys)
        else:
            rows = dict(given.get("rows", ()))
        if (request.rows, sorted(request.keys)) != (rows, sorted(rows or set(keys))):
            self.seems(WRITTEN_AS_WANTED, f"{request.rows or request.keys} are written, not {rows or keys}")
        if ts != request.ts or set(request.outcomes.values()) != {"appended"}:
            self.seems(CLIENTS_HEAR, f"write {request.ts} has succeeded, {request.outcomes}; told {ts}")

    def is_refused(self, request: Request, kind: str, text: str) -> None:
        """A call has failed."""
        request.over = True
        self.told.append(f"{request.method} {kind}")
        due = self._refusal(request)
        if due:
            if kind != due or request.asked or request.ts:
                self.seems(CLIENTS_HEAR, f"{request.method} is refused with {kind}; due: {due}")
        elif request.method in _WRITES:
            self._look_at_a_failure(request, kind, text)
        elif kind not in self._failures_of(request):
            self.seems(CLIENTS_HEAR, f"{request.method} fails with {kind}: {text}")

    def _failures_of(self, request: Request) -> set[str]:
        """Errors of what a call is for."""
        if request.asked:
            return {request.answer} if isinstance(request.answer, str) else set()
        if request.method in ("read", "flush") and not self._meant(request.arguments["collection"]).exists:
            return {"CollectionError"}
        return {self._failure_of_the_oracle()}

    def _failure_of_the_oracle(self) -> str:
        """The error of a call that has no timestamp; empty if no such call is left."""
        self._none_given -= 1
        return "RpcError" if self._none_given >= 0 else ""

    def fails(self, method: str, arguments: Mapping[str, Any], kind: str) -> None:
        """A component fails."""
        self._open(method, arguments).answer = kind

    def _look_at_a_failure(self, request: Request, kind: str, text: str) -> None:
        """A write has failed: why, and whether it may be in a log."""
        outcomes = set(request.outcomes.values())
        if not outcomes:
            altered = self._given and self._altered.get(request.known.name, 0) == self._given
            changed = "RpcError" if self._unknown else "SchemaMismatchError"
            due = changed if altered else self._failure_of_the_oracle()
            if kind != due:
                self.seems(CLIENTS_HEAR, f"a write that was not begun fails with {kind}; due: {due}")
        elif kind != "WriteFailedError" or outcomes == {"appended"}:
            self.seems(CLIENTS_HEAR, f"a write fails with {kind}, and {request.outcomes}")
        elif ("may come twice" in text) != (outcomes != {"refused"}):
            self.seems(CLIENTS_HEAR, f"a client is told {text!r}, and {request.outcomes}")

    # The end.

    def left(self) -> str | None:
        """What is wrong when a step has ended."""
        waiting = [request.method for request in self._requests if not request.over]
        alone = [method for method in waiting if method in _CHANGES]
        if self.wrong is None and self.open < len(waiting) - len(alone) + bool(alone):
            self.seems(NOTHING_WAITS, f"{waiting} wait, and {self.open} questions are open")
        return self.wrong

    def left_at_the_end(self, calls: int) -> str | None:
        """What is not done although nothing can happen any more."""
        if self.wrong is None and len(self.told) != calls:
            return f"{NOTHING_WAITS}: {len(self.told)} of {calls} calls were answered"
        return self.wrong


def _paged(rows: list[tuple[int, str]], arguments: Mapping[str, Any]) -> tuple[tuple[int, str], ...]:
    """The rows that a page of them shows, key by key."""
    limit, after, _ = arguments.get("page", (len(rows), None, {}))
    left = [key for key in dict(rows) if after is None or after < key][:limit]
    return tuple((key, value) for key, value in rows if key in left)


def _keys(message: InsertMessage | DeleteMessage) -> tuple[int, ...]:
    if isinstance(message, DeleteMessage):
        return message.keys
    return tuple(row.key for row in message.rows)


def _segments(message: InsertMessage | DeleteMessage) -> set[int]:
    if isinstance(message, DeleteMessage):
        return {message.segment_id}
    return {row.segment_id for row in message.rows}
