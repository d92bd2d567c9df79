"""One write of a client, as the reckoning of a proxy keeps it."""

from __future__ import annotations

from dataclasses import dataclass, field

from tidemark.impl.proxy.values import DmlTask, Message

APPENDED, REFUSED, UNKNOWN, UNDER_WAY = "appended", "refused", "unknown", "under way"
"""What is known of a message, in the words of ``AppendOutcome``."""


@dataclass
class Write:
    """One write: what a client asks for, and what became of its messages, by channel.

    task: None while the client has not seen it. popped: it is over, and has left the queue.
    check: it looks once more, with its timestamp, whether it is to be carried out; checked: it has looked.
    error: what its client hears when it is over, if it was not carried out; empty for an outcome.
    """

    task: DmlTask | None
    channels: tuple[str, ...]
    payload: str
    check: bool = False
    came: bool = False
    checked: bool = False
    error: str = ""
    told: str | None = None
    ts: int = 0
    popped: bool = False
    outcomes: dict[str, str] = field(default_factory=dict)

    @property
    def issued(self) -> bool:
        """A worker has it."""
        return bool(self.outcomes)

    def message(self, channel: str) -> Message:
        """Its message for a channel."""
        return Message(channel, self.ts, self.payload)

    def is_sent(self) -> bool:
        """Each message is in the log, refused, or given up at first."""
        return all(self.outcomes.get(channel) for channel in self.channels)

    def is_over(self) -> bool:
        """Nothing of it can come into a log any more."""
        return self.is_sent() and UNKNOWN not in self.outcomes.values()
