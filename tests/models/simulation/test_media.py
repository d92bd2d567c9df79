"""What a power failure may leave of the simulated file system, as POSIX allows it."""

import pytest

from tidemark.models.simulation.footprint import Interner
from tidemark.models.simulation.settings import Settings
from tidemark.models.simulation.world.files import FileSystem
from tidemark.models.simulation.world.world import World


def file_system() -> FileSystem:
    return FileSystem(World(Settings(), Interner()), "machine")


def left(system: FileSystem) -> set[tuple[tuple[str, bytes | None], ...]]:
    """Everything that may be left: paths with their contents, None for a directory."""
    found = set()
    for image in system.left():
        contents = dict(image.contents)
        found.add(tuple((path, contents.get(inode)) for path, inode in image.names if path != "/"))
    return found


def test_neither_name_nor_content_is_durable_before_each_is_forced():
    system = file_system()
    system.change("/a", 0, b"1234")
    whole = (("/a", b"1234"),)
    torn = {(("/a", b"12"),), (("/a", b"1\0\0" + b"4"),), (("/a", b""),)}
    assert left(system) == {(), whole, *torn}
    system.force("/a")
    assert left(system) == {(), whole}
    system.force("/")
    assert left(system) == {whole}


def test_a_rename_is_one_step_and_may_come_before_the_content():
    system = file_system()
    for path in ("/old", "/new"):
        system.change(path, 0, b"x")
        system.force(path)
    system.force("/")
    system.change("/old", 0, b"y")
    system.rename("/old", "/new")
    assert left(system) == {
        (("/new", b"x"), ("/old", b"x")),
        (("/new", b"x"), ("/old", b"y")),
        (("/new", b"x"),),
        (("/new", b"y"),),
    }


def test_a_deletion_is_undone_unless_it_was_forced():
    system = file_system()
    system.change("/a", 0, b"x")
    system.force("/a")
    system.force("/")
    system.unlink("/a")
    assert "/a" not in system.names()
    assert left(system) == {(), (("/a", b"x"),)}
    with pytest.raises(FileNotFoundError):
        system.unlink("/a")
    system.force("/")
    assert left(system) == {()}


def test_a_file_is_lost_with_the_name_of_its_directory():
    system = file_system()
    system.make_directory("/d")
    system.change("/d/a", 0, b"x")
    system.force("/d/a")
    system.force("/d")
    assert left(system) == {(), (("/d", None), ("/d/a", b"x"))}
    system.force("/")
    assert left(system) == {(("/d", None), ("/d/a", b"x"))}


def test_changes_of_one_file_are_left_in_their_order():
    system = file_system()
    system.change("/a", 0, b"1")
    system.force("/a")
    system.force("/")
    for data in (b"2", b"3"):
        system.change("/a", None, data)
    system.change("/a", 1, b"")
    assert left(system) == {(("/a", text),) for text in (b"1", b"12", b"123")}


def test_after_a_failure_what_is_left_is_durable():
    system = file_system()
    system.change("/a", 0, b"1")
    outcomes = system.crash_outcomes()
    assert [words for words, _ in outcomes] == [f"{n} of 3 things on disk" for n in (1, 2, 3)]
    outcomes[0][1]()
    assert system.crash_outcomes() == []
    assert system.content_of("/a") == b"1"
