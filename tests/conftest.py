"""What all tests share: one Spark session, reproducible Hypothesis, and a build folder of their own."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    import psutil
    from pyspark.sql import SparkSession

# The same examples on every machine and in every order; machines differ in speed, so no deadline.
# HYPOTHESIS_PROFILE=search looks for new ones.
_COMMON = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("fixed", _COMMON, derandomize=True, database=None, max_examples=60)
settings.register_profile("search", _COMMON, max_examples=500)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "fixed"))


@pytest.hookimpl(tryfirst=True, optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One process more than cores: some tests wait for processes that they have started."""
    from tidemark.models.cores import cores

    return cores() + 1


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Generator[None]:
    """Where a test runs if there are several processes: all that need Spark in one, which has the session;
    those of a file in one, for they share compiled instances. A test may name another group itself.

    The groups are said before pytest-xdist reads them. Groups with slow tests come first, so that no process
    is left alone with one at the end; that order is made last, after the tests were shuffled.
    """
    slow: set[str] = set()
    for item in items:
        mark = item.get_closest_marker("xdist_group")
        if mark is None:
            group = "spark" if item.get_closest_marker("spark") else item.nodeid.partition("::")[0]
            item.add_marker(pytest.mark.xdist_group(group))
        else:
            group = mark.args[0]
        if item.get_closest_marker("slow") is not None:
            slow.add(group)
    yield
    items.sort(key=lambda item: _group(item) not in slow)


def _group(item: pytest.Item) -> str:
    mark = item.get_closest_marker("xdist_group")
    assert mark is not None
    return str(mark.args[0])


@pytest.fixture(autouse=True)
def _implementation_as_written() -> Iterator[None]:
    """No test leaves the code of a patch behind."""
    from tidemark.models.mutation.patches import restore

    yield
    restore()


@pytest.fixture(scope="session")
def standalone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, list[psutil.Process]]]:
    """A cluster of two workers: address of the master, and the processes. Mark the test with ``spark``, and
    with the group ``cluster``.
    """
    from tidemark.checks.spark.session import cluster

    with cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The Spark session of the whole test run, on all local cores. Mark the test with ``spark``."""
    from tidemark.checks.spark.session import SparkOptions, spark_session, stop_session

    build: Path = tmp_path_factory.mktemp("spark-build")
    yield spark_session(build=build, options=SparkOptions(memory_gib=1))
    stop_session()
