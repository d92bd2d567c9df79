"""The simulated network: calls, one-way messages, and every way in which they fail.

A call is up to three events. *deliver*: the handler starts in the lane of the destination. *reply*: the
answer reaches the caller. In place of the first one: *drop* (the request vanishes and the caller times out),
*delay* (the caller times out, the request stays under way). Before it: *duplicate* (a copy is under way as
well, and is delivered at any later time; the answer is not waited for). In place of the second one:
*lose* (the caller times out although the request took effect). Requests under way outlive their sender.

Messages are not ordered unless a link is declared as ordered. There, *overtake* delivers a message before
earlier ones, and a copy comes directly behind its original.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import replace
from typing import Any

from tidemark.models.simulation.errors import CallTimeoutError, CallUnavailableError, ProgramError
from tidemark.models.simulation.loop.freezing import isolate
from tidemark.models.simulation.loop.lane import Event, Lane
from tidemark.models.simulation.settings import FaultKind
from tidemark.models.simulation.world.environment import Environment
from tidemark.models.simulation.world.links import Links
from tidemark.models.simulation.world.message import Message

Handler = Callable[..., Awaitable[Any]]


class Network:
    """All messages of one execution."""

    def __init__(self, world: Environment) -> None:
        self._world = world
        self._handlers: dict[str, tuple[Lane, dict[str, Handler]]] = {}
        self._messages: dict[str, Message] = {}
        self._links = Links(world, world.settings)
        self._checked = False

    def dismantle(self) -> None:
        """Forget handlers and messages."""
        self._handlers.clear()
        self._messages.clear()
        self._links.clear()

    def _check_links(self) -> None:
        """Complain about links of processes that do not exist when the first message is sent."""
        self._checked = True
        for name in self._links.names():
            if name not in self._world.lanes:
                known = ", ".join(sorted(self._world.lanes)) or "none"
                raise ProgramError(f"a link names no process: {name!r}; the processes are: {known}")

    def in_flight(self) -> dict[str, tuple[str, str, tuple[Any, ...], str]]:
        """Return each message that is not gone: (destination, method, arguments, state) by the name of its
        mediated object, so that the result may be part of an observation.
        """
        return {
            f"message {title}": (message.destination, message.method, message.arguments, message.state)
            for title, message in self._messages.items()
        }

    def answer(self, title: str) -> str:
        """Return the answer that is under way to the caller of a message, in words; empty if none is."""
        message = self._messages.get(title)
        return message.answer if message is not None else ""

    def awaited(self, title: str) -> bool:
        """Tell whether the caller still waits for the answer to a message."""
        message = self._messages.get(title)
        return message is not None and message.waiting is not None

    def state(self, plain: Callable[[str], str]) -> Hashable:
        """Return all messages in a form that can be compared, without the numbers in their names."""
        messages = sorted(
            (
                plain(message.title),
                message.state,
                message.waiting is not None,
                repr(message.arguments),
                message.answer,
            )
            for message in self._messages.values()
        )
        waiting = self._links.state(lambda message: (plain(message.title), repr(message.arguments)))
        return tuple(messages), waiting

    # The process's side.

    def serve(self, lane: Lane, method: str, handler: Handler) -> None:
        """Register a handler of one incarnation."""
        owner, table = self._handlers.get(lane.name, (lane, {}))
        if owner is not lane:
            table = {}
        table[method] = handler
        self._handlers[lane.name] = (lane, table)

    async def call(self, lane: Lane, destination: str, method: str, arguments: tuple[Any, ...]) -> Any:
        """Send a request and wait for what becomes of it."""
        future: asyncio.Future[Any] = self._world.loop.create_future()
        message = self._send(lane, destination, method, arguments, future)
        try:
            return await future
        except asyncio.CancelledError:
            self._abandon(message)
            raise

    def post(self, lane: Lane, destination: str, method: str, arguments: tuple[Any, ...]) -> None:
        """Send a request that is not answered."""
        self._send(lane, destination, method, arguments, None)

    def _send(
        self,
        lane: Lane,
        destination: str,
        method: str,
        arguments: tuple[Any, ...],
        waiting: asyncio.Future[Any] | None,
    ) -> Message:
        if destination not in self._world.lanes:
            known = ", ".join(sorted(self._world.lanes))
            raise ProgramError(f"{lane.title} sends {method!r} to {destination!r}, which is none of: {known}")
        if not self._checked:
            self._check_links()
        title = f"{lane.title}#{lane.next_number()} {destination}.{method}"
        message = Message(lane, destination, method, isolate(arguments), waiting, title=title)
        self._enter(message)
        return message

    def _enter(self, message: Message, *, behind: Message | None = None) -> None:
        """Put a message under way; on an ordered link at the end, or directly behind another one."""
        message.bit = self._world.interner.bit(f"message {message.title}")
        self._messages[message.title] = message
        self._world.touch(writes=message.bit)
        link = self._links.queue(message)
        if link is not None:
            self._touch_link(message)
            link.insert(len(link) if behind is None else link.index(behind) + 1, message)
        self._offer_request(message)

    # Events.

    def _offer(
        self,
        message: Message,
        verb: str,
        lane: Lane,
        action: Callable[[], None],
        fault: FaultKind | None = None,
    ) -> None:
        if fault is not None and not self._links.allows(message, fault):
            return
        label = f"{verb} {message.title}"
        message.events.append(label)

        def fire() -> None:
            self._world.touch(writes=message.bit)
            if fault is not None:
                self._links.spend(message, fault)
                self._withdraw_faults()
            action()

        event = Event(label, lane, fire, fault=fault is not None, message=message)
        if fault is None:
            self._world.events[label] = event
        else:
            self._world.faults[label] = (fault, event)

    def _withdraw(self, message: Message) -> None:
        for label in message.events:
            self._world.events.pop(label, None)
            self._world.faults.pop(label, None)
        message.events.clear()

    def _withdraw_faults(self) -> None:
        """Take back the faults that are no longer within the budgets of links and of all messages."""
        for message in self._messages.values():
            for label in message.events:
                kind, _ = self._world.faults.get(label, (None, None))
                if kind is not None and not self._links.allows(message, kind):
                    del self._world.faults[label]

    def _offer_request(self, message: Message) -> None:
        there = self._world.lanes[message.destination]
        link = self._links.queue(message)
        if link is not None and link[0] is not message:
            self._offer(message, "overtake", there, lambda: self._deliver(message), FaultKind.REORDER)
            return
        self._offer(message, "deliver", there, lambda: self._deliver(message))
        if message.copy:
            return
        self._offer(message, "drop", message.sender, lambda: self._drop(message), FaultKind.DROP)
        world = self._world.environment
        self._offer(message, "duplicate", world, lambda: self._duplicate(message), FaultKind.DUPLICATE)
        if message.waiting is not None:
            self._offer(message, "delay", message.sender, lambda: self._delay(message), FaultKind.DELAY)

    def _offer_reply(self, message: Message, settle: Callable[[asyncio.Future[Any]], None]) -> None:
        waiting = message.waiting
        if waiting is None:
            self._forget(message)
            return
        message.state = "answered"

        def reply() -> None:
            self._forget(message)
            if not waiting.done():
                settle(waiting)

        def lose() -> None:
            self._forget(message)
            time_out(message, waiting)

        self._offer(message, "reply", message.sender, reply)
        self._offer(message, "lose reply", message.sender, lose, FaultKind.LOST_REPLY)

    def _forget(self, message: Message) -> None:
        self._withdraw(message)
        message.state = "gone"
        self._messages.pop(message.title, None)

    def _leave_link(self, message: Message) -> None:
        link = self._links.queue(message)
        if link is None:
            return
        self._touch_link(message)
        was_first = link[0] is message
        link.remove(message)
        if link and was_first:
            self._reoffer(link[0])

    def _touch_link(self, message: Message) -> None:
        name = f"link {message.sender.name} {message.destination}"
        self._world.touch(writes=self._world.interner.bit(name))

    def _deliver(self, message: Message) -> None:
        self._withdraw(message)
        self._leave_link(message)
        message.state = "handled"
        self._handle(message)

    def _duplicate(self, message: Message) -> None:
        message.copies += 1
        title = f"{message.title} again" + (f" {message.copies}" if message.copies > 1 else "")
        again = replace(message, waiting=None, title=title, copy=True, copies=0, bit=0, events=[])
        self._enter(again, behind=message)

    def _handle(self, message: Message) -> None:
        world = self._world
        lane = world.lanes[message.destination]
        owner, table = self._handlers.get(lane.name, (lane, {}))
        if not lane.alive or owner is not lane or not table:
            self._unavailable(message)
            return
        handler = table.get(message.method)
        if handler is None:
            raise ProgramError(
                f"{lane.title} does not serve {message.method!r}; "
                f"it serves: {', '.join(sorted(table)) or 'nothing'}"
            )
        message.server = lane
        work = self._run_handler(message, handler, isolate(message.arguments))
        world.loop.start(lane, work, f"{lane.title}/{message.method} {message.sender.title}")

    async def _run_handler(self, message: Message, handler: Handler, arguments: tuple[Any, ...]) -> None:
        try:
            result = await handler(*arguments)
        except Exception as error:
            # The failure of a call is its answer, even if the caller has given up; nothing else would see it.
            if not message.expects_reply:
                raise
            self._answer(message, error)
        except asyncio.CancelledError:
            words = f"{message.destination} gave up {message.method!r} of {message.sender.title}"
            self._answer(message, CallUnavailableError(words))
            raise
        else:
            self._answer(message, None, isolate(result))

    def _answer(self, message: Message, error: Exception | None, result: Any = None) -> None:
        self._world.touch(writes=message.bit)
        message.answer = repr(result if error is None else error)

        def settle(waiting: asyncio.Future[Any]) -> None:
            if error is None:
                waiting.set_result(result)
            else:
                waiting.set_exception(error)

        self._offer_reply(message, settle)

    def _unavailable(self, message: Message) -> None:
        words = (
            f"{message.destination} is down: {message.method!r} of {message.sender.title} was not answered"
        )
        self._answer(message, CallUnavailableError(words))

    def _drop(self, message: Message) -> None:
        self._leave_link(message)
        self._forget(message)
        if message.waiting is not None:
            time_out(message, message.waiting)

    def _delay(self, message: Message) -> None:
        waiting = message.waiting
        self._abandon(message)
        if waiting is not None:
            time_out(message, waiting)

    def _abandon(self, message: Message) -> None:
        """The caller no longer waits. What is under way stays under way."""
        if message.waiting is None:
            return
        self._world.touch(writes=message.bit)
        message.waiting = None
        if message.state == "answered":
            self._forget(message)
        self._withdraw_some(message, ("delay ",))

    def _withdraw_some(self, message: Message, verbs: tuple[str, ...]) -> None:
        for label in [label for label in message.events if label.startswith(verbs)]:
            message.events.remove(label)
            self._world.faults.pop(label, None)

    # Crashes and restarts.

    def process_died(self, lane: Lane) -> None:
        """Break the calls of and to a dead incarnation. Requests that were not delivered stay under way."""
        for message in list(self._messages.values()):
            if message.sender is lane:
                self._abandon(message)
            if message.server is lane and message.state == "handled":
                self._world.touch(writes=message.bit)
                self._unavailable(message)
            if message.state == "sent" and (message.sender is lane or message.destination == lane.name):
                self._reoffer(message)

    def process_restarted(self, old: Lane) -> None:
        """Direct what is still under way to the new incarnation."""
        for message in self._messages.values():
            if message.state == "sent" and message.destination == old.name:
                self._reoffer(message)

    def _reoffer(self, message: Message) -> None:
        self._withdraw(message)
        self._offer_request(message)


def time_out(message: Message, waiting: asyncio.Future[Any]) -> None:
    """Tell the caller that no answer comes."""
    if not waiting.done():
        waiting.set_exception(CallTimeoutError(f"{message.destination}.{message.method} timed out"))
