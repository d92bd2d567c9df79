"""Threads that share the parts of a job. Compiled code releases the interpreter lock."""

import itertools
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class WorkerPool:
    """So many workers: the calling thread, and the others from the first shared job on."""

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"{workers} workers; take at least 1")
        self.workers = workers
        self._pool: ThreadPoolExecutor | None = None

    def each(self, count: int, job: Callable[[int], None]) -> None:
        """Do ``job(0)`` .. ``job(count - 1)``, in any order, on all workers. Raises the first error when all
        have ended.
        """
        if self.workers == 1 or count <= 1:
            for number in range(count):
                job(number)
            return
        numbers = itertools.count()  # its next() is one step for the interpreter lock

        def work() -> None:
            while (number := next(numbers)) < count:
                job(number)

        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.workers - 1, thread_name_prefix="search")
        others = [self._pool.submit(work) for _ in range(min(self.workers, count) - 1)]
        try:
            work()
        finally:
            for other in others:
                other.exception()
        for other in others:
            other.result()

    def close(self) -> None:
        """End the threads; a later job starts new ones."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
