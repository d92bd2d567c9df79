"""A simulated file system: what is written, created or renamed is volatile until it is forced to the disk.

A file has content, a directory has names; each is forced by itself, as POSIX says it. When the power fails,
of the changes of one file or one directory that were not forced a prefix is left, whichever for each of them,
and of the last change of a file perhaps a part: its first half, or all but its middle, which is zero.
Reads see everything. Every operation is one step of the world, and may fail under a budget.
"""

from __future__ import annotations

import asyncio
import errno
import itertools
from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tidemark.models.simulation.loop.futures import settle
from tidemark.models.simulation.loop.lane import Event, Lane
from tidemark.models.simulation.settings import FaultKind
from tidemark.models.simulation.world.environment import Environment
from tidemark.models.simulation.world.media import Outcome

T = TypeVar("T")
_DIRECTORY = 0
"""Stands for the inode of every directory: it is told apart by its path."""


class Change(NamedTuple):
    """One change of a file: from the content at an offset on, this instead."""

    offset: int
    data: bytes

    def on(self, content: bytes) -> bytes:
        """Return the content after the change."""
        return content[: self.offset] + self.data

    def parts(self, content: bytes) -> Iterator[bytes]:
        """Yield what may be left of it when the power fails meanwhile."""
        half = len(self.data) // 2
        if half:
            yield content[: self.offset] + self.data[:half]
            start, end = (half + 1) // 2, half + (half + 1) // 2
            yield content[: self.offset] + self.data[:start] + bytes(end - start) + self.data[end:]


class Naming(NamedTuple):
    """One change of the names in a directory: ``old`` is gone, ``new`` stands for the inode; None if a file
    is created, or deleted.
    """

    old: str | None
    new: str | None
    inode: int


class Image(NamedTuple):
    """What is on a disk: the inode of each path, and the content of each inode."""

    names: tuple[tuple[str, int], ...]
    contents: tuple[tuple[int, bytes], ...]


