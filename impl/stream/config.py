"""Configuration of consumers and dispatchers."""

from collections.abc import Callable
from dataclasses import dataclass

from tidemark.impl.timestamp import MILLISECOND, Timestamp


@dataclass(frozen=True, kw_only=True)
class DispatcherConfig:
    """Configuration of the dispatchers of one physical channel.

    capacity: packs that wait for a target (the buffer of a target's channel, 16).
    tolerant_seconds: a target that has no room for so long is split off, if the main dispatcher has others
        (``mq.dispatcher.maxTolerantLag`` 3 s).
    """

    capacity: int = 16
    tolerant_seconds: float = 3.0

    def __post_init__(self) -> None:
        if self.capacity < 1:
            raise ValueError(f"capacity is {self.capacity}; it must be at least 1")
        if self.tolerant_seconds <= 0:
            raise ValueError(f"tolerant_seconds is {self.tolerant_seconds}; it must be positive")


@dataclass(frozen=True, kw_only=True)
class Pursuit:
    """How long a consumer that is behind lets a pack grow (``mq.enablePursuitMode``).

    Milvus: continueBuffering

    now: the present time. lag: it is behind if its tick is older than this. messages: a pack of this many
    grows no more. seconds: the longest wait.
    """

    now: Callable[[], Timestamp]
    lag: Timestamp = 10_000 * MILLISECOND
    messages: int = 65_536
    seconds: float = 60.0

    def __post_init__(self) -> None:
        if self.seconds <= 0 or self.messages < 1:
            raise ValueError(
                f"a pursuit of {self.seconds} s and {self.messages} messages; both must be positive"
            )
