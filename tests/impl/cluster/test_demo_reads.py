"""The demonstration of reads: query nodes in processes of their own, one of them killed while reads wait."""

import asyncio
import re
import subprocess
import sys
from typing import Any, cast

import pytest

from tidemark.impl.demo.reads import Story, Watched, main
from tidemark.impl.proxy.reads import ReadAnswer


def test_every_answer_is_as_promised_while_a_query_node_is_killed(tmp_path):
    command = [sys.executable, "-m", "tidemark.impl.demo.reads", "--seed", "3", "--rounds", "3"]
    done = subprocess.run(
        [*command, "--dir", str(tmp_path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "a is killed with SIGKILL: 16 reads" in done.stdout
    met = re.findall(r"reads, (\d+) of shards waited at it and (\d+) were refused", done.stdout)
    assert len(met) == 2
    assert all(int(waited) + int(refused) > 0 for waited, refused in met)
    assert "0 lost, 0 doubled, 0 invented, 0 damaged" in done.stdout
    assert done.stdout.endswith("all 48 answers are as promised\n")
    assert done.stderr == ""


class Killed:
    async def kill(self):
        pass


class Answers:
    """A read path whose further pages are of one moment, or of another each."""

    def __init__(self, *moments):
        self.moments = list(moments)

    async def execute(self, task):
        return ReadAnswer((), {"a": self.moments.pop(0)})


@pytest.mark.parametrize(
    ("moments", "waiting", "wrong"),
    [((5, 5), 0, ["met no read"]), ((5, 5), 1, []), ((5, 6), 1, ["a further page shows"])],
)
def test_a_kill_that_meets_no_read_shows_nothing(tmp_path, moments, waiting, wrong):
    story = Story(tmp_path, seed=1, rounds=1)
    story.nodes.replicas.append(Watched(0))
    story.nodes.replicas[0].waiting = waiting
    child, reader = cast("Any", Killed()), cast("Any", Answers(*moments))
    asyncio.run(story.kill_under_work(child, reader, ("a",), []))
    assert len(story.wrong) == len(wrong)
    assert all(part in sentence for part, sentence in zip(wrong, story.wrong, strict=True))


def test_bad_options_end_with_code_2(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--rounds", "0"])
    assert ended.value.code == 2
    assert "--rounds is 0" in capsys.readouterr().err
