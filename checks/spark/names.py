"""Readable names of jobs and stages on Spark's pages, in place of a file and a line of this project."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException
from pyspark.traceback_utils import SCCallSiteSync


class _CallSite(SCCallSiteSync):
    """Spark takes the name of a stage from the place of the call; the outermost place wins."""

    def __init__(self, context: SparkContext, text: str) -> None:
        super().__init__(context)  # type: ignore[no-untyped-call]
        self._call_site = text


@contextmanager
def named(context: SparkContext, job: str, *, stage: str = "") -> Iterator[None]:
    """Name the jobs started inside, and the stages made inside (like the job, unless given)."""
    context.setLocalProperty("spark.job.description", job)
    site = _CallSite(context, stage or job)
    site.__enter__()  # type: ignore[no-untyped-call]
    try:
        yield
    finally:
        with unless_ended():
            site.__exit__(None, None, None)  # type: ignore[no-untyped-call]
            context.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]


def unless_ended() -> suppress:
    """For what is tidied up in a session: a signal that stops us may have ended Spark as well, and its error
    must not take the place of the stop.
    """
    return suppress(Py4JError, PySparkException, OSError)
