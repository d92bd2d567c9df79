"""The known states of a partition, kept between the tasks of one machine.

A table lies in a file that all worker processes of a machine map, so that it does not matter in which of them
a task lands. It is only a cache: it is caught up from the level logs when it is behind, made again when a
process died while it wrote, and left alone when it is ahead (a round is done again) or in use (a task runs
twice). Then, and when there is no room for it, the owner looks through the runs of the partition, with the
same answer.
"""

import fcntl
import mmap
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
from pyspark import TaskContext

from tidemark.checks.spark.states.packed_states import PackedStates, sorted_run
from tidemark.checks.spark.states.store import Store
from tidemark.checks.spark.states.table import Table, empty_place

SHARE = 0.25
"""Part of what is free, of memory and of the disk, that one table may take when it grows."""
BEHIND = 4
"""In this process alone: states that are entered to catch up, as a multiple of those that came."""
SOME = 1 << 16
"""So many are always entered."""

_mapped: dict[Path, tuple[int, PackedStates]] = {}
"""Files of the present search, by inode."""
_private: dict[tuple[str, int], Table | None] = {}
"""Tables of this process; None where there was no room."""


class NoRoomError(MemoryError):
    """A table has become too large for this machine."""


@dataclass(frozen=True)
class VisitedCache:
    """The known states of a partition of a search. ``session`` names the search: no two have the same one."""

    session: str
    partition: int
    store: Store

    def fresh(self, blocks: list[PackedStates], *, before: int) -> PackedStates | None:
        """The run of those states of the blocks that no round before ``before`` has; they become known.

        None if there is no table that could tell.
        """
        try:
            with self._table(before, sum(map(len, blocks))) as table:
                if table is None:
                    return None
                table.open()
                for number in range(table.rounds, before):
                    table.insert(
                        self.store.open(self.store.log_path(number, self.partition), self.partition)[1]
                    )
                parts = [table.insert(block) for block in blocks]
                table.close(before + 1)
        except NoRoomError:
            self._give_up()
            return None
        self.store.release(self.partition)
        return sorted_run(np.concatenate([np.empty((0, self.store.words), np.uint64), *parts]))

    @property
    def given_up(self) -> bool:
        """Was there no room for a table on this machine?"""
        folder = shared_folder()
        if folder is None:
            return _private.get((self.session, self.partition), _NOTHING) is None
        return self._path(folder, "full").exists()

    def _path(self, folder: Path, kind: str) -> Path:
        return folder / f"known-{self.session}-{self.partition}.{kind}"

    @contextmanager
    def _table(self, before: int, coming: int) -> Iterator[Table | None]:
        """A table that is not open and of no later round, for one user; None if there is none."""
        if self.given_up:
            yield None
            return
        folder = shared_folder()
        if folder is None:
            table = self._own(before, coming)
            yield table if table is not None and table.rounds <= before else None
            return
        with self._path(folder, "lock").open("wb") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                yield None
                return
            table = self._shared(self._path(folder, "table"))
            yield table if table.rounds <= before else None

    def _shared(self, path: Path) -> Table:
        def larger(size: int) -> PackedStates:
            _require_room(8 * size, folder=path.parent)
            return _new_place(path, size)

        _forget_other_sessions(path.parent, self.session)
        words = self.store.words
        table = Table(_place(path, Table.size(words)), words=words, larger=larger)
        if table.is_open:  # its writer has died
            table = Table(_new_place(path, Table.size(words)), words=words, larger=larger)
        return table

    def _own(self, before: int, coming: int) -> Table | None:
        """The table of this process. Far behind, it is not worth catching up."""

        def larger(size: int) -> PackedStates:
            _require_room(8 * size)
            return empty_place(size)

        for other in [key for key in _private if key[0] != self.session]:
            del _private[other]
        key, words = (self.session, self.partition), self.store.words
        table = _private.get(key)
        if table is None or table.is_open:
            table = _private[key] = Table(empty_place(Table.size(words)), words=words, larger=larger)
        missing = 0
        for number in range(table.rounds, before):
            missing += self.store.states(number, self.partition)
            if missing > SOME + BEHIND * coming:
                return None
        return table

    def _give_up(self) -> None:
        """Let no task of this machine try again."""
        folder = shared_folder()
        if folder is None:
            _private[self.session, self.partition] = None
            return
        self._path(folder, "full").touch()
        _mapped.pop(self._path(folder, "table"), None)
        self._path(folder, "table").unlink(missing_ok=True)


_NOTHING = object()


def shared_folder() -> Path | None:
    """Where the workers of an executor keep what they share; Spark removes it in the end. None elsewhere."""
    if TaskContext.get() is None:
        return None
    first = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")[0]
    return Path(first) if first and Path(first).is_dir() else None


def _forget_other_sessions(folder: Path, session: str) -> None:
    """Searches that are over leave tables: the first task of the next one in a process removes them."""
    mine = f"known-{session}-"
    if any(path.name.startswith(mine) for path in _mapped):
        return
    _mapped.clear()
    for path in folder.glob("known-*.table"):
        if not path.name.startswith(mine):
            path.unlink(missing_ok=True)


def _require_room(size: int, *, folder: Path | None = None) -> None:
    free = psutil.virtual_memory().available
    if folder is not None:
        free = min(free, shutil.disk_usage(folder).free)
    if size > SHARE * free:
        raise NoRoomError(f"a table of {size:,} bytes with {free:,} bytes free")


def _place(path: Path, least: int) -> PackedStates:
    """The array in a file, which is made if it is not there."""
    try:
        found = path.stat().st_ino
    except FileNotFoundError:
        return _new_place(path, least)
    known = _mapped.get(path)
    if known is None or known[0] != found:
        _mapped[path] = found, _map(path)
    return _mapped[path][1]


def _new_place(path: Path, size: int) -> PackedStates:
    """An array of zeros in a file that takes the place of the present one. Raises NoRoomError."""
    temporary = path.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    try:
        with temporary.open("wb") as file:
            if hasattr(os, "posix_fallocate"):  # a full disk is an error here, and would be a crash later
                os.posix_fallocate(file.fileno(), 0, 8 * size)
            file.truncate(8 * size)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise NoRoomError(f"a table of {8 * size:,} bytes: {error}") from error
    flat = _map(temporary)
    temporary.replace(path)
    _mapped[path] = path.stat().st_ino, flat
    return flat


def _map(path: Path) -> PackedStates:
    with path.open("r+b") as file:
        return np.frombuffer(mmap.mmap(file.fileno(), 0), np.uint64)
