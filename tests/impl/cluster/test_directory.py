"""The directory of a cluster: one process has it, and everything in it has a place of its own."""

import fcntl
import os
from pathlib import Path
from unittest.mock import Mock, call

import pytest

from tidemark.impl.cluster.directory import ClusterDirectory, LockCalls
from tidemark.impl.errors import ClusterLockedError


def descriptors():
    return len(list(Path("/proc/self/fd").iterdir()))


def test_one_process_has_the_directory_until_it_gives_it_back(tmp_path):
    root = tmp_path / "clusters" / "one"
    first, second = ClusterDirectory(root), ClusterDirectory(root)
    before = descriptors()
    second.give_back()
    first.take()
    for _ in range(2):
        with pytest.raises(ClusterLockedError, match=f"another process runs a cluster in {root}; end it"):
            second.take()
    assert descriptors() == before + 1
    first.give_back()
    first.give_back()
    assert descriptors() == before
    second.take()
    with pytest.raises(ClusterLockedError):
        first.take()
    second.give_back()
    assert descriptors() == before


def test_the_lock_is_asked_for_without_waiting(tmp_path):
    calls = Mock(spec=LockCalls)
    calls.open.return_value = 7
    directory = ClusterDirectory(tmp_path, calls=calls)
    directory.take()
    directory.give_back()
    assert calls.mock_calls == [
        call.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT, 0o644),
        call.flock(7, fcntl.LOCK_EX | fcntl.LOCK_NB),
        call.close(7),
    ]


def test_each_file_has_a_place_of_its_own(tmp_path):
    directory = ClusterDirectory(tmp_path)
    names = ("logs", "binlogs", "oracle", "ids", "sessions", "catalog", "meta", "releases")
    places = {getattr(directory, name) for name in names} | {tmp_path / "lock"}
    assert len(places) == 9
    assert {place.parent for place in places} == {directory.root} == {tmp_path}
