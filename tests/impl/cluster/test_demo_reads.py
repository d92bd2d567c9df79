"""The demonstration of reads: query nodes in processes of their own, one of them killed while reads wait."""

import subprocess
import sys

import pytest

from tidemark.impl.demo.reads import main


def test_every_answer_is_as_promised_while_a_query_node_is_killed(tmp_path):
    command = [sys.executable, "-m", "tidemark.impl.demo.reads", "--seed", "3", "--rounds", "3"]
    done = subprocess.run(
        [*command, "--dir", str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a is killed with SIGKILL: 15 reads" in done.stdout
    assert "0 lost, 0 doubled, 0 invented, 0 damaged" in done.stdout
    assert done.stdout.endswith("all 45 answers are as promised\n")
    assert done.stderr == ""


def test_bad_options_end_with_code_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--rounds", "0"])
    assert ended.value.code == 2
    assert "--rounds is 0" in capsys.readouterr().err
