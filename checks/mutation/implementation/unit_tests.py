"""Tests of pytest as a host: they try mutants of code that no specification describes."""

import io
from collections.abc import Iterable, Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from _pytest.unraisableexception import gc_collect_iterations_key

from tidemark.checks.verdicts.errors import BadInputError
from tidemark.models.rooms import ROOT

QUIETLY = ("-q", "-x", "--assert=plain", "-n0", "-p", "no:faulthandler", "-p", "no:randomly")
"""One process, the order of the file, and the first failure ends it: a mutant has one fate. Rewritten
assertions cost time, and nobody reads them here.
"""


class NoTestRunError(Exception):
    """No test was run, or pytest ended with an error of its own: nothing is known of the mutant."""


@dataclass(frozen=True)
class UnitTests:
    """The tests of one file. name: its path. root: the folder in which that begins."""

    name: str
    root: Path = ROOT
    judge = "test"
    """What the tables call it."""

    @property
    def replay(self) -> str:
        """The command that runs the same with the code as it is written."""
        return f"python -m pytest {self.name}"

    def names(self, file: str) -> bool:
        """Whether the tests import that file of the implementation themselves."""
        module = file.removesuffix(".py").replace("/", ".")
        return module in _text(self.root / self.name)

    def failed(self) -> str:
        """Run them with the code that is loaded now. Returns the id of the first test that fails, or "".

        Raises NoTestRunError if no test is run, or pytest ends with an error of its own.
        """
        first = _First()
        # The cache has a place of its own: without its plugin the settings that name it are refused.
        with _silently(), chdir(self.root), TemporaryDirectory() as cache:
            status = pytest.main([*QUIETLY, "-o", f"cache_dir={cache}", self.name], plugins=[first])
        if status not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
            raise NoTestRunError(f"pytest {self.name} ended with exit status {int(status)}: {first.error}")
        return first.failed


@cache
def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8")


def unit_tests_of(paths: Iterable[str], root: Path = ROOT) -> list[UnitTests]:
    """The files of tests that some files and folders stand for, each by itself, in order.

    Raises BadInputError if there is none.
    """
    found = []
    for path in paths:
        place = root / path
        files = [place] if place.is_file() else sorted(place.rglob("test_*.py"))
        if not files:
            raise BadInputError(
                f"there are no tests in {path!r}",
                remedy=f"name a file of tests, or a folder with some, in {root}",
            )
        found += [UnitTests(file.relative_to(root).as_posix(), root) for file in files]
    return found


class _First:
    """A plugin of pytest that notes the first test that fails, and the first file that cannot be read."""

    failed = ""
    error = ""

    def pytest_configure(self, config: pytest.Config) -> None:
        """No collection at the end: it looks through all that a large process was forked with."""
        config.stash[gc_collect_iterations_key] = 0

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """See pytest."""
        self.failed = self.failed or (report.nodeid if report.failed else "")

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """See pytest."""
        self.error = self.error or (report.longreprtext[-400:] if report.failed else "")


@contextmanager
def _silently() -> Iterator[None]:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield
