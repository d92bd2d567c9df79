"""The writer for Go programs, ``docs/tmtrace.go``: compiled, run, and its trace judged."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.checks.evidence.test_refinement import BEGIN
from tidemark.checks.cli import app

SOURCE = Path(__file__).parents[3] / "docs" / "tmtrace.go"
FETCHED = Path(sys.prefix) / "go" / "bin" / "go"
GO = str(FETCHED) if FETCHED.exists() else shutil.which("go")

PROGRAM = """
package main

import (
	"os"
	"strconv"
	"sync"

	"example.org/traced/tmtrace"
)

func main() {
	count, _ := strconv.Atoi(os.Args[3])
	if err := tmtrace.Start(os.Args[1], "all", os.Args[2]); err != nil {
		os.Exit(3)
	}
	tmtrace.Emit("restart", "", 0, nil, tmtrace.See{"up": true})
	tmtrace.Emit("register", "dml_0", 7, tmtrace.Args{"p": "proxy-1"}, nil)
	var wait sync.WaitGroup
	for worker := 0; worker < 4; worker++ {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for n := 0; n < count; n++ {
				tmtrace.Emit("", "", 0, nil, tmtrace.See{"up": true})
			}
		}()
	}
	wait.Wait()
	tmtrace.Stop()
	tmtrace.Emit("restart", "", 0, nil, nil)
}
"""


def test_it_is_short_enough_to_be_read() -> None:
    assert len(SOURCE.read_text().splitlines()) <= 80


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if GO is None:
        pytest.skip("there is no Go compiler: make go, or apt-get install golang-go")
    folder = tmp_path_factory.mktemp("go")
    (folder / "tmtrace").mkdir()
    shutil.copy(SOURCE, folder / "tmtrace")
    (folder / "go.mod").write_text("module example.org/traced\n\ngo 1.18\n")
    (folder / "main.go").write_text(PROGRAM)
    environment = {name: text for name, text in os.environ.items() if not name.startswith("GO")}
    environment |= {"GOCACHE": str(folder / "cache"), "GOPROXY": "off", "GOFLAGS": "-mod=mod"}
    build = [GO, "build", "-tags", "tidemark", "-o", "traced", "."]
    done = subprocess.run(build, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder / "traced"


def written(program: Path, path: Path, count: int) -> list[dict[str, Any]]:
    """Run the program with four writers of so many steps each; what it wrote after the beginning."""
    path.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run([str(program), str(path), json.dumps(BEGIN), str(count)], check=True, timeout=120)
    first, *rest = path.read_text().splitlines()
    assert json.loads(first) == BEGIN
    return [json.loads(line) for line in rest]


def test_its_trace_is_judged(program: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """``Stop`` leaves nothing unwritten, and what comes after it is no part of the trace."""
    lines = written(program, tmp_path / "run" / "traces" / "go.ndjson", 3)
    assert [line["s"] for line in lines] == list(range(14))
    status = app.run(["evidence", str(tmp_path / "run"), "--build", str(tmp_path / "build")])
    assert status == 0, capsys.readouterr().out
    (one,) = json.loads((tmp_path / "build" / "verdicts.json").read_text())["judgements"]
    assert (one["outcome"], one["counts"]["matched"]) == ("holds", 14)


def test_steps_that_it_drops_are_counted_also_the_last_ones(program: Path, tmp_path: Path) -> None:
    count = 200_000
    lines = written(program, tmp_path / "go.ndjson", count)
    told = sum(line.get("dropped", 0) for line in lines)
    steps = [line for line in lines if "see" in line or "a" in line]
    assert len(steps) + told == 4 * count + 2
    assert [line["s"] for line in lines] == sorted({line["s"] for line in lines})
    assert lines[-1]["s"] >= 4 * count + 1
