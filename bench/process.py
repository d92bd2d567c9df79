"""Fresh processes: for each repetition one, so that caches are alike and the peak memory is its own."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

from tidemark.bench.sample import BrokenRun, NotMeasured, Sample
from tidemark.models.rooms import ROOT

SAMPLE_EVERY = 0.5
"""Seconds between two looks at the memory of a family of processes."""
_LONGEST = 300


@dataclass(frozen=True)
class Finished:
    """A process that ended by itself. ``peak_bytes`` is that of the greatest process of the family, or of
    all together if they were watched.
    """

    output: str
    status: int
    seconds: float
    cpu_seconds: float
    peak_bytes: int

    @property
    def last_line(self) -> str:
        """The last thing that it printed: the error, if it was a traceback."""
        lines = [line.strip() for line in self.output.splitlines() if line.strip()]
        return lines[-1][:_LONGEST] if lines else "no output"


def run_process(
    command: Sequence[str],
    *,
    cwd: Path,
    timeout: float,
    env: Mapping[str, str] | None = None,
    family: bool = False,
) -> Finished:
    """Run a command to its end. ``family``: add up the memory of all its processes, which costs some time.

    Raises NotMeasured if the program is missing or takes longer than ``timeout`` seconds.
    """
    with tempfile.TemporaryFile() as output:
        begin = time.perf_counter()
        try:
            started = subprocess.Popen(
                command,
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise NotMeasured(f"{command[0]} is missing") from error
        try:
            watcher = _Watcher(started.pid, timeout=timeout, family=family)
            try:
                _, status, usage = os.wait4(started.pid, 0)
            finally:
                watcher.stop()
        except BaseException:
            _end(started.pid)
            raise
        seconds = time.perf_counter() - begin
        started.returncode = os.waitstatus_to_exitcode(status)
        _end(started.pid)
        output.seek(0)
        text = output.read().decode(errors="replace")
    if watcher.late:
        raise NotMeasured(f"took longer than {timeout:g} s")
    peak = max(watcher.peak, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
    return Finished(text, started.returncode, seconds, usage.ru_utime + usage.ru_stime, peak)


def _end(group: int) -> None:
    """End a process of ours with all that it started; it leads a session of its own."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


class _Watcher:
    """Looks at the memory now and then, and ends the process when its time is over."""

    def __init__(self, pid: int, *, timeout: float, family: bool) -> None:
        self.peak, self.late = 0, False
        self._pid, self._deadline, self._family = pid, time.monotonic() + timeout, family
        self._timeout = timeout
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """The process has ended."""
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(SAMPLE_EVERY if self._family else self._timeout):
            if time.monotonic() >= self._deadline:
                self.late = True
                _end(self._pid)
                return
            if self._family:
                self.peak = max(self.peak, family_bytes(self._pid))


def family_bytes(pid: int) -> int:
    """Resident memory of a process and its descendants, memory that they share counted once if possible."""
    total = 0
    with suppress(psutil.Error):
        parent = psutil.Process(pid)
        for process in (parent, *parent.children(recursive=True)):
            with suppress(psutil.Error):
                total += _own_bytes(process)
    return total


def _own_bytes(process: psutil.Process) -> int:
    full: Any = process.memory_full_info()
    return int(getattr(full, "pss", 0) or full.rss)


Work = Callable[..., Sample]
"""A function of ``tidemark.bench.measures`` that takes keyword arguments which JSON can carry."""


def in_fresh_process(
    work: Work,
    *,
    timeout: float = 900.0,
    family: bool = False,
    env: Mapping[str, str] | None = None,
    **arguments: Any,
) -> Sample:
    """Call a function of a measure in a process of its own. Raises NotMeasured, BrokenRun."""
    with tempfile.TemporaryDirectory(prefix="tidemark-bench-") as folder:
        answer = Path(folder) / "sample.json"
        call = {
            "target": f"{work.__module__}:{work.__qualname__}",
            "arguments": arguments,
            "answer": str(answer),
        }
        done = run_process(
            [sys.executable, "-m", "tidemark.bench.child", json.dumps(call)],
            cwd=ROOT,
            timeout=timeout,
            family=family,
            env={"PYTHONHASHSEED": "0", **(env or {})},
        )
        name = f"{work.__module__}.{work.__qualname__}"
        if done.status != 0 or not answer.exists():
            raise BrokenRun(f"{name} ended with status {done.status}: {done.last_line}")
        found = json.loads(answer.read_text(encoding="utf-8"))
    if "missing" in found:
        raise NotMeasured(str(found["missing"]))
    sample = Sample(**found)
    return replace(sample, peak_bytes=done.peak_bytes) if family else sample
