"""Thresholds of a streaming node."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class StreamingConfig:
    """Periods and pauses.

    Attributes:
        tick_seconds: between two looks at the acknowledged prefix.
        idle_rounds: rounds without a tick while no message was appended: with ``tick_seconds`` the delay of
            an idle channel's tick, 5 s in the original.
        persist_seconds: between two saves of the node's own checkpoint.
        retry_seconds: before a failed call is repeated.
    """

    tick_seconds: float = 0.2
    idle_rounds: int = 25
    persist_seconds: float = 1.0
    retry_seconds: float = 0.1

    def __post_init__(self) -> None:
        if self.idle_rounds < 0:
            raise ValueError(f"idle_rounds is {self.idle_rounds}; give 0 or more")
