"""A real cluster with two executors. Whatever is killed, hangs or runs twice: the counts stay exact."""

import json
import os
import sys
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.checks.evidence.parts import fetched, sound, ts
from tests.checks.spark.driving import driver
from tests.checks.spark.opponents import SIX_MANAGERS, native_summary
from tests.processes import ends, finished
from tidemark.checks.evidence.table.plain import order
from tidemark.checks.evidence.table.schema import SCHEMA
from tidemark.checks.spark.java import find_java, private_home
from tidemark.checks.spark.package_code import code_zip
from tidemark.checks.spark.session import executors, host, wait_for

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.xdist_group("cluster")]


def test_an_executor_killed_in_the_middle_of_a_round_changes_nothing(standalone, tmp_path):
    master, workers = standalone
    lines, killed = [], []  # type: ignore[var-annotated]
    with driver(master, str(tmp_path)) as process:
        for line in process.stdout:  # type: ignore[union-attr]
            lines.append(line.split())
            if is_on_spark(lines[-1]) and not killed:
                killed = kill_one_at_work(workers)
    assert process.returncode == 0
    assert killed, lines
    assert ends(killed[0])
    assert_exact(lines)
    assert sum(is_on_spark(line) for line in lines) >= 5


def test_a_driver_killed_in_the_middle_of_a_round_is_resumed(standalone, tmp_path):
    master, _ = standalone
    before = []
    with driver(master, str(tmp_path)) as process:
        for line in process.stdout:  # type: ignore[union-attr]
            before.append(line.split())
            if sum(map(is_on_spark, before)) == 2:
                time.sleep(0.1)
                process.kill()
                break
    assert process.wait() != 0
    after = lines_of(driver(master, str(tmp_path), "--resume"))
    done = [int(line[1]) for line in before if line[0] == "round"]
    rest = [int(line[1]) for line in after if line[0] == "round"]
    # The round that was under way is done again, or was just complete.
    assert rest[0] in (done[-1] + 1, done[-1] + 2)
    assert_exact(after)


@pytest.mark.skipif(host(1) == host(0), reason="Spark speculates only across hosts, and there is one address")
def test_a_task_that_hangs_runs_twice_and_counts_once(standalone, tmp_path):
    master, _ = standalone
    lines = lines_of(driver(master, str(tmp_path), "--speculate"))
    assert_exact(lines)
    assert int(next(line[1] for line in lines if line[0] == "twice")) >= 1


def test_evidence_is_judged_under_spark_submit_as_in_one_process(standalone, tmp_path):
    """The same verdicts and the same table, with executors of a cluster that get the code with the job."""
    import pyspark

    master, _ = standalone
    run = sound(tmp_path / "run")
    log = run / "logs" / "standalone.log"
    log.write_text(log.read_text() + fetched(1100, 7, ts(700)) + "\n")
    (tmp_path / "main.py").write_text(
        "import sys\nfrom tidemark.checks.cli.app import app\nsys.exit(app())\n"
    )
    home, java = Path(pyspark.__file__).parent, private_home(find_java(), folder=tmp_path / "java")
    command = [str(home / "bin" / "spark-submit"), "--master", master, "--conf", "spark.executor.memory=512m"]
    for where in ("driver", "executor"):  # what Java computes here is not worth its second compiler
        command += ["--conf", f"spark.{where}.extraJavaOptions=-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"]
    command += ["--py-files", str(code_zip(folder=tmp_path)), "main.py"]
    on_spark, plain = ["--spark", "--build", "spark"], ["--plain", "--build", "plain"]
    environment = os.environ | {"SPARK_HOME": str(home), "JAVA_HOME": str(java)}
    environment |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    for start, rest in ((command, on_spark), ([sys.executable, "-m", "tidemark.checks"], plain)):
        done = finished([*start, "evidence", "run", *rest], tmp_path, environment, seconds=500)
        assert done.returncode == 1, done.stdout + done.stderr
        assert "timetick.watermark_promise is refuted" in done.stdout
    judged = [verdicts(tmp_path / name / "verdicts.json") for name in ("spark", "plain")]
    assert judged[0] == judged[1]
    assert len(judged[0]) > 18
    parts = sorted((tmp_path / "spark" / "events").glob("part-*.parquet"))
    spread = order(pa.concat_tables(pq.read_table(part, schema=SCHEMA) for part in parts))
    assert spread.equals(pq.read_table(tmp_path / "plain" / "events.parquet"))


def verdicts(path: Path) -> dict[str, tuple[str, dict[str, int]]]:
    found = json.loads(path.read_text())["judgements"]
    return {f"{one['property_id']} {one['instance']}": (one["outcome"], one["counts"]) for one in found}


def is_on_spark(line) -> bool:
    return bool(line[:1] == ["round"] and line[2] == "spark")


def lines_of(process) -> list[list[str]]:
    output, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    return [line.split() for line in output.splitlines()]


def assert_exact(lines) -> None:
    assert lines[-1][0] == "result"
    expected = native_summary(SIX_MANAGERS)
    assert json.loads(" ".join(lines[-1][1:])) == {**expected, "events": sorted(expected["events"])}


def kill_one_at_work(workers) -> list[int]:
    """Kill an executor shortly after the next round has begun."""
    time.sleep(0.15)
    both = wait_for(lambda: found if len(found := executors(workers)) == 2 else None)
    both[0].kill()
    return [both[0].pid]
