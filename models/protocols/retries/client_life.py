"""A user's client by itself: each of its calls, with every answer that a proxy may give.

What is sent, what the caller hears, which versions and which timestamp the client keeps, and what its history
says follows from the calls and the answers alone.
"""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import AsyncIterator, Callable, Generator, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from tidemark.impl.client.client import Client
from tidemark.impl.client.history import History
from tidemark.impl.system.connection import ConnectionLostError, Json, RequestRefusedError
from tidemark.models.protocols.common.compared import ComparedProgram
from tidemark.models.protocols.retries.client_scripts import BROKEN, LEVELS, LOST, MAY_HAVE, MISMATCH, SCRIPTS
from tidemark.models.simulation.world.process import Process

SENT = "a_client_sends_what_its_user_asks_for"
"""Claim id: each call is one request with the caller's arguments; an insert is for the version that is known,
a session read carries the session's timestamp, and nothing is sent twice but an insert that was refused for
an older version than the one that is known then."""
HEARD = "a_caller_hears_what_was_answered"
"""Claim id: the caller gets what the proxy has answered, or its error."""
CARRIED = "a_session_knows_its_greatest_timestamp"
"""Claim id: the session's timestamp is the greatest of its writes and of the moments of its answers, and of
no other number."""
KEPT = "a_version_is_kept_until_it_is_refused"
"""Claim id: a client keeps the version of each name that it has written to, until a proxy refuses it or the
name points elsewhere."""
NOTED = "a_history_says_what_may_have_happened"
"""Claim id: each operation is one line: what was asked, when, and whether it has happened, has not, or may
have happened."""

Request = tuple[str, Json]
Steps = Generator[Request, Any, Any]


def _runs(keys: Iterable[int]) -> list[list[int]]:
    """Keys as inclusive runs."""
    every = set(keys)
    firsts = sorted(key for key in every if key - 1 not in every)
    lasts = sorted(key for key in every if key + 1 not in every)
    return [list(pair) for pair in zip(firsts, lasts, strict=True)]


