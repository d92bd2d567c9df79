"""The command ``tidemark``, also as ``python -m tidemark.checks``: nothing that it started outlives it."""

import gc
import signal
import sys
from contextlib import suppress

STOPPED = 7
"""``ExitCode.STOPPED``, which is not yet loaded when the first second is interrupted."""

_INTERNAL_ERROR = 70
"""``ExitCode.INTERNAL_ERROR``."""

_COLLECT_AFTER = 100_000
"""New objects after which unreachable cycles are looked for. Manifests, trees, verdicts hardly have any."""

_GRACE_S = 3.0
"""What a process that we started gets to end by itself."""


def main() -> None:
    """Run the command line and end the process with its status. SIGTERM is taken like Ctrl-C."""
    status = STOPPED
    gc.set_threshold(_COLLECT_AFTER, 20, 20)
    try:
        signal.signal(signal.SIGTERM, _interrupt)
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is to be ignored
            signal.signal(signal.SIGINT, _interrupt)
        from tidemark.checks.cli.app import app  # takes a second

        status = app()
    except KeyboardInterrupt:
        sys.stderr.write("tidemark: stopped before anything was judged\n  remedy: run it again\n")
    except Exception:
        if not _asked:
            raise
    finally:
        if status == _INTERNAL_ERROR and _asked:
            status = STOPPED  # a library that was interrupted while it was loaded says something else
        if status == STOPPED:
            _end_children()
    sys.exit(status)


_asked: list[int] = []
"""Signals that asked this process to stop."""


def _interrupt(number: int, _frame: object) -> None:
    _asked.append(number)
    raise KeyboardInterrupt


def _end_children() -> None:
    """End what this process has started, a Java runtime above all; further signals no longer stop that."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    import psutil

    with suppress(psutil.Error):
        started = psutil.Process().children(recursive=True)
        for child in started:
            with suppress(psutil.Error):
                child.terminate()
        for child in psutil.wait_procs(started, timeout=_GRACE_S)[1]:
            with suppress(psutil.Error):
                child.kill()


if __name__ == "__main__":
    main()
