"""What clients saw: one operation a line, written when it is over; key sets as runs."""

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

EVERY_KEY = [[0, (1 << 63) - 2]]
"""The keys asked by a read of a whole collection. The place after the last one still fits into 64 bits."""
_LONGEST_ERROR = 300


def runs(keys: Iterable[int]) -> list[list[int]]:
    """Inclusive runs ``[first, last]`` of ``keys``, ascending; a key that occurs twice is kept once."""
    found: list[list[int]] = []
    for key in sorted(keys):
        if found and key <= found[-1][1] + 1:
            found[-1][1] = max(found[-1][1], key)
        else:
            found.append([key, key])
    return found


@dataclass(kw_only=True)
class Answer:
    """What an operation brought: the timestamp that the server names, the keys seen, a count."""

    ts: int = 0
    seen: list[list[int]] = field(default_factory=list)
    count: int | None = None
    guarantee: int | None = None


class History:
    """The operations of one client, in the order of their completion. Not for several threads.

    Args:
        folder: gets ``history-<client>.ndjson``, with the first operation.
        client: name of the client, unique in the run.
        process: name of the operating-system process; Session is a matter of one process.
    """

    def __init__(self, folder: Path, *, client: str, process: str) -> None:
        self._client = client
        self._process = process
        self._seq = 0
        self._path = folder / f"history-{client}.ndjson"
        self._file: TextIO | None = None

    def record(
        self,
        op: str,
        work: Callable[[], Answer],
        *,
        collection: str,
        level: str | None = None,
        keys: list[list[int]] | None = None,
        writes: bool = False,
    ) -> Answer | None:
        """Do ``work`` and write down its outcome; None if it failed.

        An error of a write leaves open whether it was done: the outcome is ``unknown``. An error of a read is
        ``fail``.
        """
        start = time.monotonic_ns()
        answer, error = None, ""
        try:
            answer = work()
        except Exception as problem:  # noqa: BLE001  the client library raises many kinds; each is an outcome
            # The text of the library's errors holds addresses of objects: no two runs would agree.
            error = f"{type(problem).__name__}: {getattr(problem, 'message', problem)}"[:_LONGEST_ERROR]
        end = time.monotonic_ns()
        shown = answer or Answer()
        outcome = "ok" if answer else "unknown" if writes else "fail"
        self._write(
            op=op, collection=collection, level=level, start=start, end=end, outcome=outcome, ts=shown.ts,
            guarantee=shown.guarantee, keys=keys or [], seen=shown.seen, count=shown.count, error=error,
        )  # fmt: skip
        return answer

    def close(self) -> None:
        """No more operations."""
        if self._file is not None:
            self._file.close()

    def _write(self, **what: Any) -> None:
        line = {
            "kind": "op", "v": 1, "client": self._client, "process": self._process, "seq": self._seq, **what
        }  # fmt: skip
        if self._file is None:
            self._file = self._path.open("a", buffering=1)
        self._file.write(json.dumps(line, separators=(",", ":")) + "\n")
        self._seq += 1
