"""One run at a time in a build folder: two would overwrite each other's files."""

import fcntl
import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from tidemark.checks.verdicts.errors import BadInputError

LOCK = "lock"
"""File of the build folder. The system frees it when its process ends, however that ends."""


@contextmanager
def hold(build: Path, *, words: Sequence[str] = (), wait: bool = False) -> Iterator[None]:
    """The folder belongs to this process inside the ``with``. ``words``: what this process runs.

    Raises BadInputError if another process has it (unless we ``wait``), or if it cannot be written.
    """
    try:
        build.mkdir(parents=True, exist_ok=True)
        with (build / LOCK).open("a+", encoding="utf-8") as file:
            _take(file, build, wait=wait)
            file.truncate(0)
            said = {
                "process": os.getpid(),
                "runs": " ".join(["tidemark", *words]),
                "since": time.strftime("%H:%M:%S"),
            }
            file.write(json.dumps(said))
            file.flush()
            locked = os.dup(file.fileno())
    except OSError as error:
        why = "it is a file" if build.exists() and not build.is_dir() else str(error.strerror).lower()
        raise BadInputError(
            f"the build folder {build.as_posix()!r} cannot be written: {why}",
            remedy="make room, change its owner, or name another one with --build",
        ) from error
    try:
        yield
    finally:
        os.close(locked)


def _take(file: IO[str], build: Path, *, wait: bool) -> None:
    try:
        fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise BadInputError(
            f"another run works in the build folder {build.as_posix()!r}: {_holder(file)}",
            remedy="wait until it ends, or name another folder with --build",
        ) from error


def _holder(file: IO[str]) -> str:
    """Who has the lock, as far as it said so."""
    file.seek(0)
    try:
        said = json.loads(file.read())
        return f"process {said['process']}, {said['runs']!r}, since {said['since']}"
    except (ValueError, KeyError, TypeError):
        return "it does not say which"
