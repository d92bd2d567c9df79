"""The gate on a real cluster: checks are tasks of its executors."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.processes import finished
from tidemark.checks.gate.cluster import Cluster
from tidemark.checks.gate.settings import Settings
from tidemark.checks.spark.session import executors, wait_for
from tidemark.checks.verdicts.commands import PARTIAL
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.checks.verdicts.plan import all_tasks
from tidemark.checks.verdicts.progress import Quiet
from tidemark.models.manifest import load
from tidemark.models.rooms import ROOT

pytestmark = pytest.mark.spark
MANIFEST = ROOT / "models" / "protocols" / "retries" / "manifest.toml"


def judgements(build: Path) -> list[dict[str, Any]]:
    """All that was found out. Notes have times, and the command to repeat it the folder and the master."""
    found: list[dict[str, Any]] = json.loads((build / "verdicts.json").read_text())["judgements"]
    return [one | {"replay": "", "notes": []} for one in found]


@pytest.mark.slow
@pytest.mark.xdist_group("cluster")
def test_a_cluster_judges_as_one_machine_does_though_an_executor_is_killed(standalone, tmp_path):
    master, workers = standalone
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.executor.memory 512m\n"  # what its workers have
        "spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC\n"
    )
    command = [sys.executable, "-m", "tidemark.checks", "verify", "--manifest", str(MANIFEST)]
    # How executors try mutants of the implementation, test_spread.py tells.
    command += ["--only", "*/retries-*"]
    there, here = tmp_path / "there", tmp_path / "here"
    with subprocess.Popen(
        [*command, "--master", master, "--build", str(there)], cwd=tmp_path, text=True,
        stdout=subprocess.PIPE, env=os.environ | {"SPARK_CONF_DIR": str(tmp_path)},
    ) as process:  # fmt: skip
        journal = there / PARTIAL
        wait_for(lambda: journal.exists() and journal.read_text().count("\n") > 3, seconds=240)
        executors(workers)[0].kill()
        said = process.communicate(timeout=400)[0]
    assert process.returncode == 0, said
    assert finished([*command, "--build", str(here), "--jobs", "1"], cwd=tmp_path).returncode == 0
    assert judgements(there) == judgements(here)
    assert len({(one["judge"], one["instance"]) for one in judgements(here)}) > 20


def test_what_no_executor_can_judge_is_inconclusive(spark, monkeypatch, tmp_path: Path) -> None:
    """And costs no other check anything."""
    tasks = [task for task in all_tasks([load(MANIFEST)]) if task.judge in ("pins", "frames")]
    monkeypatch.setattr("tidemark.checks.gate.cluster._JUDGE", f"{__name__}:refuses_pins")
    settings = Settings(master=spark.sparkContext.master, build=tmp_path)
    cluster = Cluster(tasks, range(len(tasks)), settings=settings)
    found = {tasks[place].name: result for place, result in cluster.results(Quiet())}
    assert found.keys() == {task.name for task in tasks}
    for task in tasks:
        unjudged = found[task.name].unjudged
        assert (unjudged is not None) == (task.judge == "pins")
        assert unjudged is None or unjudged.exit_code is ExitCode.INCONCLUSIVE
        assert unjudged is None or "no executor could judge it" in unjudged.message
    assert cluster.processor_seconds > 0


def refuses_pins(item):
    from tidemark.checks.gate.cluster import judge_there

    if item[0].judge == "pins":
        raise MemoryError("this executor is too small")
    return judge_there(item)
