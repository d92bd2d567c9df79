"""Wall and processor time of a stretch."""

from __future__ import annotations

import time

import psutil


class Clock:
    """Started when made; processor time is that of all threads of this process."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self._wall

    @property
    def cpu_seconds(self) -> float:
        """Seconds of processor time since the start."""
        return time.process_time() - self._cpu


def family_cpu() -> float:
    """Seconds of processor time of this process and of those that it started and that still run."""
    total, me = 0.0, psutil.Process()
    for process in (me, *me.children(recursive=True)):
        try:
            used = process.cpu_times()
        except psutil.Error:  # it has just ended
            continue
        total += used.user + used.system
    return total
