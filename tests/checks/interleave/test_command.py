"""The command ``interleave``: by the manifest, by another reduction, on Spark."""

import pytest

from tidemark.checks.cli.app import run
from tidemark.models.manifest import manifest_files

FLUSH = next(str(path) for path in manifest_files() if path.parent.name == "flush")


@pytest.mark.parametrize(
    ("entry", "reduction", "executions"),
    [
        ("tiny-every-order", "optimal", "39 executions"),
        ("tiny-every-order", "source-sets", "39 executions"),
        ("tiny-sleep-sets", "none", "352 executions"),
    ],
)
def test_another_reduction_sees_the_pinned_final_states(entry, reduction, executions, tmp_path, capsys):
    arguments = ["--reduction", reduction, "--build", str(tmp_path), "--manifest", FLUSH]
    assert run(["interleave", entry, *arguments]) == 0
    out = capsys.readouterr().out
    assert executions in out
    assert "as pinned" in out


def test_without_one_the_manifest_says_how(tmp_path, capsys):
    assert run(["interleave", "tiny-sleep-sets", "--build", str(tmp_path), "--manifest", FLUSH]) == 0
    assert "39 executions" in capsys.readouterr().out


def test_an_unknown_reduction_is_refused_by_name(tmp_path, capsys):
    arguments = ["--reduction", "best", "--build", str(tmp_path), "--manifest", FLUSH]
    assert run(["interleave", "tiny-every-order", *arguments]) == 5
    error = capsys.readouterr().err
    assert "'best' is not a reduction" in error
    assert "optimal" in error


@pytest.mark.spark
def test_subtrees_on_spark_see_them_too(spark, tmp_path, capsys):
    del spark
    arguments = ["--reduction", "optimal", "--spark", "--build", str(tmp_path), "--manifest", FLUSH]
    assert run(["interleave", "tiny-every-order", *arguments]) == 0
    assert "39 executions" in capsys.readouterr().out