@dataclass
class Reckoning:
    """A client as it has to be. Each call is a generator of requests that is sent their answers."""

    ts: int = 0
    versions: dict[str, int] = field(default_factory=dict)
    lines: list[Json] = field(default_factory=list)

    def wrote(self, ts: int) -> int:
        """An acknowledged write, or a change."""
        self.ts = max(self.ts, ts)
        return ts

    def noted(self, operation: str, request: Request, **facts: Any) -> Steps:
        """A request whose operation is in the history."""
        line: Json = {"op": operation, "collection": request[1]["collection"], **facts}
        self.lines.append(line | {"outcome": "unknown", "error": "", "ts": 0, "seen": []})
        line = self.lines[-1]
        try:
            answer = yield request
        except RequestRefusedError as refused:
            line |= {"error": str(refused), "outcome": "unknown" if refused.kind in MAY_HAVE else "fail"}
            raise
        except ConnectionLostError as lost:
            line["error"] = str(lost)
            raise
        line |= {
            "outcome": "ok",
            "ts": answer.get("ts", 0),
            "seen": _runs(k for k, _ in answer.get("rows", ())),
        }
        return answer

    def plain(self, operation: str, collection: str, **asked: Any) -> Steps:
        """A call with a timestamp for its answer, if it has one."""
        request = (operation, {"collection": collection, **asked})
        answer = yield from self.noted(operation, request)
        return self.wrote(answer["ts"]) if "ts" in answer else None

    def create(self, collection: str, *, shards: int = 1, schema: str = "") -> Steps:
        """See Client."""
        return (yield from self.plain("create", collection, shards=shards, schema=schema))

    def alter(self, collection: str, schema: str) -> Steps:
        """See Client."""
        return (yield from self.plain("alter", collection, schema=schema))

    def drop(self, collection: str) -> Steps:
        """See Client."""
        return (yield from self.plain("drop", collection))

    def flush(self, collection: str) -> Steps:
        """See Client."""
        return (yield from self.plain("flush", collection))

    def load(self, collection: str) -> Steps:
        """See Client."""
        return (yield from self.plain("load", collection))

    def release(self, collection: str) -> Steps:
        """See Client."""
        return (yield from self.plain("release", collection))

    def close(self) -> Steps:
        """See Client."""
        yield ("close", {})

    def delete(self, collection: str, keys: list[int]) -> Steps:
        """See Client."""
        chosen = sorted(set(keys))
        request = ("delete", {"collection": collection, "keys": chosen})
        answer = yield from self.noted("delete", request, keys=_runs(chosen))
        return self.wrote(answer["ts"])

    def insert(self, collection: str, rows: dict[int, str]) -> Steps:
        """See Client: again as long as a newer version is refused."""
        last = -1
        while True:
            if collection not in self.versions:
                self.versions[collection] = (yield ("describe", {"collection": collection}))["version"]
            version = self.versions[collection]
            asked = {"rows": [[key, value] for key, value in rows.items()], "version": version}
            try:
                request = ("insert", {"collection": collection, **asked})
                answer = yield from self.noted("insert", request, keys=_runs(rows))
            except RequestRefusedError as refused:
                if refused.kind != MISMATCH or version <= last:
                    raise
                last = version
                del self.versions[collection]
            else:
                return self.wrote(answer["ts"])

    def create_alias(self, alias: str, collection: str) -> Steps:
        """See Client."""
        return (yield from self._alias("create_alias", alias=alias, collection=collection))

    def alter_alias(self, alias: str, collection: str) -> Steps:
        """See Client."""
        return (yield from self._alias("alter_alias", alias=alias, collection=collection))

    def drop_alias(self, alias: str) -> Steps:
        """See Client."""
        return (yield from self._alias("drop_alias", alias=alias))

    def _alias(self, method: str, **asked: str) -> Steps:
        answer = yield (method, asked)
        self.versions.pop(asked["alias"], None)
        return self.wrote(answer["ts"])

    def query(self, collection: str, *, keys: list[int] | None = None, **how: Any) -> Steps:
        """See Client."""
        chosen = None if keys is None else sorted(set(keys))
        return (yield from self._read("query", collection, {"keys": chosen}, **how))

    def search(self, collection: str, *, near: int, limit: int = 10, **how: Any) -> Steps:
        """See Client."""
        if limit < 1:
            raise ValueError
        return (yield from self._read("search", collection, {"keys": None, "nearest": [near, limit]}, **how))

    def count(self, collection: str, **how: Any) -> Steps:
        """See Client."""
        rows, _, _ = yield from self.query(collection, **how)
        return len(rows)

    def pages(self, collection: str, *, size: int = 1000, level: str = "bounded", at_least: int = 0) -> Steps:
        """See Client: not in the history."""
        if size < 1:
            raise ValueError
        asked: Json = {"collection": collection, "level": level, "keys": None}
        asked["ts"] = self.ts if level == "session" else at_least
        found: list[tuple[dict[int, str], int, dict[str, int]]] = []
        while not found or len(found[-1][0]) == size:
            page: Json = {"limit": size, "after": None, "moments": {}}
            if found:
                page |= {"after": max(found[-1][0]), "moments": found[0][2]}
            answer = yield ("read", asked | {"page": page})
            self.ts = max(self.ts, *answer["moments"].values())
            found.append((dict(answer["rows"]), answer["guarantee"], answer["moments"]))
        return found

    def _read(
        self, operation: str, collection: str, asked: Json, *, level: str = "bounded", at_least: int = 0
    ) -> Steps:
        facts: Json = {"level": level.capitalize(), "keys": _runs(asked["keys"] or ())}
        if level == "customized":
            facts["guarantee"] = at_least
        ts = self.ts if level == "session" else at_least
        request = ("read", {"collection": collection, "level": level, "ts": ts, **asked})
        answer = yield from self.noted(operation, request, **facts)
        self.ts = max(self.ts, *answer["moments"].values())
        return dict(answer["rows"]), answer["guarantee"], answer["moments"]


class _Lines(io.StringIO):
    """What a history has written; it stays when the file is closed."""

    def close(self) -> None:
        """The next line follows."""


class _File:
    """Stands for the path of a history."""

    def __init__(self) -> None:
        self.lines = _Lines()

    def open(self, mode: str, *, encoding: str) -> _Lines:
        """Open it at its end."""
        if (mode, encoding) != ("a", "utf-8"):
            raise ValueError(f"a history is opened with {mode!r}, {encoding!r}")
        return self.lines


