"""The clocks of the machine: the one that may jump, and the one that only runs forward."""

import time

from tidemark.impl.timestamp import Timestamp, compose, milliseconds


class SystemWallClock:
    """Unix time of this machine. An operator or a time server may set it, forward or back."""

    def now(self) -> int:
        """Nanoseconds since 1970."""
        return time.time_ns()


class SystemSteadyClock:
    """Time since this machine was started, the same for all its processes."""

    def monotonic(self) -> float:
        """Seconds."""
        return time.monotonic()


class SystemTimestampClock:
    """Unix time of this machine as a hybrid timestamp: the present time of a proxy."""

    def now(self) -> Timestamp:
        """The present millisecond, with counter 0."""
        return compose(milliseconds(time.time_ns()), 0)
