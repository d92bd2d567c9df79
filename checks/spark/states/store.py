"""The states of a search by owner: one file per (round, partition), and merged runs that make looking up
cheap.

The level logs are the truth. A merged run is a cache of several of them; it is made again when it is
missing, and any set of logs and runs that covers the rounds gives the same answer. So it does not matter
which worker, or which machine with the same file system, does the next round of a partition.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tidemark.checks.spark.states import level_log
from tidemark.checks.spark.states.level_log import CorruptFileError, Header, read_header
from tidemark.checks.spark.states.packed_states import PackedStates, merge, minus

_NAME = re.compile(r"(level|merged)-(\d{6})(?:-(\d{6}))?\.bin")
_opened: dict[Path, tuple[tuple[int, int, int], Header, PackedStates]] = {}


@dataclass(frozen=True, order=True)
class Span:
    """A file and the rounds that it covers."""

    first: int
    last: int
    path: Path


@dataclass(frozen=True)
class Store:
    """Files of one run under ``root``. ``run`` is the run's digest, which every file repeats."""

    root: Path
    run: str
    words: int

    def folder(self, partition: int) -> Path:
        """Where the files of a partition lie."""
        return self.root / f"part-{partition:05d}"

    def log_path(self, number: int, partition: int) -> Path:
        """The level log of a round."""
        return self.folder(partition) / f"level-{number:06d}.bin"

    def spans(self, partition: int) -> list[Span]:
        """All whole files of a partition, in order of rounds."""
        return sorted(_spans(self.folder(partition)))

    def open(self, path: Path, partition: int) -> tuple[Header, PackedStates]:
        """A file, checked once per process. Raises CorruptFileError, FileNotFoundError."""
        identity = _identity(path)
        known = _opened.get(path)
        if known is not None and known[0] == identity:
            return known[1], known[2]
        header, block = level_log.read(path)
        if (header.run, header.partition, header.words) != (self.run, partition, self.words):
            raise CorruptFileError(path, f"it belongs to partition {header.partition} of run {header.run}")
        _opened[path] = (identity, header, block)
        return header, block

    def states(self, number: int, partition: int) -> int:
        """Number of states of a round. Raises CorruptFileError, FileNotFoundError."""
        return read_header(self.log_path(number, partition)).states

    def release(self, partition: int) -> None:
        """Close the files of a partition."""
        for path in [path for path in _opened if path.parent == self.folder(partition)]:
            del _opened[path]

    def write(
        self, partition: int, *, first: int, last: int, block: PackedStates, facts: dict[str, object]
    ) -> Header:
        """Write the log of a round, or a merged run of several."""

        def header(checksum: int) -> Header:
            return Header(
                run=self.run,
                first=first,
                last=last,
                partition=partition,
                words=self.words,
                states=int(block.shape[0]),
                checksum=checksum,
                facts=facts,
            )

        name = f"merged-{first:06d}-{last:06d}.bin"
        path = self.log_path(first, partition) if first == last else self.folder(partition) / name
        written = level_log.write(path, block, header)
        _opened[path] = (
            _identity(path),
            written,
            block,
        )  # it is read next: to be expanded, or looked through
        return written

    def cover(self, partition: int, *, before: int) -> list[tuple[Span, PackedStates]]:
        """Runs which together hold all states of the rounds 0 .. ``before`` - 1. Raises FileNotFoundError
        for a gap.
        """
        for _ in range(3):
            try:
                found = [
                    (span, self.open(span.path, partition)[1]) for span in self._chosen(partition, before)
                ]
            except FileNotFoundError:  # another worker has just merged it away
                continue
            kept = {span.path for span, _ in found}
            for path in [p for p in _opened if p.parent == self.folder(partition) and p not in kept]:
                del _opened[path]
            return found
        raise FileNotFoundError(
            f"the level logs of partition {partition} before round {before} in {self.root} have a gap"
        )

    def _chosen(self, partition: int, before: int) -> list[Span]:
        """The widest files that fit together without a gap."""
        longest: dict[int, Span] = {}
        for span in self.spans(partition):
            if span.last < before and (span.first not in longest or span.last > longest[span.first].last):
                longest[span.first] = span
        chosen: list[Span] = []
        number = 0
        while number < before:
            if number not in longest:
                raise FileNotFoundError(self.log_path(number, partition))
            chosen.append(longest[number])
            number = longest[number].last + 1
        return chosen

    def new_states(self, candidates: PackedStates, partition: int, *, before: int) -> PackedStates:
        """The states of a run that no round before has."""
        return minus(candidates, [block for _, block in self.cover(partition, before=before)])

    def compact(self, partition: int, *, number: int) -> None:
        """Merge the last runs once they are as large as the one before them: few runs, and each state moves
        seldom.

        What is merged depends only on sizes of immutable files, so that a task which runs twice merges the
        same.
        """
        runs = self.cover(partition, before=number + 1)
        if len(runs) < 3:
            return
        start, size = len(runs) - 1, len(runs[-1][1])
        while start > 0 and len(runs[start - 1][1]) <= 2 * size:
            start -= 1
            size += len(runs[start][1])
        if len(runs) - start < 3:
            return
        block = runs[-1][1]
        for _, other in reversed(runs[start:-1]):
            out = np.empty((block.shape[0] + other.shape[0], self.words), np.uint64)
            merge(other, block, out)
            block = out
        self.write(partition, first=runs[start][0].first, last=number, block=block, facts={})
        for span, _ in runs[start:]:
            if span.first != span.last:
                span.path.unlink(missing_ok=True)

    def forget_from(self, number: int, partitions: int) -> None:
        """Remove all states of round ``number`` and later, and what unfinished writers left."""
        for partition in range(partitions):
            for span in self.spans(partition):
                if span.last >= number:
                    span.path.unlink(missing_ok=True)
            for rest in self.folder(partition).glob(".*.tmp"):
                rest.unlink(missing_ok=True)


def _identity(path: Path) -> tuple[int, int, int]:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _spans(folder: Path) -> Iterator[Span]:
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        match = _NAME.fullmatch(path.name)
        if match:
            yield Span(int(match[2]), int(match[3] or match[2]), path)
