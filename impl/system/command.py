"""The ends of this package's commands: by their result, by a message, or by a signal."""

import asyncio
import signal
import sys
from collections.abc import Callable, Coroutine
from types import FrameType
from typing import Any

from tidemark.impl.errors import ImplementationError

FAILED = 1
BAD_INPUT = 2
"""Also what argparse ends with."""
SIGNALLED = 128
"""Plus the number of the signal: the code of a shell."""


Play = Callable[[], Coroutine[Any, Any, int | None]]
"""The work of a command; its result is the exit code, None for 0."""


def run_command(name: str, play: Play) -> int:
    """Run a command to its end. The exit code: the result of ``play``; 1 if it cannot be completed, 2
    if a value or a file cannot be used, each with a message; 130 after Ctrl-C, 143 after SIGTERM.

    Resources of ``play`` are closed in each of these cases: a signal cancels its task.
    """
    received = signal.SIGINT

    def terminate(number: int, _frame: FrameType | None) -> None:
        nonlocal received
        received = signal.Signals(number)
        signal.raise_signal(signal.SIGINT)  # asyncio cancels the task

    signal.signal(signal.SIGTERM, terminate)
    try:
        return asyncio.run(play()) or 0
    except KeyboardInterrupt:
        _say(f"{name}: stopped")
        return SIGNALLED + received
    except BrokenPipeError:  # who has started this, or reads it, is gone
        sys.stdout = None  # what is left is not written at the end either
        return FAILED
    except (ImplementationError, TimeoutError) as failure:
        _say(f"{name}: {str(failure) or 'it takes too long'}")
        return FAILED
    except (OSError, ValueError) as failure:
        _say(f"{name}: {failure}")
        return BAD_INPUT
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")
