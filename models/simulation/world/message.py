"""A request of the simulated network."""

import asyncio
from typing import Any

from tidemark.models.simulation.loop.lane import Lane


class Message:
    """A request under way, being handled, or answered. ``copy``: no fault meets it; ``copies``: how many it
    has. ``expects_reply``: it is a call, even if its caller no longer waits. ``title``: unique and determined
    by the history. ``state``: "sent", "handled", "answered" or "gone". ``waiting``: future of a caller that
    waits.
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
