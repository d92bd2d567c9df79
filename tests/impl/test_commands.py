"""How the commands of the implementation end: Ctrl-C, SIGTERM, and directories that cannot be used."""

import os
import signal
import subprocess
import sys

import psutil
import pytest

from tests.processes import ends
from tidemark.impl.cluster.__main__ import main as cluster
from tidemark.impl.errors import StoreError
from tidemark.impl.system.command import run_command


@pytest.mark.parametrize(("signal_", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_example_and_leaves_nothing(tmp_path, signal_, code):
    with subprocess.Popen(
        [sys.executable, "-m", "tidemark.impl.cluster"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith(b"started in")
        children = [child.pid for child in psutil.Process(process.pid).children(recursive=True)]
        process.send_signal(signal_)
        _, said = process.communicate(timeout=60)
    assert (process.returncode, said) == (code, b"cluster: stopped\n")
    assert list(tmp_path.iterdir()) == []
    assert ends(*children)


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        (StoreError("the disk is full"), 1, "x: the disk is full\n"),
        (TimeoutError(), 1, "x: it takes too long\n"),
        (ValueError("channels is 0"), 2, "x: channels is 0\n"),
        (PermissionError(13, "Permission denied", "there"), 2, "x: [Errno 13] Permission denied: 'there'\n"),
    ],
)
def test_each_failure_has_its_code_and_its_words(capsys, failure, code, words):
    async def fails():
        raise failure

    assert run_command("x", fails) == code
    assert capsys.readouterr().err == words


def test_a_fault_of_ours_is_not_put_into_words():
    async def fails():
        raise AssertionError("ours")

    with pytest.raises(AssertionError, match="ours"):
        run_command("x", fails)


def test_a_directory_that_others_have_used_is_refused(tmp_path, capsys):
    """What they have left would be counted as lost, doubled or wrong."""
    (tmp_path / "log").mkdir()
    with pytest.raises(SystemExit) as ended:
        cluster(["--dir", str(tmp_path)])
    assert ended.value.code == 2
    assert str(tmp_path) in capsys.readouterr().err


def test_a_directory_that_cannot_be_made_is_named(tmp_path, capsys):
    (tmp_path / "file").touch()
    where = tmp_path / "file" / "below"
    try:
        code: object = cluster(["--dir", str(where)])
    except SystemExit as ended:
        code = ended.code
    said = capsys.readouterr().err
    assert (code, str(where) in said, "Traceback" in said) == (2, True, False)


@pytest.mark.parametrize("option", ["--channels", "--query-nodes", "--full-buffer-bytes"])
def test_the_example_takes_no_options_of_a_server(capsys, option):
    with pytest.raises(SystemExit) as ended:
        cluster([option, "3"])
    assert ended.value.code == 2
    assert f"{option} is an option of serve" in capsys.readouterr().err


def test_a_missing_part_is_named(monkeypatch, capsys):
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(SystemExit, match="2"):
        cluster([])
    assert "tidemark[impl]" in capsys.readouterr().err


def test_a_server_of_no_channels_is_refused(tmp_path, capsys):
    assert cluster(["serve", "--dir", str(tmp_path / "new"), "--channels", "0"]) == 2
    assert "channels is 0; it must be at least 1" in capsys.readouterr().err
