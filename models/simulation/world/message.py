"""A request of the simulated network."""

import asyncio
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from tidemark.models.simulation.loop.lane import Lane


@dataclass(slots=True, eq=False, repr=False)
class Message:
    """A request under way, being handled, or answered. ``copy``: no fault meets it; ``copies``: how many it
    has. ``expects_reply``: it is a call, even if its caller no longer waits. ``title``: unique and determined
    by the history. ``state``: "sent", "handled", "answered" or "gone". ``waiting``: future of a caller that
    waits.
    """

    sender: Lane
    destination: str
    method: str
    arguments: tuple[Any, ...]
    waiting: "asyncio.Future[Any] | None"
    _: KW_ONLY
    title: str
    expects_reply: bool = False
    copy: bool = False
    copies: int = 0
    state: str = "sent"
    server: Lane | None = None
    bit: int = 0
    answer: str = ""
    events: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.expects_reply = self.expects_reply or self.waiting is not None
