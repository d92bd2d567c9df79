"""Runs Python programs one after the other, each in a fork of a process that has loaded what they need.

To start Python and to load the command line takes longer than most commands that a test gives. A program is
run as Python runs it, in its own folder; no other program sees what it has loaded.
"""

import gc
import json
import os
import runpy
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Protocol

OURS = ("tidemark.checks.cli.app", "tidemark.models.native.kernel", "tidemark.models.symbolic.solve")
OTHERS = ("typer", "rich.progress", "pydantic", "jinja2", "networkx", "numba", "llvmlite.binding", "z3")
"""What commands need that is not of this repository."""


class Run(Protocol):
    """Runs ``python ARGUMENTS`` in a folder; the status, and what it prints. ``more``: environment."""

    def __call__(
        self, arguments: Sequence[str], folder: Path, /, **more: str
    ) -> subprocess.CompletedProcess[str]: ...


@contextmanager
def warm(environment: Mapping[str, str], kept: Path, modules: Sequence[str] = OURS) -> Iterator[Run]:
    """Runs programs, all of which have this environment, and find these modules loaded. ``kept``: a folder
    for what they print.
    """
    files = [kept / "stdout", kept / "stderr"]
    command = [sys.executable, "-m", __name__, *map(str, files), *modules]
    with subprocess.Popen(
        command, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:

        def run(arguments: Sequence[str], folder: Path, /, **more: str) -> subprocess.CompletedProcess[str]:
            assert process.stdin is not None
            assert process.stdout is not None
            print(json.dumps([list(arguments), str(folder), more]), file=process.stdin, flush=True)
            status = int(process.stdout.readline())
            return subprocess.CompletedProcess(
                arguments, status, *(file.read_text("utf-8") for file in files)
            )

        yield run


def _python(arguments: Sequence[str]) -> None:
    """``-m MODULE ARGUMENTS`` or ``FILE ARGUMENTS``, as in Python's own command line."""
    if arguments[0] == "-m":
        sys.argv, sys.path[0] = [*arguments[1:]], str(Path.cwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv, sys.path[0] = [*arguments], str(Path(arguments[0]).parent.absolute())
        runpy.run_path(arguments[0], run_name="__main__")


def _in_a_fork(arguments: Sequence[str], folder: str, more: Mapping[str, str]) -> int:
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.environ.update(more)
    sys.path[1:1] = filter(None, more.get("PYTHONPATH", "").split(os.pathsep))
    os.chdir(folder)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, file in enumerate(sys.argv[1:3], start=1):
        os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    _python(arguments)
    sys.exit(0)


def main() -> None:
    """Answers each line with the exit status of its program."""
    for name in sys.argv[3:]:
        import_module(name)
    gc.freeze()  # a collection in a fork would copy what it only looks at
    for line in sys.stdin:
        print(_in_a_fork(*json.loads(line)), flush=True)


if __name__ == "__main__":
    main()
