"""Objects in Parquet files over a simulated disk, beside a dict; and the files of the machine itself."""

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.impl.parts import run
from tests.impl.storage.faults import FAIL, TEAR, Faults
from tests.impl.storage.parts import AtOnce, Disk, each, play, says
from tidemark.impl.errors import CorruptDataError, StoreError
from tidemark.impl.storage.files import SystemFiles, in_thread
from tidemark.impl.storage.memory import MemoryObjectStore
from tidemark.impl.storage.parquet_folder import ParquetFolder
from tidemark.impl.storage.parquet_store import ParquetStore
from tidemark.impl.types import Row

LOOP = AtOnce
ONE = (Row(1, 7, 3, "a"), Row(2, 7, 4, "b"))
TWO = (Row(5, 8, 1, ""),)
PUTS = [("s/1/a", ONE), ("s/2/b", TWO), ("s/1/a", TWO), ("s/1/a", ONE)]
OUTSIDE = ("/s", "s/../a", "..", "")


def _store(disk: Disk, writer: str = "w") -> ParquetStore:
    return ParquetStore(disk.root, files=disk.files, writer=writer)


def _unfinished(disk: Disk, writer: str = "") -> int:
    ending = f".{writer}.0.unfinished" if writer else ".unfinished"
    return sum(name.endswith(ending) for name in disk.system.names())


async def _objects(store: ParquetStore) -> dict[str, tuple[Row, ...]]:
    return {path: await store.get(path) for path in store.paths()}


def test_an_object_that_was_put_is_got_and_one_that_failed_is_there_or_not() -> None:
    for faults in each(FAIL, TEAR):
        play(_puts(Disk(faults)))


async def _puts(disk: Disk) -> None:
    store, held, number = _store(disk), dict[str, tuple[Row, ...]](), 0
    while number < len(PUTS):
        path, rows = PUTS[number]
        try:
            await store.put(path, rows)
            held[path], number = rows, number + 1
            assert await store.get(path) == rows
        except StoreError as failure:
            says(failure, disk.faults.words)
            assert _unfinished(disk) == _unfinished(disk, writer="w") <= 1
            for left in disk.after_power():
                found = await _objects(_store(left))
                assert found in (held, {**held, path: rows})
            await _store(left).put("new", ONE)
            assert await _objects(_store(left)) == {**found, "new": ONE}
        assert not disk.open_files
    disk.faults.kind = None
    assert await _objects(store) == held
    assert store.paths() == ("s/1/a", "s/2/b")
    assert not _unfinished(disk), "what a failure has left is used again"


async def test_what_is_not_there_is_damaged_or_lies_outside_is_named() -> None:
    disk = Disk()
    store = _store(disk)
    await store.put("a", ONE)
    for name, content in (("b", b"PAR1 and no more"), ("c", b"")):
        disk.system.change(f"{disk.root}/{name}.parquet", 0, content)
        with pytest.raises(CorruptDataError, match=f"{name}.parquet is damaged: .*; restore it"):
            await store.get(name)
    for absent in (store, MemoryObjectStore()):
        with pytest.raises(StoreError, match="it was never written"):
            await absent.get("d")
    for path in OUTSIDE:
        for call in (partial(store.put, rows=ONE), store.get):
            with pytest.raises(ValueError, match="must be relative and without"):
                await call(path)


async def test_objects_in_memory_are_a_dict() -> None:
    store = MemoryObjectStore()
    for path, rows in PUTS:
        await store.put(path, list(rows))
        assert await store.get(path) == rows


@pytest.mark.parametrize("stores", [1, 2])
async def test_two_puts_of_one_path_at_once_leave_one_of_both(stores: int) -> None:
    disk = Disk()
    made = [ParquetStore(disk.root, files=disk.files) for _ in range(stores)] * 2
    await asyncio.gather(made[0].put("a", ONE), made[1].put("a", TWO), made[0].put("b", ONE))
    assert await made[0].get("a") in (ONE, TWO)
    assert await made[0].get("b") == ONE
    assert not _unfinished(disk)