class ClientProgram(ComparedProgram):
    """A client, its connection and its history."""

    async def live(self, process: Process) -> None:
        """Make the client, and call."""
        self._process = process
        self._right = Reckoning()
        self._file = _File()
        history = History(cast("Any", self._file), client="u", process="p", clock=itertools.count(1).__next__)
        self._client = Client(self, history=None if "silent" in self.script else history)
        self._heard: list[Hashable] = []
        self._ended = False
        self.begun = True
        for one in self.script["calls"]:
            await self._one(one)
            await self.halt_if_wrong()
        self._ended = True

    async def _one(self, one: Mapping[str, Any]) -> None:
        """Make one call, and compare."""
        self._answers, self._sent = list(one["answers"]), list[Request]()
        more = {name: (LEVELS[value] if name == "level" else value) for name, value in one["more"].items()}
        heard = await self._outcome(lambda: getattr(self._client, one["call"])(*one["asked"], **more))
        sent, due = self._reckoned(one)
        self._heard.append(repr(heard))
        self._compare(SENT, one, self._sent, sent)
        self._compare(HEARD, one, heard, due)
        self._compare(CARRIED, one, self._client.session.timestamp, self._right.ts)
        self._compare(KEPT, one, self._client.schemas.versions, self._right.versions)
        self._compare(NOTED, one, self._lines(), [] if "silent" in self.script else self._right.lines)

    async def _outcome(self, call: Callable[[], Any]) -> Any:
        try:
            found = call()
            if isinstance(found, AsyncIterator):
                return [(page.rows, page.guarantee, page.moments) async for page in found]
            found = await found
        except Exception as failure:  # noqa: BLE001  whatever it is, it is looked at
            return _error(failure)
        if hasattr(found, "rows"):
            return found.rows, found.guarantee, found.moments
        return found

    def _reckoned(self, one: Mapping[str, Any]) -> tuple[list[Request], Any]:
        """What has to be sent, and heard."""
        sent: list[Request] = []
        answers = iter(one["answers"])
        try:
            steps = getattr(self._right, one["call"])(*one["asked"], **one["more"])
            request = next(steps)
            while True:
                sent.append(request)
                answer = {} if request[0] == "close" else next(answers)
                failure = _failure(answer)
                request = steps.send(answer) if failure is None else steps.throw(failure)
        except StopIteration as done:
            return sent, done.value
        except Exception as failure:  # noqa: BLE001  an error of the script is one of its calls, too
            return sent, _error(failure)

    async def call(self, method: str, **arguments: Any) -> Json:
        """See Connection."""
        self._sent.append((method, arguments))
        await self._process.point("answer")
        answer: Any = self._answers.pop(0) if self._answers else "nothing more is to be asked"
        failure = _failure(answer)
        if failure is not None:
            raise failure
        found: Json = answer
        return found

    async def close(self) -> None:
        """See Connection."""
        self._sent.append(("close", {}))

    def _lines(self) -> list[Json]:
        """The history: times of the clock, one after the other, and each line the next of its client."""
        lines = [json.loads(line) for line in self._file.lines.getvalue().splitlines()]
        head = {"kind": "op", "v": 1, "client": "u", "process": "p"}
        found, last = [], 0
        for seq, line in enumerate(lines):
            about = {name: line.pop(name, None) for name in (*head, "seq", "start", "end")}
            if about | head | {"seq": seq} != about or not last < about["start"] < about["end"]:
                self._compare(NOTED, line, about, head | {"seq": seq})
            last = about["end"]
            found.append(line)
        return found

    def _compare(self, claim: str, one: Mapping[str, Any], found: object, due: object) -> None:
        self.compare(claim, f"{one.get('call')}{one.get('asked')}", found, due)

    # What is looked at.

    def look(self) -> Hashable:
        """What was heard."""
        return tuple(self._heard)

    def wrong_at_the_end(self) -> str | None:
        """All calls have ended."""
        return None if self._ended else f"{HEARD}: {len(self._heard)} calls have ended, and no more"


def _failure(answer: Any) -> Exception | None:
    """The error that an answer is, if it is one."""
    if answer == LOST:
        return ConnectionLostError("it is gone")
    if answer == BROKEN:
        return RuntimeError("it is broken")
    return RequestRefusedError(answer, "so it is") if isinstance(answer, str) else None


def _error(failure: Exception) -> Hashable:
    return type(failure).__name__, getattr(failure, "kind", "")


def life() -> ClientProgram:
    """Return the program of all scripts."""
    return ClientProgram(SCRIPTS, timers=0)
