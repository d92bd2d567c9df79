"""Do the unit tests notice a mutant that no judge kills? Counted apart: a unit test is no judge.

The tests are run in a process of their own; this module is a plugin of pytest there, and puts the mutant in
place.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest

from tidemark.checks.mutation.implementation.trial import UNCHANGED, Target
from tidemark.checks.verdicts.errors import BadInputError

MUTANT, PACKAGE = "TIDEMARK_MUTANT", "TIDEMARK_MUTATED_PACKAGE"
"""Environment variables of such a process: the mutant's id, and the package that it is of."""
LIMIT_S = 300.0
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


def noticed(mutants: Sequence[str], *, package: str, tests: Sequence[Path]) -> Iterator[Noticed]:
    """Try the mutants on the tests.

    Args:
        mutants: their ids.
        package: the code that is made wrong.
        tests: files or folders.

    Raises BadInputError: the tests do not pass without a mutant.
    """
    control = _run(UNCHANGED, package, tests)
    if not control.known or control.failed:
        words = "fail" if control.failed else "were not run"
        raise BadInputError(
            f"the unit tests {', '.join(map(str, tests))} {words} without any mutant",
            remedy="name tests that pass: pytest -q, and the same paths",
        )
    for mutant in mutants:
        yield _run(mutant, package, tests)


def _run(mutant: str, package: str, tests: Sequence[Path]) -> Noticed:
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-n0", "-p", "no:cacheprovider", "-p", __name__]
    environment = {**os.environ, MUTANT: mutant, PACKAGE: package}
    try:
        done = subprocess.run(
            [*command, *map(str, tests)],
            env=environment,
            timeout=LIMIT_S,
            check=False,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return Noticed(mutant, known=False, failed=False)
    passed, failed = pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED
    return Noticed(mutant, known=done.returncode in (passed, failed), failed=done.returncode == failed)