class FileSystem:
    """The files of one machine; its processes reach them through ``operations``. ``changed`` is told of
    each operation that has changed something: the task, and what was there before.
    """

    def __init__(
        self,
        world: Environment,
        name: str,
        *,
        changed: Callable[[str, Image], None] | None = None,
    ) -> None:
        self._world = world
        self.owner = f"files {name}"
        self._bit = world.interner.bit(self.owner)
        self._durable_names: dict[str, int] = {"/": _DIRECTORY}
        self._namings: dict[str, list[Naming]] = {}
        self._durable: dict[int, bytes] = {}
        self._changes: dict[int, list[Change]] = {}
        self._inodes = 0
        self._changed = changed
        self._left: list[Image] | None = None
        self._now: Image | None = None

    def watched(self, task: str, effect: Callable[[], T]) -> T:
        """Let an operation take effect, and tell who watches."""
        if self._changed is None:
            return effect()
        before = self.now()
        try:
            return effect()
        finally:
            if self.now() != before:
                self._changed(task, before)

    # What is there.

    def names(self) -> dict[str, int]:
        """Return what a process sees: paths and their inodes."""
        return _reachable(self._named(self._namings))

    def now(self) -> Image:
        """Return what a process sees."""
        if self._now is None:
            self._now = self._image(self.names(), {n: self._content(n) for n in self._durable})
        return self._now

    def left(self) -> list[Image]:
        """Return what a power failure may leave, each possibility once; the one with everything first."""
        if self._left is None:
            self._left = self._possible()
        return self._left

    def _possible(self) -> list[Image]:
        directories = [directory for directory, changes in self._namings.items() if changes]
        files = [inode for inode, changes in self._changes.items() if changes]
        prefixes = [range(len(self._namings[directory]), -1, -1) for directory in directories]
        contents = [tuple(self._remains(inode)) for inode in files]
        found: dict[Image, None] = {}
        for kept in itertools.product(*prefixes):
            cut = {d: self._namings[d][:count] for d, count in zip(directories, kept, strict=True)}
            names = _reachable(self._named(cut))
            for chosen in itertools.product(*contents):
                content = {**self._durable, **dict(zip(files, chosen, strict=True))}
                found[self._image(names, content)] = None
        return list(found)

    def _remains(self, inode: int) -> Iterator[bytes]:
        changes = self._changes[inode]
        contents = list(
            itertools.accumulate(changes, lambda content, c: c.on(content), initial=self._durable[inode])
        )
        yield from reversed(contents)
        for before, change in zip(contents, changes, strict=False):
            yield from change.parts(before)

    def _named(self, namings: dict[str, list[Naming]]) -> dict[str, int]:
        names = dict(self._durable_names)
        for changes in namings.values():
            for change in changes:
                _rename(names, change)
        return names

    def _content(self, inode: int) -> bytes:
        content = self._durable[inode]
        for change in self._changes.get(inode, ()):
            content = change.on(content)
        return content

    def _image(self, names: dict[str, int], contents: dict[int, bytes]) -> Image:
        """Inodes are numbered by the paths, so that histories do not matter."""
        numbers: dict[int, int] = {_DIRECTORY: _DIRECTORY}
        found: dict[int, bytes] = {}
        for path in sorted(names):
            inode = names[path]
            if inode not in numbers:
                numbers[inode] = len(numbers)
                found[numbers[inode]] = contents[inode]
        return Image(
            tuple((path, numbers[names[path]]) for path in sorted(names)), tuple(sorted(found.items()))
        )

    # Changes, as the operations make them.

    def inode_of(self, path: str) -> int:
        """Return the inode of a file. Raise FileNotFoundError if there is none."""
        inode = self.names().get(path)
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", path)
        return inode

    def _write(self) -> None:
        self._world.touch(writes=self._bit)
        self._left = self._now = None

    def content_of(self, path: str) -> bytes:
        """Return the content of a file."""
        self._world.touch(reads=self._bit)
        return self._content(self.inode_of(path))

    def change(self, path: str, offset: int | None, data: bytes) -> None:
        """Put data into a file from an offset on, at its end if that is None; create it if need be."""
        self._write()
        names = self.names()
        if path not in names:
            self._check_parent(path, names)
            self._inodes += 1
            self._durable[self._inodes] = b""
            self._name(Naming(None, path, self._inodes))
        inode = self.inode_of(path)
        at = len(self._content(inode)) if offset is None else offset
        self._changes.setdefault(inode, []).append(Change(at, data))

    def make_directory(self, path: str) -> None:
        """Create a directory unless it is there."""
        self._write()
        names = self.names()
        if path not in names:
            self._check_parent(path, names)
            self._name(Naming(None, path, _DIRECTORY))

    def rename(self, old: str, new: str) -> None:
        """Give a file another name in its directory."""
        self._write()
        self._name(Naming(old, new, self.inode_of(old)))

    def unlink(self, path: str) -> None:
        """Take the name of a file from its directory. Raise FileNotFoundError if there is none."""
        self._write()
        self._name(Naming(path, None, self.inode_of(path)))

    def force(self, path: str) -> None:
        """Make the content of a file, or the names in a directory, durable."""
        self._write()
        inode = self.inode_of(path)
        if inode == _DIRECTORY:
            for change in self._namings.pop(path, []):
                _rename(self._durable_names, change)
        else:
            self._durable[inode] = self._content(inode)
            self._changes.pop(inode, None)

    def _check_parent(self, path: str, names: dict[str, int]) -> None:
        parent = _parents(path)[0]
        if names.get(parent) != _DIRECTORY:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", parent)

    def _name(self, change: Naming) -> None:
        name = change.old if change.new is None else change.new
        assert name is not None
        self._namings.setdefault(_parents(name)[0], []).append(change)

    # As a medium.

    def state(self) -> Hashable:
        """See Medium."""
        namings = tuple((path, tuple(changes)) for path, changes in sorted(self._namings.items()) if changes)
        changes = tuple((inode, tuple(made)) for inode, made in sorted(self._changes.items()) if made)
        names, contents = sorted(self._durable_names.items()), sorted(self._durable.items())
        return tuple(names), namings, tuple(contents), changes

    def crash_outcomes(self) -> list[Outcome]:
        """See Medium."""
        images = self.left()
        if len(images) == 1:
            return []

        def leave(image: Image) -> Callable[[], None]:
            def act() -> None:
                self._write()
                self._durable_names = dict(image.names)
                self._durable = dict(image.contents)
                self._inodes = max(self._durable, default=0)
                self._namings, self._changes = {}, {}

            return act

        count = len(images)
        return [(f"{n} of {count} things on disk", leave(image)) for n, image in enumerate(images, 1)]

    def caller_died(self, lane: Lane) -> None:
        """See Medium. Operations under way go with their process."""
        del lane

    def dismantle(self) -> None:
        """See Medium."""

    def operations(self) -> FileOperations:
        """Return the door of a process to these files."""
        return FileOperations(self._world, self)


class InjectedDiskError(OSError):
    """The simulation has made an operation fail."""


