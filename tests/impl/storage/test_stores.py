"""The real adapters over the disk of the machine; what damage is told from an append that did not end."""

import zlib

import pytest

from tests.impl.parts import CHANNEL, pack
from tidemark.impl.errors import CorruptDataError
from tidemark.impl.storage.file_log import FileLogWriter, log_file, read_log
from tidemark.impl.storage.sqlite_meta import SqliteMetaStore
from tidemark.impl.types import ChannelRecord


async def test_a_failing_change_leaves_nothing_of_itself(tmp_path):
    store = SqliteMetaStore(tmp_path / "meta")
    await store.save_channels([ChannelRecord(channel="a")])
    broken = ChannelRecord(channel="b", term=None)  # type: ignore[arg-type]
    with pytest.raises(CorruptDataError, match="NOT NULL"):
        await store.save_channels([ChannelRecord(channel="new"), broken])
    assert (await store.load()).channels == (ChannelRecord(channel="a"),)
    await store.close()


async def test_a_file_that_is_no_database_is_refused(tmp_path):
    (tmp_path / "meta").write_bytes(b"not a database, but long enough to be looked at" * 20)
    store = SqliteMetaStore(tmp_path / "meta")
    with pytest.raises(CorruptDataError, match="is damaged"):
        await store.load()
    await store.close()


def line_of(text: bytes) -> bytes:
    return b"%08x %s\n" % (zlib.crc32(text), text)


@pytest.mark.parametrize(
    "text", [b"nonsense", b'{"start":1}', b'{"start":5,"end":2,"rows":[],"close":false,"drop":false}']
)
async def test_a_line_that_is_no_pack_is_named(tmp_path, text):
    log_file(tmp_path, CHANNEL).write_bytes(line_of(text))
    with pytest.raises(CorruptDataError, match=r"channel-1\.jsonl has a damaged line"):
        await read_log(tmp_path, CHANNEL)


async def test_damage_before_the_last_line_is_named_and_not_cut_off(tmp_path):
    await FileLogWriter(tmp_path, CHANNEL).append(pack(1, (1, 1)))
    file = log_file(tmp_path, CHANNEL)
    first = file.read_bytes()
    file.write_bytes(first.replace(b"start", b"stort") + first)
    before = file.read_bytes()
    with pytest.raises(CorruptDataError, match="restore it"):
        await read_log(tmp_path, CHANNEL)
    with pytest.raises(CorruptDataError, match="restore it"):
        await FileLogWriter(tmp_path, CHANNEL).append(pack(2, start=1))
    assert file.read_bytes() == before


@pytest.mark.parametrize("rest", [b"0", b"\0\0\0\0", b"\0\0\0\n", line_of(b"{}")[:-1], b"00000000 {}\n"])
async def test_what_is_left_of_an_append_is_cut_off_by_the_next_writer(tmp_path, rest):
    await FileLogWriter(tmp_path, CHANNEL).append(pack(1, (1, 1)))
    with log_file(tmp_path, CHANNEL).open("ab") as out:
        out.write(rest)
    assert await read_log(tmp_path, CHANNEL) == (pack(1, (1, 1)),)
    await FileLogWriter(tmp_path, CHANNEL).append(pack(2, start=1))
    assert await read_log(tmp_path, CHANNEL) == (pack(1, (1, 1)), pack(2, start=1))
