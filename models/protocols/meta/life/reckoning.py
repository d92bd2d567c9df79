"""What a catalogue has to do, from what clients want and edges say: a second description of it.

A call is a sequence of questions to the edges, each of which is due when the one before has been answered.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tidemark.impl.rootcoord.catalog import BATCH
from tidemark.impl.values.collection_version import CollectionVersion

DUE = "edges_are_asked_for_what_is_due"
"""Claim id: calls are carried out one after another, each with the questions that it is made of: the end of
an earlier change of this name; the messages of a change; its record, each proxy, its timestamp."""
ANSWERED_SO = "callers_hear_what_is_stored"
"""Claim id: a caller is answered with the record that is stored, or hears why not; a call that has no sense
is refused."""
NUMBERS_ONCE = "numbers_are_given_once"
"""Claim id: every number that was reserved is given once, in order, and no other."""
CACHES_END = "caches_end_with_their_sessions"
"""Claim id: after a change the cache of each session that has ended is closed, and no other; those that are
listed know the version."""
NOTHING_FOLLOWS = "nothing_follows_the_end_of_a_task"
"""Claim id: when the minimum of the DDL tasks reaches a timestamp, no append with it is under way."""

Question = tuple[Any, ...]
Steps = Generator[list[Question], Any, CollectionVersion]
"""Asks groups of questions; is sent the answer of the last one."""


class RefusedError(Exception):
    """A call has no sense, or an edge fails. Its text is the name of the error that the caller hears."""


class Call:
    """One call of a client. ``due``: the questions that it has not asked. ``open``: those not answered.

    ``result``: the record, or the name of an error; None while it lasts.
    """

    def __init__(self, steps: Steps) -> None:
        self.due: list[Question] = []
        self.open: list[Question] = []
        self.failure = ""
        self.result: CollectionVersion | str | None = None
        self._steps = steps

    def go_on(self, answer: Any = None) -> None:
        """Take the next questions."""
        try:
            failure, self.failure = self.failure, ""
            if failure:
                self.due = self._steps.throw(RefusedError(failure))
            else:
                self.due = self._steps.send(answer)
        except StopIteration as end:
            self.result = end.value
        except RefusedError as refused:
            self.result = str(refused)


class Reckoning:
    """One catalogue, from its load on.

    Attributes:
        versions: by name.
        sessions: the proxies whose sessions last.
        appends: timestamps of the appends that are under way.
        wrong: what was seen to be wrong first.
    """

    def __init__(
        self, stored: Mapping[str, CollectionVersion], sessions: Sequence[int], place: Callable[..., Any]
    ) -> None:
        self.versions = dict(stored)
        self.sessions = list(sessions)
        self.appends: list[int] = []
        self.wrong: str | None = None
        self._place = place
        self._last = max((record.version for record in stored.values()), default=0)
        self._next = self._end = 0
        self._calls: list[Call] = []

    def seems(self, claim: str, text: str) -> None:
        """Something is wrong."""
        self.wrong = self.wrong or f"{claim}: {text}"

    # The questions.

    def reserves(self, first: int, count: int) -> None:
        """Numbers are reserved."""
        if count != BATCH:
            self.seems(NUMBERS_ONCE, f"{count} numbers are reserved")
        self._next, self._end = first, first + count

    def takes(self, number: int | None) -> None:
        """A number is taken; None if there is none."""
        due = self._next if self._next < self._end else None
        if number != due:
            self.seems(NUMBERS_ONCE, f"number {number} is given, not {due}")
        self._next += number is not None

    def asks(self, *question: Any) -> None:
        """An edge is asked."""
        call = self._calls[0] if self._calls else None
        if call is None or question not in call.due:
            due = "nothing" if call is None else call.due
            self.seems(DUE, f"{question} is asked, and due is {due}")
            return
        call.open.append(question)
        if question[0] == "invalidate":
            call.due = []  # one of those that are missing, whichever
        else:
            call.due.remove(question)

    def answers(self, *question: Any, answer: Any = None, failure: str = "") -> None:
        """An edge has answered."""
        call = next((one for one in self._calls if question in one.open), None)
        if call is None:
            return  # it was not due
        call.open.remove(question)
        call.failure = call.failure or failure
        if not call.open and not call.due:
            call.go_on((question, answer))

    def comes(self, steps: Steps) -> Call:
        """A client calls; it has to wait while another call lasts."""
        call = Call(steps)
        self._calls.append(call)
        if len(self._calls) == 1:
            call.go_on()
        return call

    def has_ended(self, call: Call, result: CollectionVersion | str) -> None:
        """A caller is answered."""
        if call.result != result or call is not self._calls[0]:
            self.seems(ANSWERED_SO, f"a caller hears {result}; due is {call.result}, and {call.due} to ask")
        self._calls.remove(call)
        if self._calls:
            self._calls[0].go_on()

    # What a call is made of.

    def finishes(self) -> Steps:
        """The changes that an earlier catalogue has left open."""
        for name in list(self.versions):
            yield from self._finish(name)
        return CollectionVersion("", 0, "")

    def create(self, name: str, *, shards: int, schema: str) -> Steps:
        """See Catalog."""
        yield from self._finish(name)
        self._check(self._is_free(name))
        number = self._next
        channels = self._place(number, shards)
        return (yield from self._change(CollectionVersion(name, 0, schema, number=number, channels=channels)))

    def alter(self, name: str, *, schema: str) -> Steps:
        """See Catalog."""
        yield from self._finish(name)
        self._check(self._exists(name))
        return (yield from self._change(replace(self.versions[name], schema=schema)))

    def drop(self, name: str) -> Steps:
        """See Catalog."""
        yield from self._finish(name)
        self._check(self._exists(name) and name not in self._pointed())
        return (yield from self._change(replace(self.versions[name], gone=True)))

    def create_alias(self, alias: str, collection: str) -> Steps:
        """See Catalog."""
        yield from self._finish(alias)
        self._check(self._is_free(alias))
        return (yield from self._point(alias, collection))

    def alter_alias(self, alias: str, collection: str) -> Steps:
        """See Catalog."""
        yield from self._finish(alias)
        self._check(self._is_alias(alias))
        return (yield from self._point(alias, collection))

    def drop_alias(self, alias: str) -> Steps:
        """See Catalog."""
        yield from self._finish(alias)
        self._check(self._is_alias(alias))
        return (yield from self._change(replace(self.versions[alias], gone=True)))

    def _point(self, alias: str, collection: str) -> Steps:
        self._check(self._exists(collection))
        number = self.versions[collection].number
        return (yield from self._change(CollectionVersion(alias, 0, "", number=number, alias_of=collection)))

    def _change(self, record: CollectionVersion) -> Steps:
        yield from self._store_and_tell(replace(record, changed=0))
        yield from self._finish(record.name)
        return self.versions[record.name]

    def _store_and_tell(self, record: CollectionVersion) -> Generator[list[Question], Any, None]:
        stored = replace(record, version=self._last + 1)
        yield from self._until_done(lambda: self._one("save", stored))
        self._last = stored.version
        self.versions[stored.name] = stored
        told: set[int] = set()
        while missing := [proxy for proxy in self.sessions if proxy not in told]:
            question, _ = yield [("invalidate", proxy, stored.name, stored.version) for proxy in missing]
            told.add(question[1])

    def _finish(self, name: str) -> Generator[list[Question], Any, None]:
        record = self.versions.get(name)
        if record is None or record.changed:
            return
        ts = yield from self._until_done(lambda: self._stamp(record))
        created = record.created or (ts if record.channels else 0)
        stored = replace(record, created=created, changed=ts)
        yield from self._until_done(lambda: self._one("save", stored))
        self.versions[name] = stored

    def _stamp(self, record: CollectionVersion) -> Generator[list[Question], Any, Any]:
        """A timestamp, and its message in each channel."""
        ts = yield from self._one("alloc")
        if record.channels:
            text = "create" if not record.created else "drop" if record.gone else "alter"
            yield [("announce", channel, ts, text) for channel in record.channels]
        return ts

    def _until_done(
        self, steps: Callable[[], Generator[list[Question], Any, Any]]
    ) -> Generator[list[Question], Any, Any]:
        """What a store, the oracle or a log refuses is tried again."""
        while True:
            try:
                return (yield from steps())
            except RefusedError:
                continue

    def _one(self, *question: Any) -> Generator[list[Question], Any, Any]:
        _, answer = yield [question]
        return answer

    # What there is.

    def _check(self, allowed: bool) -> None:  # noqa: FBT001 - a value, no option
        if not allowed:
            raise RefusedError("CollectionError")

    def _exists(self, name: str) -> bool:
        record = self.versions.get(name)
        return record is not None and not record.gone and not record.alias_of

    def _is_alias(self, name: str) -> bool:
        record = self.versions.get(name)
        return record is not None and not record.gone and bool(record.alias_of)

    def _is_free(self, name: str) -> bool:
        return not (self._exists(name) or self._is_alias(name))

    def _pointed(self) -> set[str]:
        return {record.alias_of for name, record in self.versions.items() if self._is_alias(name)}

    # The end of a step.

    def looks_at_appends(self, minimum: int) -> None:
        """What is under way is above the minimum of the DDL tasks."""
        if any(ts <= minimum for ts in self.appends):
            self.seems(NOTHING_FOLLOWS, f"{self.appends} are being appended, and the minimum is {minimum}")

    def left(self, minimum: int) -> str | None:
        """What is wrong when a step has ended. ``minimum``: of the DDL tasks."""
        self.looks_at_appends(minimum)
        for call in self._calls[:1]:
            if call.due:
                self.seems(DUE, f"{call.due} is not asked")
        return self.wrong
