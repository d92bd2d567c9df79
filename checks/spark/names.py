"""Readable names of jobs and stages on Spark's pages, in place of a file and a line of this project."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark import SparkContext
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
    try:
        with _CallSite(context, stage or job):
            yield
    finally:
        context.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]
