"""The clocks of the machine: the one that may jump, and the one that only runs forward."""

from __future__ import annotations

import time


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
