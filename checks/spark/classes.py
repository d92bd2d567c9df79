"""Spark's classes, written once in the form in which Java maps them: a session then starts in half the time.

``python -m tidemark.checks.spark.classes`` writes them for the Java that runs Spark here. It takes half a
minute and is part of building the environment. Without them, and with another Java, all works as before.
"""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tidemark.checks.spark.java import Java, MissingJavaError, class_archive, find_java
from tidemark.checks.spark.master import parse_master
from tidemark.checks.spark.session import SparkOptions, settings, spark_session, stop_session

SECONDS = 300.0
"""How long it may take."""


def write(java: Java) -> Path | None:
    """The archive of this Java and this Spark; written if there is none. None if Java writes none."""
    archive = class_archive(java)
    if archive.exists():
        return archive
    archive.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=archive.parent) as folder:
        written = Path(folder) / "classes.jsa"
        command = [sys.executable, "-m", __spec__.name, str(written)]
        _run(command, Path(folder))
        return written.replace(archive) if written.exists() else None


def _run(command: list[str], folder: Path, *, seconds: float = SECONDS) -> None:
    """Run to the end of all that the command starts: Java writes when it ends, after Python, and only then
    its end of the pipe is closed. What takes longer is ended, Java too.
    """
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, cwd=folder, stdout=pipe, stderr=pipe, start_new_session=True)
    try:
        process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _load_and_write(archive: Path) -> None:
    """Do what sessions do, with a Java that writes the classes that were loaded when it ends."""
    folder = archive.parent
    usual = settings(parse_master("local[2]"), folder=folder, options=SparkOptions())
    writing = f"-XX:+UseSerialGC -Xlog:disable -XX:ArchiveClassesAtExit={archive}"
    java = {"spark.driver.extraJavaOptions": f"{usual['spark.driver.extraJavaOptions']} {writing}"}
    options = SparkOptions(memory_gib=1, settings=java)
    spark = spark_session(master="local[2]", build=folder, options=options)
    pairs = spark.sparkContext.parallelize(range(8), 2).map(lambda number: (number % 2, number))
    pairs.groupByKey(2).count()
    stop_session()


def main() -> None:
    """Write the archive, or say why there is none."""
    if len(sys.argv) > 1:
        _load_and_write(Path(sys.argv[1]))
        return
    try:
        found = write(find_java())
    except MissingJavaError:
        return  # said by those who need it
    if found is None:
        print("tidemark: this Java writes no archive of classes: Spark starts more slowly", file=sys.stderr)


if __name__ == "__main__":
    main()
