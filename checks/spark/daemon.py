"""Spark's own daemon of Python workers, without the noise when an idle worker is dismissed.

Spark closes the socket of a worker that had nothing to do for a minute. On a socket of the machine (rather
than of the network) the worker then fails to say goodbye, and prints a traceback of no meaning.
"""

from typing import Any

from pyspark import daemon

_spark_worker = daemon.worker


def worker(*details: Any) -> int:
    """See ``pyspark.daemon.worker``. A socket that Spark has closed ends the worker."""
    try:
        return int(_spark_worker(*details))
    except BrokenPipeError:
        return 1


if __name__ == "__main__":
    setattr(daemon, "worker", worker)  # noqa: B010  the module declares it as a function of its own
    daemon.manager()
