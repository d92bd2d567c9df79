"""The operations of a client, one a line, written at their ends for later judgement.

The form is that of ``tidemark evidence`` (docs/evidence.md). Keys are written as inclusive runs.
"""

import json
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any


class History:
    """The operations of one client, in a file that several clients may share.

    clock: a steady clock, in nanoseconds; of the machine, so that the times of its processes can be compared.
    """

    def __init__(
        self, file: Path, *, client: str, process: str, clock: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._file = file
        self._clock = clock
        self._about = {"client": client, "process": process}
        self._seq = 0

    def now(self) -> int:
        """The time of the steady clock, in nanoseconds."""
        return self._clock()

    def note(self, operation: str, *, collection: str, start: int, end: int, **facts: Any) -> None:
        """Write an operation that lasted from ``start`` to ``end``, in nanoseconds of the steady clock."""
        head = {"kind": "op", "v": 1, **self._about, "seq": self._seq, "op": operation}
        line = {**head, "collection": collection, "start": start, "end": end, **facts}
        self._seq += 1
        with self._file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(line, separators=(",", ":")) + "\n")


def runs(keys: Iterable[int]) -> list[tuple[int, int]]:
    """Keys as inclusive runs, in order."""
    found: list[tuple[int, int]] = []
    for key in sorted(set(keys)):
        if found and key == found[-1][1] + 1:
            found[-1] = (found[-1][0], key)
        else:
            found.append((key, key))
    return found
