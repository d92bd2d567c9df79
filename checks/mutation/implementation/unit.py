"""Do the unit tests notice a mutant that no judge kills? Counted apart: a unit test is no judge.

The tests are run in a process of their own; this module is a plugin of pytest there, and puts the mutant in
place.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from tidemark.checks.mutation.implementation.trial import UNCHANGED, Target
from tidemark.checks.verdicts.errors import BadInputError

MUTANT, PACKAGE = "TIDEMARK_MUTANT", "TIDEMARK_MUTATED_PACKAGE"
"""Environment variables of such a process: the mutant's id, and the package that it is of."""
_LIMIT_S = 300.0
_TIMES = 5.0
"""How many times as long as without a mutant the tests may take, and half a minute more."""
_PLANTED = ExitStack()


def pytest_configure(config: pytest.Config) -> None:
    """Put the mutant in place. Raises KeyError and PlantingError: pytest ends with an internal error."""
    del config
    _PLANTED.enter_context(Target.of(os.environ[PACKAGE]).planting(os.environ[MUTANT]))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Take it out."""
    del config
    _PLANTED.close()


@dataclass(frozen=True)
class Noticed:
    """What the unit tests say of a mutant. known: False if they say nothing: an error, a time-out."""

    mutant: str
    known: bool
    failed: bool


def noticed(
    mutants: Sequence[str], *, package: str, tests: Sequence[Path], jobs: int = 1
) -> Iterator[Noticed]:
    """Try the mutants on the tests.

    Args:
        mutants: their ids.
        package: the code that is made wrong.
        tests: files or folders.
        jobs: processes at a time.

    Yields what is said of each, in the order of the ids. Raises BadInputError: the tests do not pass without
    a mutant.
    """
    begun = time.monotonic()
    control = _run(UNCHANGED, package=package, tests=tests, limit=_LIMIT_S)
    if not control.known or control.failed:
        words = "fail" if control.failed else "were not run"
        raise BadInputError(
            f"the unit tests {', '.join(map(str, tests))} {words} without any mutant",
            remedy="name tests that pass: pytest -q, and the same paths",
        )
    limit = _TIMES * (time.monotonic() - begun) + 30
    with ThreadPoolExecutor(max_workers=jobs) as threads:
        yield from threads.map(partial(_run, package=package, tests=tests, limit=limit), mutants)


def _run(mutant: str, *, package: str, tests: Sequence[Path], limit: float) -> Noticed:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", __name__]
    environment = {**os.environ, MUTANT: mutant, PACKAGE: package}
    with tempfile.TemporaryDirectory() as cache:
        # The cache has a place of its own: without its plugin the settings that name it are refused.
        command += ["-o", f"cache_dir={cache}", *map(str, tests)]
        try:
            done = subprocess.run(
                command,
                env=environment,
                timeout=limit,
                check=False,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired:
            return Noticed(mutant, known=False, failed=False)
    passed, failed = pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED
    return Noticed(mutant, known=done.returncode in (passed, failed), failed=done.returncode == failed)
