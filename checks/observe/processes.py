"""Processes that end with us: each in a group of its own, killed as a group, and by the kernel if we die."""

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any

_PARENT_DEATH_SIGNAL = 1  # prctl(2): PR_SET_PDEATHSIG
_WAIT_SECONDS = 10.0
_libc = ctypes.CDLL(None, use_errno=True)


def _die_with_parent() -> None:
    _libc.prctl(_PARENT_DEATH_SIGNAL, signal.SIGKILL)


class Child:
    """One running process, with the files that it writes to.

    Args:
        name: for messages.
        command: program and arguments.
        log: gets what it prints, appended; the standard output too unless ``talks``.
        environment: added to ours, without what would lead it astray.
        talks: it takes lines on its input and answers with lines.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
        talks: bool = False,
    ) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as file:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE if talks else subprocess.DEVNULL,
                stdout=subprocess.PIPE if talks else file, stderr=file, start_new_session=True,
                preexec_fn=_die_with_parent,  # noqa: PLW1509  one system call, no lock
                env=_environment(environment or {}), text=True,
            )  # fmt: skip

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def running(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def signal(self, number: int) -> None:
        """Send a signal to its group; nothing if it has ended."""
        if self.running():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)

    def kill(self) -> None:
        """End its group at once, as a crash does, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        self._process.wait(_WAIT_SECONDS)

    def wait(self, seconds: float) -> bool:
        """Wait for its end; whether it came."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def line(self) -> str:
        """The next line that it prints; raise EOFError if it ends instead."""
        output: IO[str] | None = self._process.stdout
        assert output is not None
        found = output.readline()
        if not found:
            raise EOFError(f"{self.name} ended; its log ends with: {self.tail()}")
        return found.rstrip("\n")

    def send(self, message: Mapping[str, Any]) -> None:
        """Write a line of JSON to its input; raise EOFError if it has ended."""
        entry: IO[str] | None = self._process.stdin
        assert entry is not None
        try:
            entry.write(json.dumps(message) + "\n")
            entry.flush()
        except BrokenPipeError as error:
            raise EOFError(f"{self.name} ended; its log ends with: {self.tail()}") from error

    def ask(self, **message: Any) -> Any:
        """Send a message and wait for the answer."""
        self.send(message)
        return json.loads(self.line())

    def close(self) -> None:
        """Close our ends of its input and output."""
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()

    def tail(self) -> str:
        """The end of its log."""
        try:
            return self.log.read_text(errors="replace")[-400:].strip() or "(nothing)"
        except FileNotFoundError:
            return "(nothing)"


class Processes(AbstractContextManager["Processes"]):
    """All processes of a run: whatever happens, they are ended when the block is left."""

    def __init__(self) -> None:
        self._children: list[Child] = []

    def __exit__(self, *_: object) -> None:
        self.end_all()

    def start(self, name: str, command: Sequence[str], **options: Any) -> Child:
        """Start a process; for the options see ``Child``."""
        child = Child(name, command, **options)
        self._children.append(child)
        return child

    def end_all(self) -> None:
        """Kill what still runs, the latest first."""
        for child in reversed(self._children):
            child.signal(signal.SIGKILL)
        until = time.monotonic() + _WAIT_SECONDS
        for child in self._children:
            child.wait(max(0.0, until - time.monotonic()))
            child.close()


def _environment(more: Mapping[str, str]) -> dict[str, str]:
    """Our environment without other servers' settings and without proxies: everything is on this machine."""
    astray = ("ETCD_", "MILVUS", "KAFKA_", "PYTHON", "PIP_")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(astray) and not name.lower().endswith("_proxy")
    }
    return kept | {"NO_PROXY": "*", "no_proxy": "*"} | dict(more)