# ---- names: some begin with others, and are in another order as paths than as texts ----

NAMES = {"s/1/a": ONE, "s/1/a-b": TWO, "s/1-b": ONE, "s/1": TWO, "s2/a": TWO}
BELOW = ("s/1", "s/1-b", "s/1/a", "s/1/a-b")


def test_a_folder_lists_and_deletes_what_is_named() -> None:
    async def scenario(faults: Faults) -> None:
        disk, held = Disk(), dict(NAMES)
        store = _store(disk)
        folder = ParquetFolder(store)
        for path, rows in NAMES.items():
            await store.put(path, rows)
        disk.system.change(f"{disk.root}/s/.1.parquet.w.1.unfinished", 0, b"PAR1")
        disk.faults = faults
        for gone in ("s/1/a", "s/1/a", "absent/a", "s/1"):
            with _allowing(faults, "cannot delete"):
                await folder.delete(gone)
                held.pop(gone, None)
            for below, names in (("s", BELOW), ("s/1", BELOW[2:]), ("s2", ("s2/a",)), ("none", ())):
                with _allowing(faults, "cannot list"):
                    assert await folder.paths(below) == tuple(name for name in names if name in held)
            assert set(disk.system.names()) >= {f"{disk.root}/{name}.parquet" for name in held}
        faults.kind = None
        assert await _objects(store) == held
        for path in OUTSIDE:
            for call in (folder.paths, folder.delete):
                with pytest.raises(ValueError, match="must be relative and without"):
                    await call(path)

    for faults in each(FAIL):
        play(scenario(faults))


@contextmanager
def _allowing(faults: Faults, words: str) -> Iterator[None]:
    """The call may fail if its operation is the one that does."""
    happened = faults.happened
    try:
        yield
    except StoreError as failure:
        says(failure, words, f"{faults.words}: ")
        happened += 1
    assert faults.happened == happened


class _Calls:
    def __init__(self) -> None:
        self.made: list[tuple[str, str]] = []

    def __getattr__(self, name: str):
        def call(what, *more):
            self.made.append((name, str(what)))
            return getattr(os, name)(what, *more)

        return call


def test_the_files_of_the_machine(tmp_path: Path) -> None:
    run(_files_of_the_machine(tmp_path))  # in threads


async def _files_of_the_machine(tmp_path: Path) -> None:
    calls = _Calls()
    files, one, two = SystemFiles(calls), tmp_path / "d" / "one", tmp_path / "d" / "two"
    for _ in range(2):
        await files.make_directory(one.parent)
    assert not await files.exists(one)
    await files.append(one, b"abc")
    await files.append(one, b"def")
    assert (await files.read(one), await files.read(one, offset=2)) == (b"abcdef", b"cdef")
    await files.truncate(one, 4)
    await files.rename(one, two)
    assert (await files.exists(one), await files.read(two)) == (False, b"abcd")
    await files.write(two, b"x")
    assert await files.read(two) == b"x"
    calls.made.clear()
    await files.sync(two)
    await files.sync_directory(two.parent)
    (_, opened), (_, forced), (_, closed), *folder = calls.made
    assert (opened, forced) == (str(two), closed)
    assert [name for name, _ in calls.made] == ["open", "fsync", "close"] * 2
    assert folder[0][1] == str(two.parent)
    with pytest.raises(FileNotFoundError):
        await files.read(one)


def test_a_caller_that_is_cancelled_waits_for_its_thread() -> None:
    async def scenario(*, fails: bool) -> None:
        begun, may_end, ended = threading.Event(), threading.Event(), []

        def work() -> None:
            begun.set()
            may_end.wait(5)
            ended.append(True)
            if fails:
                raise OSError("nobody hears this")

        caller = asyncio.create_task(in_thread(None, work))
        await asyncio.to_thread(begun.wait)
        for _ in range(3):
            caller.cancel()
            await asyncio.sleep(0.01)
            assert not caller.done()
        may_end.set()
        with pytest.raises(asyncio.CancelledError):
            await caller
        assert ended

    for fails in (False, True):
        asyncio.run(scenario(fails=fails))