class FileOperations:
    """The operations of ``tidemark.impl.storage.files.Files``, each a step of the world."""

    def __init__(self, world: Environment, system: FileSystem) -> None:
        self._world = world
        self._system = system

    async def exists(self, path: Path) -> bool:
        """Return whether there is such a path."""
        return await self._operate("exists", path, lambda: str(path) in self._system.names())

    async def read(self, path: Path, *, offset: int = 0) -> bytes:
        """Return the content from an offset on."""
        return await self._operate("read", path, lambda: self._system.content_of(str(path))[offset:])

    async def write(self, path: Path, data: bytes) -> None:
        """Replace the content."""
        await self._change("write", path, 0, data)

    async def append(self, path: Path, data: bytes) -> None:
        """Add to the end."""
        await self._change("append", path, None, data)

    async def truncate(self, path: Path, size: int) -> None:
        """Cut off."""
        await self._operate("truncate", path, lambda: self._system.change(str(path), size, b""))

    async def sync(self, path: Path) -> None:
        """Force the content."""
        await self._operate("sync", path, lambda: self._system.force(str(path)))

    async def rename(self, old: Path, new: Path) -> None:
        """Rename."""
        await self._operate("rename", old, lambda: self._system.rename(str(old), str(new)))

    async def make_directory(self, path: Path) -> None:
        """Create a directory."""
        await self._operate("mkdir", path, lambda: self._system.make_directory(str(path)))

    async def sync_directory(self, path: Path) -> None:
        """Force the names."""
        await self._operate("sync", path, lambda: self._system.force(str(path)))

    async def _change(self, title: str, path: Path, offset: int | None, data: bytes) -> None:
        def put(part: bytes) -> None:
            self._system.change(str(path), offset, part)

        await self._operate(title, path, lambda: put(data), tear=lambda: put(data[: len(data) // 2]))

    async def _operate(
        self, verb: str, path: Path, effect: Callable[[], T], *, tear: Callable[[], object] | None = None
    ) -> T:
        world = self._world
        lane = world.caller
        future: asyncio.Future[T] = world.loop.create_future()
        label = f"{verb} {path.name or path} {lane.title}#{lane.next_number()}"
        current = asyncio.current_task()
        task = current.get_name() if current is not None else ""

        def clear() -> None:
            world.events.pop(label, None)
            for fault in ("fail", "tear"):
                world.faults.pop(f"{fault} {label}", None)

        def done() -> None:
            clear()
            settle(future, lambda: self._system.watched(task, effect))

        def failing(kind: FaultKind, part: Callable[[], object] | None) -> Callable[[], None]:
            def fire() -> None:
                world.spend(kind)
                clear()
                if part is not None:
                    self._system.watched(task, part)
                if not future.done():
                    future.set_exception(InjectedDiskError(errno.EIO, f"{verb} failed", str(path)))

            return fire

        def offer(kind: FaultKind, name: str, part: Callable[[], object] | None) -> None:
            if world.budget[kind]:
                event = Event(f"{name} {label}", lane, failing(kind, part), fault=True)
                world.faults[event.label] = (kind, event)

        world.events[label] = Event(label, lane, done)
        offer(FaultKind.STORAGE_FAILURE, "fail", None)
        if tear is not None:
            offer(FaultKind.STORAGE_TORN, "tear", tear)
        try:
            return await future
        except asyncio.CancelledError:
            clear()
            raise


class Snapshot:
    """Files as an image has them, for a reader that must not wait. It forces nothing, and refuses writes."""

    def __init__(self, image: Image) -> None:
        self._names = dict(image.names)
        self._contents = dict(image.contents)

    async def exists(self, path: Path) -> bool:
        """Return whether there is such a path."""
        return str(path) in self._names

    async def read(self, path: Path, *, offset: int = 0) -> bytes:
        """Return the content from an offset on."""
        inode = self._names.get(str(path))
        if inode is None:
            raise FileNotFoundError(errno.ENOENT, "No such file or directory", str(path))
        return self._contents[inode][offset:]

    async def sync(self, path: Path) -> None:
        """Do nothing: an image does not change."""

    async def sync_directory(self, path: Path) -> None:
        """Do nothing: an image does not change."""

    def __getattr__(self, name: str) -> Any:
        """Refuse what would change the image."""
        raise AttributeError(f"an image of a disk has no {name!r}: it can only be read")


def _rename(names: dict[str, int], change: Naming) -> None:
    if change.old is not None:
        names.pop(change.old, None)
    if change.new is not None:
        names[change.new] = change.inode


def _reachable(names: dict[str, int]) -> dict[str, int]:
    """Return the paths whose directories are all there."""
    return {
        path: names[path]
        for path in sorted(names)
        if all(names.get(parent) == _DIRECTORY for parent in _parents(path))
    }


@lru_cache(maxsize=1 << 12)
def _parents(path: str) -> tuple[str, ...]:
    """The directories above a path, the nearest first."""
    return tuple(str(parent) for parent in Path(path).parents)
