"""What a proxy has to do with calls of other components, and when: the part of the reckoning beside the
writes.

A call has a queue: changes of metadata and flushes one after another, reads so many side by side. Each is
made once, at its timestamp, and its caller has the answer or the error, as soon as that can be.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tidemark.impl.proxy.config import ProxyConfig
from tidemark.models.protocols.common.scripted import OK

CALLS_ARE_ANSWERED = "calls_are_made_in_turn_and_answered"
"""Claim id: a call is made once, in the order of the timestamps of its queue, and its caller is told what the
component has said, as soon as it has."""


@dataclass
class Call:
    """One call.

    queue: "ddl" or "query". came: the caller asks. ts: 0 before its timestamp. begun: the component is asked.
    said: what the component has answered; None before. told: the error that ``submit`` has raised, or empty.
    """

    queue: str
    came: bool = False
    ts: int = 0
    begun: bool = False
    said: str | None = None
    told: str | None = None

    @property
    def waits(self) -> bool:
        """It has a timestamp, and no worker."""
        return bool(self.ts) and not self.begun and self.told is None

    @property
    def runs(self) -> bool:
        """The component has been asked, and has not answered."""
        return self.begun and self.said is None


@dataclass(frozen=True)
class Heard:
    """What a caller has in the end.

    error: what ``submit`` has raised. answer: of the component. failure: the error of the component. All are
    texts, empty if there is none. succeeded: the task says so.
    """

    error: str = ""
    answer: str = ""
    failure: str = ""
    succeeded: bool = False


@dataclass
class Calls:
    """The calls as they should be. The oracle answers them at once.

    config: of the proxy. complain: with a claim and words. serves: whether a report was accepted.
    closing: no call is begun any more.
    """

    config: ProxyConfig
    complain: Callable[[str, str], None]
    serves: Callable[[], bool]
    closing: bool = False
    calls: dict[str, Call] = field(default_factory=dict)

    def _wrong(self, words: str) -> None:
        self.complain(CALLS_ARE_ANSWERED, words)

    def asks_for_a_timestamp(self, name: str) -> None:
        """A call asks for its timestamp."""
        if not self.serves() or self.closing or self.calls[name].ts:
            self._wrong(f"{name} is taken, and should not be")

    def stamps(self, name: str, ts: int) -> None:
        """The oracle has answered; 0 if it has failed."""
        self.calls[name].ts = ts

    def _room(self, queue: str) -> int:
        """How many calls of a queue may begin now."""
        parallel = 1 if queue == "ddl" else self.config.parallel_tasks
        return parallel - sum(call.runs for call in self.calls.values() if call.queue == queue)

    def begins(self, name: str, ts: int) -> None:
        """The component is asked."""
        call = self.calls[name]
        waiting = [other.ts for other in self.calls.values() if other.waits and other.queue == call.queue]
        if self.closing or ts != min(waiting, default=0) or ts != call.ts or self._room(call.queue) < 1:
            self._wrong(f"{name} is called at {ts}, out of turn: {self.calls}")
        call.begun = True

    def ends(self, name: str, said: str) -> None:
        """The component has answered."""
        self.calls[name].said = said

    def is_told(self, name: str, heard: Heard) -> None:
        """The caller is told."""
        call = self.calls[name]
        call.told = heard.error
        if call.said is not None:
            failed = "" if call.said == OK else call.said
            right = Heard(answer="" if failed else f"{name} {call.ts}", failure=failed, succeeded=not failed)
        elif self.closing and not call.begun:
            right = Heard("ProxyClosedError")
        else:
            right = Heard("" if call.ts else "RpcError")
        if heard != right:
            self._wrong(f"{name} has {heard}, not {right}")

    def unfinished(self) -> list[str]:
        """Who has come and is not told."""
        return [name for name, call in self.calls.items() if call.came and call.told is None]

    def left(self) -> None:
        """After a step: whoever can have a worker or an answer has it."""
        for name, call in self.calls.items():
            late = call.told is None and call.came and (self.serves() or self.closing)
            if late and (not call.ts or call.said is not None):
                self._wrong(f"{name} is not taken, or not told: {call}")
            if late and call.waits and self._room(call.queue):
                self._wrong(f"{name} waits, and a worker is free")
