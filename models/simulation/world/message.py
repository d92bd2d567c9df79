"""A request of the simulated network."""

import asyncio
from typing import Any

from tidemark.models.simulation.loop.lane import Lane


class Message:
    """A request under way, being handled, or answered.

    Attributes:
        answer: the answer in words, once there is one.
        copy: it is a copy of another request: no fault meets it.
        copies: how many copies it has.
        expects_reply: it is a call, even if its caller no longer waits for the answer.
        title: sender, number in the sender, destination and method: unique and history-determined.
        state: "sent", "handled", "answered" or "gone".
        waiting: future of the caller; None for a one-way message and for a caller that gave up or died.
    """

    __slots__ = (
        "answer",
        "arguments",
        "bit",
        "copies",
        "copy",
        "destination",
        "events",
        "expects_reply",
        "method",
        "sender",
        "server",
        "state",
        "title",
        "waiting",
    )

    def __init__(
        self,
        sender: Lane,
        destination: str,
        method: str,
        arguments: tuple[Any, ...],
        waiting: "asyncio.Future[Any] | None",
        *,
        title: str,
    ) -> None:
        self.sender = sender
        self.destination = destination
        self.method = method
        self.arguments = arguments
        self.waiting = waiting
        self.expects_reply = waiting is not None
        self.copy = False
        self.copies = 0
        self.title = title
        self.state = "sent"
        self.server: Lane | None = None
        self.bit = 0
        self.answer = ""
        self.events: list[str] = []
