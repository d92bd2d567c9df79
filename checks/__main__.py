"""The command ``tidemark``, also as ``python -m tidemark.checks``: nothing that it started outlives it."""

import gc
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import Any

STOPPED = 7
"""``ExitCode.STOPPED``, which is not yet loaded when the first second is interrupted."""

_INTERNAL_ERROR = 70
"""``ExitCode.INTERNAL_ERROR``."""

_COLLECT_AFTER = 100_000
"""New objects after which unreachable cycles are looked for. Manifests, trees, verdicts hardly have any."""

_AGAIN_S = 0.05
"""After this time a stop that was lost is asked for again."""

_GRACE_S = 3.0
"""What a process that we started gets to end by itself."""


def main() -> None:
    """Run the command line and end the process with its status. SIGTERM is taken like Ctrl-C."""
    status = STOPPED
    gc.set_threshold(_COLLECT_AFTER, 20, 20)
    try:
        sys.unraisablehook = _unraisable
        signal.signal(signal.SIGTERM, _interrupt)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is to be ignored
            signal.signal(signal.SIGINT, _interrupt)
        from tidemark.checks.cli.app import app  # takes a third of a second

        gc.freeze()  # what is loaded stays
        status = app()
    except KeyboardInterrupt:
        sys.stderr.write("tidemark: stopped before anything was judged\n  remedy: run it again\n")
    except Exception:
        if not _asked:
            raise
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is said: the status is that of what was done
        if status == _INTERNAL_ERROR and _asked:
            status = STOPPED  # a library that was interrupted while it was loaded says something else
        if status == STOPPED:
            _end_children()
    sys.exit(status)


_asked: list[int] = []
"""Signals that asked this process to stop."""


def _unraisable(what: Any) -> None:
    """An interrupt in a finaliser would be printed and forgotten: it comes again, in a moment."""
    if not (_asked and isinstance(what.exc_value, KeyboardInterrupt)):
        sys.__unraisablehook__(what)
    else:
        threading.Timer(_AGAIN_S, os.kill, (os.getpid(), _asked[-1])).start()


def _interrupt(number: int, _frame: object) -> None:
    _asked.append(number)
    raise KeyboardInterrupt


def _end_children() -> None:
    """End what this process has started, a Java runtime above all; further signals no longer stop that."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    import psutil

    def runs(child: psutil.Process) -> bool:
        # Its status is not collected: a pool whose process is collected elsewhere waits for it for ever.
        with suppress(psutil.Error):
            return child.is_running() and child.status() != psutil.STATUS_ZOMBIE
        return False

    # It has no work, takes no signal, and ends with us; without it the pools' locks are complained about.
    tracker = getattr(sys.modules.get("multiprocessing.resource_tracker"), "_resource_tracker", None)
    with suppress(psutil.Error):
        every = psutil.Process().children(recursive=True)
        started = [child for child in every if child.pid != getattr(tracker, "_pid", None)]
        for child in started:
            with suppress(psutil.Error):
                child.terminate()
        until = time.monotonic() + _GRACE_S
        while time.monotonic() < until and any(map(runs, started)):
            time.sleep(0.02)
        for child in filter(runs, started):
            with suppress(psutil.Error):
                child.kill()


if __name__ == "__main__":
    main()
