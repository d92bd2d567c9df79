"""The table says "as pinned" of what was compared, and of nothing else."""

from __future__ import annotations

import pytest

from tests.checks.cli.test_mistakes import WHOLE, folder_with
from tidemark.checks.cli import app as cli
from tidemark.checks.verdicts.exit_codes import ExitCode

BROKEN = ExitCode.UNEXPECTED_REFUTATION
UNPINNED = ExitCode.VACUOUS_OR_UNPINNED
FOUND = 'expect = { every = "holds", refuted = ["doors.all_shut"] }'


@pytest.mark.parametrize(
    ("expect", "counts", "status", "words"),
    [
        (FOUND, "", UNPINNED, "not pinned"),
        (FOUND, "distinct = 7", UNPINNED, "NOT as pinned"),
        (FOUND, "distinct = 2, counterexample_steps = 1", ExitCode.AS_EXPECTED, "as pinned"),
        ('expect = { every = "holds" }', "distinct = 2, counterexample_steps = 1", BROKEN, "as pinned"),
        ('expect = { every = "holds" }', "counterexample_steps = 1", BROKEN, ""),
    ],
)
def test_counts(expect, counts, status, words, tmp_path, capsys):
    """The last one: steps of a run that nobody expects are not compared with those of the expected one."""
    manifest = WHOLE.replace('expect = { every = "holds" }', f"{expect}\ncounts = {{ {counts} }}")
    _, path = folder_with(tmp_path, manifest=manifest)
    words_of = ["interpreted", "--manifest", str(path), "--build", str(tmp_path / "build")]
    assert cli.run(words_of) == status
    rows = {line.split()[0]: line.split(maxsplit=1)[1] for line in capsys.readouterr().out.splitlines()
            if line.strip().startswith("pinned-")}  # fmt: skip
    assert rows["pinned-claims"].strip() == "as pinned"
    assert rows.get("pinned-counts", "").strip() == words
