"""Whether a process that was started by a test, or by what it tests, has ended."""

import time

import psutil


def lives(pid: int) -> bool:
    """False once the process has ended, even if nobody has asked for its status: where the first process of a
    machine does not collect orphans, they stay as zombies.
    """
    try:
        return psutil.Process(pid).status() not in (psutil.STATUS_ZOMBIE, psutil.STATUS_DEAD)
    except psutil.NoSuchProcess:
        return False


def ends(*pids: int, seconds: float = 30.0) -> bool:
    """Whether all end within that time: a process that was killed still runs for a moment."""
    until = time.monotonic() + seconds
    while any(lives(pid) for pid in pids):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
