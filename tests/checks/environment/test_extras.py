"""A part that is not installed: which extra brings it, and from where this installation gets it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from tests.checks.cli.test_mistakes import WHOLE, folder_with
from tidemark.checks.verdicts.errors import extra_for, extras, install_command, missing_package
from tidemark.checks.verdicts.exit_codes import ExitCode

WITHOUT = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {missing!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
from tidemark.checks.cli.app import run
sys.exit(run({words!r}))
"""


@pytest.mark.parametrize(
    ("missing", "words", "extra"),
    [
        ("pyarrow", ["evidence", "."], "evidence"),
        ("pyarrow", ["spark", "distribute", "tiny", "--manifest", "M"], "spark"),
        ("pyspark", ["spark", "history"], "spark"),
        ("numba", ["spark", "distribute", "tiny", "--manifest", "M"], "spark"),
        ("numpy", ["evidence", "."], "evidence"),
        ("numpy", ["explore", "tiny", "--manifest", "M"], "explore"),
        ("numpy", ["suggest", "NAME:Doors"], "prove"),
        ("z3", ["prove", "NAME:Doors"], "prove"),
        ("numpy", ["simulate", "tiny", "--manifest", "M"], "explore"),
    ],
)
def test_the_extra_of_the_part_that_is_asked_for(missing, words, extra, tmp_path):
    """Several extras bring the package: the one that is named is that of the command."""
    name, path = folder_with(tmp_path, manifest=WHOLE.replace('["interpreted"]', '["explore", "distribute"]'))
    words = [word.replace("NAME", name) if word != "M" else path.name for word in words]
    code = WITHOUT.format(missing=missing, words=words)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == ExitCode.MISSING_TOOL, said
    assert f"there is no Python package {missing!r}" in said
    assert f"run  {install_command(extra)}" in said
    assert "a text that is judged" not in said


def test_a_user_text_that_lacks_an_extra_is_named(tmp_path):
    name, path = folder_with(tmp_path, head="import hypothesis\n", manifest=WHOLE)
    words = ["interpreted", "--manifest", path.name]
    code = WITHOUT.format(missing="hypothesis", words=words)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == ExitCode.MISSING_TOOL, done.stderr
    assert f"{name}.py:1 cannot be loaded: there is no Python package 'hypothesis'" in done.stderr


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ({"url": "file:///home/me/tide%20mark", "dir_info": {}}, "pip install '/home/me/tide mark[spark]'"),
        (
            {"url": "file:///home/me/tidemark", "dir_info": {"editable": True}},
            "pip install -e '/home/me/tidemark[spark]'",
        ),
        (
            {"url": "file:///tmp/tidemark-0.1.0-py3-none-any.whl", "archive_info": {}},
            "pip install '/tmp/tidemark-0.1.0-py3-none-any.whl[spark]'",
        ),
        (
            {"url": "https://forge.example/tidemark.git", "vcs_info": {"vcs": "git", "commit_id": "c0ffee"}},
            "pip install 'tidemark[spark] @ git+https://forge.example/tidemark.git@c0ffee'",
        ),
        ({}, "pip install 'path/to/tidemark[spark]'"),
    ],
)
def test_an_extra_comes_from_where_the_installation_came(origin, command):
    assert install_command("spark", origin=json.dumps(origin)) == command


def test_no_remedy_asks_an_index_for_our_name():
    """Here the clone is installed: its folder is named."""
    root = Path(__file__).parents[3]
    with pytest.raises(ModuleNotFoundError) as caught:
        import_module("rocksdict_that_is_not_there")
    caught.value.name = "rocksdict"
    assert extra_for(caught.value) == "evidence"
    remedy = missing_package("it", caught.value).remedy
    assert f"{root.as_posix()}[evidence]" in remedy
    assert "tidemark[" not in remedy.replace(root.as_posix(), "")


def test_what_is_no_part_of_an_extra():
    with pytest.raises(ModuleNotFoundError) as caught:
        import_module("no_such_package_at_all")
    assert extra_for(caught.value) is None
    assert {"z3-solver", "numpy"} <= {*extras()["prove"]}
    assert {"numba", "pyspark"} <= {*extras()["spark"]}
