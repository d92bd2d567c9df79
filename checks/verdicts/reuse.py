"""What a judge may take over of its own earlier work, below the level of a whole verdict."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

_CLOCK_S, _WHOLE_SECONDS_S = 0.02, 2.0
"""File systems stamp with a coarser clock than ours: by ticks of the kernel, or only by seconds."""


@dataclass(frozen=True, kw_only=True)
class Reuse:
    """Where parts of a judge's work lie, and for which code they count.

    Attributes:
        folder: the folder of the parts.
        code: digest of the judge's code, of the libraries it loads, of Python and of the seed.
        files: the files of that code.
        begun: when the code began to be loaded (seconds since 1970).
        read: parts of earlier runs may be used; otherwise those of the present one alone.
        run: name of the present run, different from that of every other.
    """

    folder: Path
    code: str
    files: frozenset[Path]
    begun: float
    read: bool
    run: str = ""

    def may_keep(self) -> bool:
        """The code that runs is that of the digest: no file of it was changed while it was loaded."""
        return not changed_since(self.files, self.begun)


def changed_since(files: Iterable[Path], begun: float) -> bool:
    """A file was written, or is gone, since the process began."""
    for path in files:
        try:
            status = path.stat()
        except OSError:
            return True
        last = max(status.st_mtime_ns, status.st_ctime_ns)
        clock = _CLOCK_S if last % 1_000_000_000 else _WHOLE_SECONDS_S
        if last / 1e9 > begun - clock:
            return True
    return False
